"""Reviews, events, claims, rounds, promises, lessons and guesses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "initial"
down_revision: str | None = None


def upgrade() -> None:
    """Make the first tables."""
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "review",
        sa.Column("id", sa.String(200), nullable=False),
        sa.Column("examples", whole, nullable=False),
        sa.Column("seed", whole, nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("overlap_share", sa.Float(), nullable=False),
        sa.Column("opened_at", moment, nullable=False),
        sa.Column("goal", sa.String(20)),
        sa.PrimaryKeyConstraint("id", name="pk_review"),
    )
    op.create_table(
        "event",
        sa.Column("id", whole, autoincrement=True, nullable=False),
        sa.Column("review", sa.String(200), nullable=False),
        sa.Column("token", sa.String(100), nullable=False),
        sa.Column("run", sa.String(200), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("row", whole, nullable=False),
        sa.Column("example", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("label", sa.Text()),
        sa.Column("before", sa.Text()),
        sa.Column("after", sa.Text()),
        sa.Column("seconds", sa.Float()),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("queue", sa.String(100), nullable=False),
        sa.Column("position", whole),
        sa.Column("control", sa.Boolean(), nullable=False),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("batch", sa.String(100)),
        sa.Column("undoes", whole),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("hash", sa.String(64)),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
        sa.ForeignKeyConstraint(["review"], ["review.id"], name="fk_event_review"),
        sa.ForeignKeyConstraint(["undoes"], ["event.id"], name="fk_event_undoes"),
        sa.UniqueConstraint("review", "token", name="uq_event_review_token"),
        sa.UniqueConstraint("undoes", name="uq_event_undoes"),
    )
    op.create_index("ix_event_review_id", "event", ["review", "id"])
    op.create_table(
        "claim",
        sa.Column("review", sa.String(200), nullable=False),
        sa.Column("row", whole, nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("token", sa.String(100), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("expires_at", moment),
        sa.Column("since", moment, nullable=False),
        sa.Column("queue", sa.String(100), nullable=False),
        sa.Column("position", whole),
        sa.Column("control", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("review", "row", "slot", name="pk_claim"),
        sa.ForeignKeyConstraint(["review"], ["review.id"], name="fk_claim_review"),
        sa.UniqueConstraint("review", "row", "reviewer", name="uq_claim_review_row_reviewer"),
    )
    op.create_index("ix_claim_review_answered", "claim", ["review", "answered"])
    op.create_table(
        "round",
        sa.Column("review", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("run", sa.String(200), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("opened_at", moment, nullable=False),
        sa.Column("how", sa.String(20), nullable=False),
        sa.Column("opened_by", sa.Text()),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("review", "number", name="pk_round"),
        sa.ForeignKeyConstraint(["review"], ["review.id"], name="fk_round_review"),
    )
    op.create_table(
        "promise",
        sa.Column("review", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("run", sa.String(200), nullable=False),
        sa.Column("labels", sa.String(64), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("level", sa.Float(), nullable=False),
        sa.Column("seed", whole, nullable=False),
        sa.Column("n", whole, nullable=False),
        sa.Column("controls", whole, nullable=False),
        sa.Column("tolerated", whole, nullable=False),
        sa.Column("draw_hash", sa.String(64), nullable=False),
        sa.Column("draw_number", sa.Integer(), nullable=False),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("made_by", sa.Text()),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("identified_label", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("review", "number", name="pk_promise"),
        sa.ForeignKeyConstraint(["review"], ["review.id"], name="fk_promise_review"),
    )
    op.create_table(
        "connection",
        sa.Column("run", sa.String(200), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("made_by", sa.Text()),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("writes_back", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("run", name="pk_connection"),
    )
    op.create_table(
        "lesson",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("shared_at", moment, nullable=False),
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
        sa.Column("at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_guess"),
        sa.ForeignKeyConstraint(["lesson"], ["lesson.id"], name="fk_guess_lesson"),
    )
    op.create_index("ix_guess_lesson_id", "guess", ["lesson", "id"])
    _forbid_changes()


def _forbid_changes() -> None:
    """Triggers that refuse to change or delete an event."""
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER event_no_{what.lower()} BEFORE {what} ON event "
                "BEGIN SELECT RAISE(ABORT, 'decisions are never changed or deleted'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION candid_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'decisions are never changed or deleted'; END $$"
    )
    op.execute(
        "CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON event "
        "FOR EACH ROW EXECUTE FUNCTION candid_append_only()"
    )
