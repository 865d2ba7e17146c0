"""Create or upgrade the tables of a database, once, however many processes start at the same time.

The steps are Alembic's, one file each in `migrations/versions`. All of them run in one transaction that excludes
others: SQLite's `BEGIN IMMEDIATE`, an advisory lock in PostgreSQL. A second process waits and finds nothing to do.
"""

from __future__ import annotations

import logging
from pathlib import Path

from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from pll.errors import UserError

FOLDER = Path(__file__).with_name("migrations")
LOCK = 0x43414E444944  # "CANDID"; any number that no other program uses


def migrate(engine: Engine, to: str = "head") -> None:
    """Upgrade to a version of the tables; nothing happens where the database has it.

    Parameters
    ----------
    to
        a revision of `migrations/versions`, or "head" for the latest.

    Raises
    ------
    UserError
        The database was made by another version of Candid.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        context = MigrationContext.configure(connection)
        current = context.get_current_revision()
        if current == scripts.get_current_head():
            return
        if current is not None and current not in {script.revision for script in scripts.walk_revisions()}:
            raise UserError(
                f"The database was made by another version of Candid (its tables are at {current!r}, those of this "
                f"one at {scripts.get_current_head()!r}). Nothing in it was changed: use that version, or "
                "another database."
            )
        latest_first = list(scripts.iterate_revisions(to, current or "base"))
        with Operations.context(context):  # `alembic.op` in the migrations refers to it
            for script in reversed(latest_first):
                script.module.upgrade()
                context.stamp(scripts, script.revision)
