"""Promises about all labels, and a hash chain over the events.

Events of before keep an empty hash, since nothing in their table is ever changed: the chain goes through them all the
same, and the first event with a hash binds them (`pll.store.tables`).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """Add the column and the table."""
    op.add_column("event", sa.Column("hash", sa.String(64)))
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "promise",
        sa.Column("review", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("run", sa.String(200), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("labels", sa.String(64), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("level", sa.Float(), nullable=False),
        sa.Column("seed", whole, nullable=False),
        sa.Column("plans", sa.JSON(), nullable=False),
        sa.Column("reranked", sa.Boolean(), nullable=False),
        sa.Column("draw_hash", sa.String(64), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("made_by", sa.Text()),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("review", "number", name="pk_promise"),
        sa.ForeignKeyConstraint(["review"], ["review.id"], name="fk_promise_review"),
    )
