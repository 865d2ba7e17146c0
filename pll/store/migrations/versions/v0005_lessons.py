"""Shared lessons, and what students guessed in them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    """Add the tables."""
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "lesson",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("shared_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lesson"),
        sa.UniqueConstraint("key_hash", name="uq_lesson_key_hash"),
    )
    op.create_table(
        "guess",
        sa.Column("id", whole, autoincrement=True, nullable=False),
        sa.Column("lesson", sa.String(40), nullable=False),
        sa.Column("student", sa.String(40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("idea", sa.String(40), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_guess"),
        sa.ForeignKeyConstraint(["lesson"], ["lesson.id"], name="fk_guess_lesson"),
    )
    op.create_index("ix_guess_lesson_id", "guess", ["lesson", "id"])
