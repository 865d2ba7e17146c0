"""The files one can take away, by name. A new one is a function that writes it and one entry here."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pll.errors import UserError
from pll.export.audit import write_audit_csv, write_audit_jsonl
from pll.export.label_files import write_label_weights
from pll.export.programs import NotExportable, why_no_onnx, why_no_program, write_onnx, write_torch_program
from pll.export.rendered import certificate_html
from pll.export.source import ExportSource
from pll.export.spreadsheet import neutralise
from pll.features import save_features
from pll.features.serialization import ARRAYS_FILE as FEATURES_ARRAYS
from pll.features.serialization import CARD_FILE as FEATURES_CARD
from pll.formats.reading import Reading
from pll.io import write_bytes, write_csv, write_text
from pll.methods.input_range import RANGE
from pll.methods.persistence import CARD_FILE, WEIGHTS_FILE, ModelCard, model_card, model_weights, write_card
from pll.review.certification import Certified
from pll.runs.files import NO_ANSWER, READING
from pll.runs.labels_table import write_labels, write_no_answer


@dataclass(frozen=True)
class Exporter:
    """One file.

    Attributes
    ----------
    label
        What a person calls it.
    summary
        What it is good for, in a sentence.
    file_name
        What it is called on disk.
    build
        Writes it to a path, atomically. Raises `UserError` where that cannot be done.
    applies
        Whether this source has it; where not, nothing is said.
    why_not
        The reason why this source has no such file, in words; None where it has.
    """

    label: str
    summary: str
    file_name: str
    build: Callable[[ExportSource, Path], None]
    why_not: Callable[[ExportSource], str | None] = lambda source: None
    applies: Callable[[ExportSource], bool] = lambda source: True

    def data(self, source: ExportSource) -> bytes:
        """Return the file's content, made now: `data` of a download button, called when it is pressed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.file_name
            self.write(source, path)
            return path.read_bytes()

    def write(self, source: ExportSource, path: Path) -> None:
        """Write the file; see `build`.

        Parameters
        ----------
        source
            What is exported.
        path
            Of the file.
        """
        self.build(source, path)
        if source.spreadsheet_safe:
            neutralise(path)


def _label_weights(source: ExportSource, path: Path) -> None:
    own = source.own or source.labels
    write_label_weights(own.candidates, own.weights, own.ids, path)


def _is_certified(source: ExportSource) -> bool:
    return source.certified is not None


def _of_certificate(write: Callable[[Certified, Path], None]) -> Callable[[ExportSource, Path], None]:
    """Return what writes a file of the certificate."""

    def build(source: ExportSource, path: Path) -> None:
        assert source.certified is not None  # `applies` has asked
        write(source.certified, path)

    return build


def _of_review(write: Callable[..., None]) -> Callable[[ExportSource, Path], None]:
    """Return what writes a form of the audit trail."""

    def build(source: ExportSource, path: Path) -> None:
        assert source.record is not None
        write(source.record.state.all_events, path, source.record.versions)

    return build


def _was_reviewed(source: ExportSource) -> bool:
    return source.record is not None


def _features_file(name: str) -> Callable[[ExportSource, Path], None]:
    """Writes one of the two files of a featuriser; they are made together, since one holds a checksum of the other."""

    def write(source: ExportSource, path: Path) -> None:
        assert source.splits.featuriser is not None
        with tempfile.TemporaryDirectory() as folder:
            save_features(source.splits.featuriser, folder)
            content = (Path(folder) / name).read_bytes()
        write_bytes(path, content)

    return write


def _replay(source: ExportSource, path: Path) -> None:
    if source.replay is None:
        raise NotExportable(_why_no_replay(source) or "")
    try:
        page = source.replay()
    except UserError as error:  # stopped before its first epoch: everything else is still worth having
        raise NotExportable(str(error)) from error
    write_text(path, page)


def _why_no_replay(source: ExportSource) -> str | None:
    return None if source.replay is not None else "There is no history of the training to show."


def card_of(source: ExportSource) -> ModelCard:
    """What model.json will say."""
    return model_card(
        source.estimator,
        model_weights(source.estimator),
        method=source.method,
        input_shape=source.train.input_shape,
        feature_names=source.train.feature_names,
        extra={RANGE: source.inputs},
    )


EXPORTS: dict[str, Exporter] = {
    "labels-csv": Exporter(
        "Labels as a table (CSV)",
        "One row an example: its identified label, how sure that is, its candidates. Opens anywhere.",
        "labels.csv",
        lambda source, path: write_labels(source.frame, path),
    ),
    "no-answer": Exporter(
        "Examples without a label (CSV)",
        "The ids of the examples that nobody answered; without features, nothing predicts them.",
        NO_ANSWER,
        lambda source, path: write_no_answer(source.splits.no_answer, path),
        applies=lambda source: bool(source.splits.no_answer),
    ),
    "added-labels": Exporter(
        "Labels added in review (CSV)",
        "The examples whose candidate set missed the label that a person gave: the set, the label, who and when.",
        "added_labels.csv",
        lambda source, path: write_csv(path, source.added),
        applies=lambda source: bool(source.decisions) and len(source.added) > 0,
    ),
    "certificate": Exporter(
        "Certificate of all labels (JSON)",
        "What share of all labels may be wrong, and every decision behind it; `candid verify` checks it.",
        "certificate.json",
        _of_certificate(lambda made, path: write_text(path, json.dumps(made.document, ensure_ascii=False))),
        applies=_is_certified,
    ),
    "certificate-page": Exporter(
        "Certificate to read (HTML)",
        "The same as a page.",
        "certificate.html",
        _of_certificate(lambda made, path: write_text(path, certificate_html(made.document))),
        applies=_is_certified,
    ),
    "final": Exporter(
        "All labels, as certified (CSV)",
        "The label of every example after the review, and whether it was accepted without another look.",
        "final.csv",
        _of_certificate(lambda made, path: write_csv(path, made.final)),
        applies=_is_certified,
    ),
    "audit-csv": Exporter(
        "Audit trail as a table (CSV)",
        "Every decision and every undo: who, when, before, after, what was shown; and which labels were under review.",
        "audit.csv",
        _of_review(write_audit_csv),
        applies=_was_reviewed,
    ),
    "audit-jsonl": Exporter(
        "Audit trail as JSON lines",
        "The same, one JSON object a line.",
        "audit.jsonl",
        _of_review(write_audit_jsonl),
        applies=_was_reviewed,
    ),
    "reading": Exporter(
        "How the file was read (JSON)",
        "What each column was taken for, and what was no answer. `--reading reading.json` reads another file so.",
        READING,
        lambda source, path: write_text(path, Reading(**source.train.reading).to_json()),
        applies=lambda source: bool(source.train.reading),
    ),
    "label-weights": Exporter(
        "Label weights (sparse matrix)",
        "The model's own weight of every candidate of every example, for SciPy. How sure a label is, labels.csv says.",
        "label_weights.npz",
        _label_weights,
    ),
    "model-weights": Exporter(
        "Model, to load in Candid: numbers",
        "The model's parameters and scaling. Keep it together with model.json.",
        WEIGHTS_FILE,
        lambda source, path: write_bytes(path, model_weights(source.estimator)),
    ),
    "model-card": Exporter(
        "Model, to load in Candid: description",
        "Method, settings, class names, versions. Keep it together with model.safetensors.",
        CARD_FILE,
        lambda source, path: write_card(card_of(source), path),
    ),
    "features-card": Exporter(
        "How features are made",
        "What makes the model's features of texts, pictures or words. Keep it together with model.json.",
        FEATURES_CARD,
        _features_file(FEATURES_CARD),
        applies=lambda source: source.splits.featuriser is not None,
    ),
    "features-arrays": Exporter(
        "What was learnt for features",
        "What was learnt for it. Keep it together with features.json.",
        FEATURES_ARRAYS,
        _features_file(FEATURES_ARRAYS),
        applies=lambda source: source.splits.featuriser is not None and bool(source.splits.featuriser.state()[1]),
    ),
    "torch-program": Exporter(
        "Model as a PyTorch program",
        "Predicts from features wherever PyTorch is, without Candid.",
        "model.pt2",
        write_torch_program,
        why_no_program,
    ),
    "onnx": Exporter(
        "Model as ONNX",
        "Predicts from features in any language that has an ONNX runtime.",
        "model.onnx",
        write_onnx,
        why_no_onnx,
    ),
    "replay": Exporter(
        "Replay of the run (HTML)",
        "How the labels were found, to scrub through in any browser; one file, without Candid or a network.",
        "replay.html",
        _replay,
        _why_no_replay,
    ),
}
"""Every file but the README and the archive, which `export_all` adds."""


def exporters_of(source: ExportSource) -> dict[str, Exporter]:
    """The files that there may be for a source."""
    return {name: part for name, part in EXPORTS.items() if part.applies(source)}
