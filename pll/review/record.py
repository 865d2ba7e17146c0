"""Decisions about a run, read from the database for exports without opening a review."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.extras import require_extra
from pll.paths import database_url
from pll.review.certificate import Ids, Judgement, LabelTable
from pll.review.certification import Certification, Certified, PlanRecord, draws_of
from pll.review.events import LabelVersion, ReviewRecord
from pll.review.follow import FEWEST_DECISIONS, followed, teaching_decisions
from pll.review.label_snapshot import LabelSnapshot, review_id
from pll.review.logit import propose
from pll.review.signals import FOLDER, ReviewSignals
from pll.review.state import ReviewState, required_of
from pll.runs.folder import RunFolder
from pll.runs.run_data import computed_of, load_splits

if TYPE_CHECKING:  # needs SQLAlchemy, which only an extra brings
    from pll.review.store import Reader


@dataclass(frozen=True, eq=False)
class Record:
    """What is stored of a review.

    Attributes
    ----------
    review
        Its settings.
    state
        Present state of the examples.
    versions
        The labels that came under review.
    plans
        Of certificates, in the order in which they were made.
    frozen
        Labels and confidences of the last plan.
    last_hash
        Of the last decision, for the certificate.
    """

    review: ReviewRecord
    state: ReviewState
    versions: tuple[LabelVersion, ...]
    plans: tuple[PlanRecord, ...] = ()
    frozen: tuple[list[str], list[float]] | None = None
    last_hash: str = ""

    def labels(self, own: LabelSnapshot, folder: RunFolder, data: PartialLabelDataset) -> LabelSnapshot:
        """The labels of a run of this review as the decisions leave them.

        Parameters
        ----------
        own
            Labels of the run.
        folder
            Of the run.
        data
            Its training part.
        """
        decided = teaching_decisions(self.state, own.candidates)
        if len(decided) < FEWEST_DECISIONS:
            return own
        proposed = propose(ReviewSignals.of_run(folder, data), decided)
        return followed(own, folder.config(), data, proposed, decided, self.state.restored_rows)

    def certified(self, run: str, ids: Ids, name: str = "") -> Certified | None:
        """The certificate of all labels of a run of this review; None where none was begun, or not yet earned.

        Parameters
        ----------
        run
            Its id.
        ids
            (n,) of its examples.
        name
            Of the data, in the certificate.
        """
        certification = self._certification(run, ids)
        required = required_of(self.review, len(ids))
        if certification is None or not certification.status(self.state, required).done:
            return None
        decisions = certification.decisions(self.state, required)
        drawn = draws_of(certification.table, [record.plan for record in self.plans])
        return certification.certified(decisions, drawn=drawn, name=name, audit=self.last_hash)

    def judgement(self, run: str, ids: Ids) -> Judgement | None:
        """What follows from the decisions for the certificate of a run; None where none was begun.

        Parameters
        ----------
        run
            Its id.
        ids
            (n,) names of its examples.
        """
        certification = self._certification(run, ids)
        return None if certification is None else certification.status(self.state, required_of(self.review, len(ids)))

    def _certification(self, run: str, ids: Ids) -> Certification | None:
        if self.frozen is None or self.plans[-1].run != run:
            return None
        try:
            return Certification(self.plans[-1].plan, LabelTable.of(ids, *self.frozen))
        except UserError:  # it is of other labels
            return None


def record_of(folder: RunFolder, sets: CandidateSets | None = None) -> Record | None:
    """Return the review of a run; None without any answer.

    Parameters
    ----------
    folder
        Of the run, or of a retrained one in the same review.
    sets
        The candidate sets of the review's first run; None reads them again.

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
        frozen = reader.frozen(plans[-1].number) if plans else None
    if review is None or not events:
        return None
    if sets is None:
        first = replace(folder.config(), decided_sets=None)
        decided = folder.config().decided_sets
        root = folder if decided is None else RunFolder(folder.path.parent / decided.root)
        own_sets = load_splits(first, computed=computed_of(folder)).train.sets()
        outside = root.outside(own_sets)
        sets = own_sets if outside is None else outside.candidates
    state = ReviewState(sets)
    state.update(events)
    return Record(review, state, tuple(versions), plans, frozen, last_hash)


def missing_review(folder: RunFolder) -> list[str]:
    """Return a note where a run was opened in Review and the database holds no review of it: another one may.

    Raises
    ------
    UserError
        The database cannot be read.
    """
    if not (folder.path / FOLDER).is_dir():
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
