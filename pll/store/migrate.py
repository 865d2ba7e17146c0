"""Bring a database to the tables of this version, once, however many processes start at the same time.

The steps are Alembic's, one file each in `migrations/versions`. All of them run in one transaction that excludes
others: SQLite's `BEGIN IMMEDIATE`, an advisory lock of PostgreSQL. Who comes second waits and finds all done.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from pll.errors import UserError

FOLDER = Path(__file__).with_name("migrations")
LOCK = 0x43414E444944  # "CANDID"; any number that nobody else locks


def migrate(engine: Engine) -> None:
    """Upgrade to the latest version; nothing happens where that is what there is.

    Raises:
        UserError: the database is of a later version of Candid than this one.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        current = MigrationContext.configure(connection).get_current_revision()
        if current == script.get_current_head():
            return
        if current is not None and current not in {step.revision for step in script.walk_revisions()}:
            raise UserError(
                f"The database is of a later version of Candid (its tables are at {current}); update Candid to use it."
            )

        def upgrade(revision: Any, _context: Any) -> Any:
            return script._upgrade_revs("head", revision)

        with EnvironmentContext(config, script, fn=upgrade) as environment:
            environment.configure(connection=connection, transactional_ddl=True)
            environment.run_migrations()
