"""The commands that look after Candid's home: backup, restore, gc, and secrets for Label Studio."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pll.cli.declared import BackupOptions, GcOptions, LabelstudioOptions, RestoreOptions
from pll.cli.output import Bars, note, print_result
from pll.errors import UserError
from pll.export import backup as backups
from pll.export.connections import connect
from pll.paths import candid_home, database_url
from pll.review.database import Database
from pll.runs import cleanup
from pll.runs.folder import RunFolder, check_has_result


def backup(options: BackupOptions) -> None:
    """Copy everything into a new folder."""
    with Bars() as bars, closing(Database(database_url())) as database:
        made = backups.backup(candid_home(), database, Path(options.folder), tell=partial(bars.show, "folders"))
    note([f"The run {name} was damaged before; it is copied as it is." for name in made.damaged])
    _print(options.folder, made)


def restore(options: RestoreOptions) -> None:
    """Copy a backup into an empty home and database."""
    made = backups.restore(Path(options.folder), candid_home(), database_url())
    _print(candid_home(), made)


def _print(place: Path | str, made: backups.Contents) -> None:
    of = f"{made.runs} runs, {made.uploads} uploads, {made.decisions} decisions"
    print(f"{place}: {of}, {made.bytes / 1e6:,.1f} MB")
    print_result(**(asdict(made) | {"damaged": list(made.damaged)}))


def gc(options: GcOptions) -> None:
    """List files that are no longer used, and remove them where that is asked."""
    waste = cleanup.waste(candid_home())
    for one in waste:
        print(f"{one.path}: {one.why} ({one.bytes / 1e6:,.1f} MB)")
    freed = cleanup.remove(waste) if options.yes else 0
    if waste and not options.yes:
        print("To remove them: candid gc --yes")
    print_result(found=len(waste), bytes=sum(one.bytes for one in waste), freed=freed)


def labelstudio(options: LabelstudioOptions) -> None:
    """Make a new secret for a run, in the database that the server reads."""
    folder = RunFolder(Path(options.run).resolve())
    check_has_result(folder)
    if folder.path.parent != (candid_home() / "runs").resolve():
        raise UserError(
            f"{options.run} is not a run of this server's home, {candid_home()}. Set PLL_HOME as the server has it, or "
            "fit there."
        )
    with closing(Database(database_url())) as database:
        made = connect(database, folder.path.name)
    print("In Label Studio: Settings, Model, Connect Model; give url_with_secret as the address. It is shown once.")
    address = f"{(options.url or 'http://localhost:8501').rstrip('/')}/labelstudio/{folder.path.name}"
    print_result(url=address, user=made.user, secret=made.secret, url_with_secret=made.inside(address))
