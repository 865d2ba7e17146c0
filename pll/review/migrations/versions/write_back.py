"""Whether the labels of a run are written back into Label Studio by its API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "write_back"
down_revision: str | None = "first"


def upgrade() -> None:
    """Add the tick of a connection."""
    op.add_column("connection", sa.Column("writes_back", sa.Boolean(), nullable=False, server_default=sa.false()))
