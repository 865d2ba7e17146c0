"""The files one can take away, by name. A new one is a function that writes it and one entry here."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from pll.errors import UserError
from pll.export.audit import write_audit_csv, write_audit_jsonl
from pll.export.label_files import write_label_weights
from pll.export.programs import NotExportable, why_no_onnx, why_no_program, write_onnx, write_torch_program
from pll.export.rendered import certificate_html
from pll.export.source import ExportSource
from pll.export.spreadsheet import neutralise
from pll.features.base import Featuriser
from pll.features.serialization import ARRAYS_FILE as FEATURES_ARRAYS
from pll.features.serialization import FEATURES_FILE, save_features
from pll.formats.reading import Reading
from pll.io import write_bytes, write_csv, write_text
from pll.methods.input_range import RANGE
from pll.methods.persistence import MODEL_CARD_FILE, WEIGHTS_FILE, ModelCard, model_card, model_weights, write_card
from pll.runs.files import NO_ANSWER_FILE, READING_FILE
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
        Writes it to a path, atomically, from what it is made of. Raises `UserError` where that cannot be done.
    made_of
        What of a source it is made of; where that is None, there is no such file, and nothing is said.
    why_not
        The reason why this source has no such file, in words; None where it has.
    """

    label: str
    summary: str
    file_name: str
    build: Callable[[Any, Path], None]
    made_of: Callable[[ExportSource], Any] = lambda source: source
    why_not: Callable[[ExportSource], str | None] = lambda source: None

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

        Raises
        ------
        NotExportable
            There is a reason why this source has no such file; a certificate may be one no longer.
        """
        reason, made = self.why_not(source), self.made_of(source)
        if made is None:
            reason = f"There is no {self.file_name} any more: what it is made of was taken back. Load the page again."
        if reason is not None:
            raise NotExportable(reason)
        self.build(made, path)
        if source.spreadsheet_safe:
            neutralise(path)


def _features_file(name: str) -> Callable[[Featuriser, Path], None]:
    """Return what writes one of the two files of features, made together: one holds a checksum of the other."""

    def write(featuriser: Featuriser, path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            save_features(featuriser, folder)
            content = (Path(folder) / name).read_bytes()
        write_bytes(path, content)

    return write


def _learnt_features(source: ExportSource) -> Featuriser | None:
    """Return the featuriser where something was learnt for it."""
    featuriser = source.splits.featuriser
    return featuriser if featuriser is not None and featuriser.state()[1] else None


def _write_replay(replay: Callable[[], str], path: Path) -> None:
    try:
        page = replay()
    except UserError as error:  # stopped before its first epoch: everything else is still worth having
        raise NotExportable(str(error)) from error
    write_text(path, page)


def card_of(source: ExportSource) -> ModelCard:
    """What model.json will say."""
    return model_card(
        source.estimator,
        model_weights(source.estimator),
        method=source.method,
        feature_names=source.train.feature_names,
        extra={RANGE: source.inputs} | ({} if source.health is None else source.health.said_of_model),
    )


EXPORTS: dict[str, Exporter] = {
    "labels-csv": Exporter(
        "Labels as a table (CSV)",
        "One row an example: its identified label, how sure that is where it is known, its candidates. Opens anywhere.",
        "labels.csv",
        lambda source, path: write_labels([source.frame], path),
    ),
    "no-answer": Exporter(
        "Examples without a label (CSV)",
        "The ids of the examples that nobody answered; without features, nothing predicts them.",
        NO_ANSWER_FILE,
        write_no_answer,
        lambda source: source.splits.no_answer or None,
    ),
    "added-labels": Exporter(
        "Labels added in review (CSV)",
        "The examples whose candidate set missed the label that a person gave: the set, the label, who and when.",
        "added_labels.csv",
        lambda added, path: write_csv(path, added),
        lambda source: None if source.added.empty else source.added,
    ),
    "certificate": Exporter(
        "Certificate of all labels (JSON)",
        "What share of all labels may be wrong, and every decision behind it; `candid verify` checks it.",
        "certificate.json",
        lambda made, path: write_text(path, json.dumps(made.document, ensure_ascii=False)),
        attrgetter("certified"),
    ),
    "certificate-page": Exporter(
        "Certificate to read (HTML)",
        "The same as a page.",
        "certificate.html",
        lambda made, path: write_text(path, certificate_html(made.document)),
        attrgetter("certified"),
    ),
    "final": Exporter(
        "All labels, as certified (CSV)",
        "The label of every example after the review, and whether it was accepted without another look.",
        "final.csv",
        lambda made, path: write_csv(path, made.final),
        attrgetter("certified"),
    ),
    "audit-csv": Exporter(
        "Audit trail as a table (CSV)",
        "Every decision and every undo: who, when, before, after, what was shown; and which labels were under review.",
        "audit.csv",
        write_audit_csv,
        attrgetter("record"),
    ),
    "audit-jsonl": Exporter(
        "Audit trail as JSON lines",
        "The same, one JSON object a line.",
        "audit.jsonl",
        write_audit_jsonl,
        attrgetter("record"),
    ),
    "reading": Exporter(
        "How the file was read (JSON)",
        "What each column was taken for, and what was no answer. `--reading reading.json` reads another file so.",
        READING_FILE,
        lambda fields, path: write_text(path, Reading(**fields).to_json()),
        lambda source: source.train.reading or None,
    ),
    "label-weights": Exporter(
        "Label weights (sparse matrix)",
        "The model's own weight of every candidate of every example, for SciPy. How sure a label is, labels.csv says.",
        "label_weights.npz",
        write_label_weights,
        lambda source: source.own or source.labels,
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
        MODEL_CARD_FILE,
        lambda source, path: write_card(card_of(source), path),
    ),
    "features-card": Exporter(
        "How features are made",
        "What makes the model's features of texts, pictures or words. Keep it together with model.json.",
        FEATURES_FILE,
        _features_file(FEATURES_FILE),
        attrgetter("splits.featuriser"),
    ),
    "features-arrays": Exporter(
        "What was learnt for features",
        "What was learnt for it. Keep it together with features.json.",
        FEATURES_ARRAYS,
        _features_file(FEATURES_ARRAYS),
        _learnt_features,
    ),
    "torch-program": Exporter(
        "Model as a PyTorch program",
        "Predicts from features wherever PyTorch is, without Candid.",
        "model.pt2",
        write_torch_program,
        why_not=why_no_program,
    ),
    "onnx": Exporter(
        "Model as ONNX",
        "Predicts from features in any language that has an ONNX runtime.",
        "model.onnx",
        write_onnx,
        why_not=why_no_onnx,
    ),
    "replay": Exporter(
        "Replay of the run (HTML)",
        "How the labels were found, to scrub through in any browser; one file, without Candid or a network.",
        "replay.html",
        _write_replay,
        attrgetter("replay"),
    ),
}
"""Every file but the README and the archive, which `export_all` adds."""


def exporters_of(source: ExportSource) -> dict[str, Exporter]:
    """The files that there may be for a source."""
    return {name: part for name, part in EXPORTS.items() if part.made_of(source) is not None}
