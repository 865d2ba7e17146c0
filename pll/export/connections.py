"""Secrets by which Label Studio reaches a run: stored as hashes, one connection a run, revocable.

The secret is random and long, so that one round of SHA-256 is enough; it is shown once and never stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from pll.review import schema
from pll.review.database import Database
from pll.review.store import now

USER = "candid"
"""Name of the user in Label Studio's form; the secret alone decides."""


@dataclass(frozen=True)
class Credentials:
    """User and secret for Label Studio's form."""

    user: str
    secret: str

    def inside(self, url: str) -> str:
        """Return an address with user and secret in it.

        Label Studio sends the user and password of its form with everything but webhooks, which it sends to the
        address alone; of an address with both in it, every request carries them.

        Examples
        --------
        >>> Credentials("candid", "s").inside("http://localhost:8501/labelstudio/r")
        'http://candid:s@localhost:8501/labelstudio/r'
        """
        scheme, _, rest = url.partition("://")
        return f"{scheme}://{self.user}:{self.secret}@{rest}"


def connect(database: Database, run: str, *, by: str | None = None) -> Credentials:
    """Make a new secret for a run; the one before, if any, no longer works.

    Parameters
    ----------
    database : Database
        The one that the server reads.
    run : str
        Id of the run.
    by : str, optional
        Who connects it.
    """
    made = Credentials(USER, secrets.token_urlsafe(24))
    with database.write() as connection:
        connection.execute(sa.delete(schema.connection).where(schema.connection.c.run == run))
        connection.execute(
            sa.insert(schema.connection).values(run=run, secret_hash=_hash(made.secret), made_by=by, made_at=now())
        )
    return made


def revoke(database: Database, run: str) -> None:
    """Delete the secret of a run: Label Studio is refused from now on.

    Parameters
    ----------
    database
        Where secrets are kept.
    run
        Its id.
    """
    with database.write() as connection:
        connection.execute(sa.delete(schema.connection).where(schema.connection.c.run == run))


def is_connected(database: Database, run: str) -> bool:
    """Return whether a run has a secret.

    Parameters
    ----------
    database
        Where secrets are kept.
    run
        Its id.
    """
    return _stored(database, run) is not None


def opens(database: Database, run: str, user: str, secret: str) -> bool:
    """Return whether user and secret are those of this run.

    Parameters
    ----------
    database
        Where secrets are kept.
    run
        Its id.
    user
        As it was sent.
    secret
        As it was sent.
    """
    stored = _stored(database, run)
    return stored is not None and user == USER and hmac.compare_digest(stored.secret_hash, _hash(secret))


def _stored(database: Database, run: str) -> sa.Row[Any] | None:
    with database.read() as connection:
        return connection.execute(sa.select(schema.connection).where(schema.connection.c.run == run)).first()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
