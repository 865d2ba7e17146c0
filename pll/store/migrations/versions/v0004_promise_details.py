"""Promises by group, the number of their draw, what re-ranking looks at; which promise a review is under.

Of promises of before nothing is known of these: they are about all labels as one, and re-ranked by labels and
confidences alone, as they were.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("promise", sa.Column("grouped_by", sa.Text()))
    op.add_column("promise", sa.Column("draw_number", sa.Integer()))
    op.add_column("promise", sa.Column("ranked_by", sa.String(20)))
    op.add_column("review", sa.Column("goal", sa.String(20)))
