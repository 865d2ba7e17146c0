"""Decisions about a run, read from the database for exports without opening a review."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pll.errors import UserError
from pll.extras import require_extra
from pll.paths import database_url
from pll.review.certificate import LabelTable
from pll.review.certification import Certification, Certified, PlanRecord, draws_of
from pll.review.events import LabelVersion
from pll.review.label_snapshot import LabelSnapshot, review_id
from pll.review.signals import FOLDER, ReviewSignals
from pll.review.state import ReviewState
from pll.runs.folder import RunFolder
from pll.runs.run_data import computed_of, load_splits

if TYPE_CHECKING:  # needs SQLAlchemy, which only an extra brings
    from pll.review.store import Reader


@dataclass(frozen=True, eq=False)
class Record:
    """What is stored of a review.

    Attributes
    ----------
    state
        Present state of the examples.
    versions
        The labels that came under review.
    plans
        Of certificates, in the order in which they were made.
    certification
        The last one, where it is of the run's own labels.
    last_hash
        Of the last decision, for the certificate.
    first
        Signals of the run that the review began with, where the run was trained on decisions and that one is left.
    """

    state: ReviewState
    versions: tuple[LabelVersion, ...]
    plans: tuple[PlanRecord, ...] = ()
    certification: Certification | None = None
    last_hash: str = ""
    first: ReviewSignals | None = None

    def certified(self, name: str = "") -> Certified | None:
        """The certificate of all labels of the run; None where none was begun, or not yet earned.

        Parameters
        ----------
        name
            Of the data, in the certificate.
        """
        if self.certification is None or not self.certification.status(self.state).done:
            return None
        decisions = self.certification.decisions(self.state)
        drawn = draws_of(self.certification.table, [record.plan for record in self.plans])
        return self.certification.certified(decisions, drawn=drawn, name=name, audit=self.last_hash)


def record_of(folder: RunFolder, own: LabelSnapshot | None = None) -> Record | None:
    """Return the review of a run; None without any answer.

    Parameters
    ----------
    folder
        Of the run, or of a retrained one in the same review.
    own
        The run's own labels, whose certification is wanted; None reads the candidate sets again.

    Raises
    ------
    UserError
        The database cannot be read, or the run's data is gone.
    """
    with _reading(review_id(folder)) as reader:
        if reader is None:
            return None
        review, events, versions = reader.review(), reader.events(), reader.versions()
        plans, last_hash = tuple(reader.plans()), reader.last_hash()
        plan = None if own is None else PlanRecord.last_of(plans, own.run)
        frozen = None if plan is None else reader.frozen(plan.number)
    if review is None or not events:
        return None
    decided, first = folder.config().decided_sets, None
    if own is not None and decided is None:
        sets = own.candidates
    else:
        root = folder if decided is None else RunFolder(folder.path.parent / decided.root)
        train = load_splits(replace(folder.config(), decided_sets=None), computed=computed_of(folder)).train
        outside = root.outside(train.sets())
        train = train if outside is None else train.changed(outside)
        sets = train.sets()
        if decided is not None and root.exists():
            first = ReviewSignals.of_run(root, train)
    state, certification = ReviewState(sets), None
    state.ask(review)
    state.update(events)
    if own is not None and plan is not None and frozen is not None:
        with suppress(UserError):  # the plan is of other labels
            certification = Certification(plan.plan, LabelTable(own.ids, *frozen))
    return Record(state, tuple(versions), plans, certification, last_hash, first)


def missing_review(folder: RunFolder) -> list[str]:
    """Return a note where a run was opened in Review and the database holds no review of it: another one may.

    Raises
    ------
    UserError
        The database cannot be read.
    """
    if folder.config().decided_sets is None and not (folder.path / FOLDER).is_dir():
        return []
    with _reading(review_id(folder)) as reader:
        if reader is not None and reader.review() is not None:
            return []
    return [
        f"{folder.path.name} was opened in Review, but the database of decisions holds no review of it: these are the "
        "labels of the model alone. Is the database gone, or do PLL_HOME and PLL_DATABASE_URL name another one?"
    ]


@contextmanager
def _reading(review: str) -> Iterator[Reader | None]:
    """Look at a review in the database; None, instead of a new database, where there is none yet."""
    url = database_url()
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        yield None
        return
    require_extra("sqlalchemy")
    from pll.review.database import Database
    from pll.review.store import reading

    database = Database(url)
    try:
        with reading(database, review) as reader:
            yield reader
    finally:
        database.close()
