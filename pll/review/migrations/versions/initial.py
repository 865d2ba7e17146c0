"""The tables of `pll.review.tables`, and triggers that refuse to change or delete an event.

Until the first release there is no database of an earlier version, so these are the tables as they are now.
"""

from __future__ import annotations

from alembic import op

from pll.review import tables

revision = "first"
down_revision: str | None = None


def upgrade() -> None:
    """Make the first tables."""
    tables.metadata.create_all(op.get_bind(), checkfirst=False)
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
