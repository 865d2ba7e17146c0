"""Database of review decisions: tables, migrations, transactions."""

from __future__ import annotations

from pll.store.database import Database, database_url
from pll.store.store import Store, Transaction
from pll.store.tables import Claim, Event, RoundRecord

__all__ = ["Claim", "Database", "Event", "RoundRecord", "Store", "Transaction", "database_url"]
