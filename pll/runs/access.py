"""Who may do what with a run or a comparison, where people log in.

`access.json` in its folder names an owner, people with a role, and the role of everybody with the link:

viewer      sees the run and takes its labels and model away
reviewer    also decides in its review
owner       also stops, resumes, shares and deletes it, and begins its review or changes its target

A lane of a comparison, and a run that a review taught, follow the comparison or the first run (`like`). What has no
owner, because it was made in a shell or before there was a login, is the administrators' alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from pll.errors import UserError
from pll.io import from_json, write_json, writing_to
from pll.runs.files import ACCESS_FILE

Role = Literal["viewer", "reviewer", "owner"]
"""Each may do what those before it may."""
ACCESS_ROLES: tuple[Role, ...] = get_args(Role)
MOST_PEOPLE = 500


@dataclass(frozen=True)
class Person:
    """A person who has logged in.

    Attributes
    ----------
    id
        Unique: an address, in lower case; "" for an unknown person, who may open nothing.
    name
        For display.
    is_admin
        May do everything with all runs.
    """

    id: str
    name: str = ""
    is_admin: bool = False


@dataclass(frozen=True)
class Access:
    """Content of access.json.

    Attributes
    ----------
    owner
        Id of a person; "" for none.
    people
        Ids and roles of others.
    link
        Role of everybody who has logged in and has the link; None for none.
    like
        Id of the run or comparison whose access counts instead, as long as it exists; "" for none.
    """

    owner: str = ""
    people: Mapping[str, Role] = field(default_factory=dict)
    link: Role | None = None
    like: str = ""

    def role_of(self, person: Person, *, has_link: bool) -> Role | None:
        """Return what a person may do; None for nothing.

        Parameters
        ----------
        person
            Who asks.
        has_link
            The person has opened the run by its id, not from a list.

        Examples
        --------
        >>> shared = Access("ada@example.org", {"bob@example.org": "viewer"}, link="reviewer")
        >>> bob = Person("bob@example.org")
        >>> shared.role_of(bob, has_link=False), shared.role_of(bob, has_link=True)
        ('viewer', 'reviewer')
        """
        if not person.id:
            return None
        if person.is_admin or person.id == self.owner:
            return "owner"
        roles = [self.people.get(person.id), self.link if has_link else None]
        return max((role for role in roles if role is not None), key=ACCESS_ROLES.index, default=None)


def person_id(text: str) -> str:
    """Return an address as it is compared: without spaces around it, in small letters.

    Examples
    --------
    >>> person_id(" Ada@Example.org ")
    'ada@example.org'
    """
    return text.strip().casefold()


def write_access(folder: Path, access: Access) -> None:
    """Write access.json.

    Parameters
    ----------
    folder
        Of a run or comparison.
    access
        Who may do what.

    Raises
    ------
    UserError
        Too many people, a name that is none, or the disk is full.
    """
    if len(access.people) > MOST_PEOPLE:
        raise UserError(f"A run is shared with at most {MOST_PEOPLE} people; share it by link instead.")
    for person in access.people:
        if not 0 < len(person) <= 254 or not person.isprintable():
            raise UserError("That is no address of a person; give the one that they log in with.")
    with writing_to(folder):
        write_json(folder / ACCESS_FILE, asdict(access))


def read_access(folder: Path) -> Access:
    """Return the content of a folder's access.json; without an owner where it is missing or damaged."""
    try:
        stored = from_json(Access, json.loads((folder / ACCESS_FILE).read_text(encoding="utf-8")))
        return stored if stored.link != "owner" else Access()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Access()


def place_of_access(folder: Path) -> Path:
    """Return the folder whose access.json counts for a run or comparison: its own, or that of what it is like."""
    other = read_access(folder).like
    if other and Path(other).name == other and (folder.parent / other / ACCESS_FILE).exists():
        return folder.parent / other
    return folder


def access_of(folder: Path) -> Access:
    """Return who may do what with the run or comparison in a folder."""
    return read_access(place_of_access(folder))
