"""A new database gets the tables of the code; one of another version is refused, and stays as it is."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from pll.errors import UserError
from pll.review import tables
from pll.review.database import Database


def test_a_new_database_has_the_tables_of_the_code(database_url: str) -> None:
    database = Database(database_url)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
    database.close()


def test_a_database_of_another_version_is_refused_in_one_sentence(database_url: str) -> None:
    database = Database(database_url)
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0005'"))
    database.close()
    with pytest.raises(UserError, match=r"another version of Candid .*'0005'"):
        Database(database_url)
