"""Rounds say how the labels came under review, and by whom.

Of rounds that were opened before, nobody wrote down by whom. How is filled in where the rounds themselves tell: the
first; another run than before was taught; the same labels were promised something else. Other labels of the same run
were taken over, or the run was continued: the database cannot tell, and the field stays empty.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"

ROUND = sa.table(
    "round",
    *(sa.column(name) for name in ("review", "number", "run", "fingerprint", "how")),
)


def upgrade() -> None:
    """Add the columns, and fill in what is known."""
    op.add_column("round", sa.Column("how", sa.String(20)))
    op.add_column("round", sa.Column("opened_by", sa.Text()))
    op.add_column("round", sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.false()))
    if op.get_bind().dialect.name != "sqlite":  # there the default cannot be taken away, and does no harm
        op.alter_column("round", "verified", server_default=None)
    _fill_in()


def _fill_in() -> None:
    database, row = op.get_bind(), ROUND.c
    before: dict[str, tuple[str, str]] = {}
    found = database.execute(sa.select(row.review, row.number, row.run, row.fingerprint).order_by(row.number)).all()
    for review, number, run, fingerprint in found:
        how = _how(before.get(review), (run, fingerprint))
        before[review] = (run, fingerprint)
        if how is not None:
            database.execute(sa.update(ROUND).where(row.review == review, row.number == number).values(how=how))


def _how(before: tuple[str, str] | None, labels: tuple[str, str]) -> str | None:
    """How these labels followed those before them; None where only people know."""
    if before is None:
        return "first"
    if before == labels:
        return "new promise"
    return "taught" if before[0] != labels[0] else None
