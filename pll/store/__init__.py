"""Decisions on disk: tables, migrations, transactions. What a decision means is not known here (`pll.review` knows)."""

from __future__ import annotations

from pll.store.database import Database, database_url
from pll.store.records import Claim, Event, RoundRecord
from pll.store.store import Store, Transaction

__all__ = ["Claim", "Database", "Event", "RoundRecord", "Store", "Transaction", "database_url"]
