"""The README of an export: what each file is and how to use it, with code that runs as it stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pll
from pll.export import readme_labels, readme_model
from pll.export.markdown import json_block, listed
from pll.export.source import ExportSource
from pll.methods.persistence import CARD_FILE


def readme(source: ExportSource, files: Collection[str], notes: Sequence[str]) -> str:
    """The Markdown text.

    Args:
        files: names of the files that are there; only these are described.
        notes: what is not there, and why.
    """
    sections = readme_labels.SECTIONS | readme_model.SECTIONS | {"replay.html": _replay}
    parts = [_head(source), readme_labels.labels_section(source)]
    parts += [section(source) for name, section in sections.items() if name in files]
    if notes:
        parts.append("## Not in this export\n\n" + "\n".join(f"- {note}" for note in notes))
    parts.append(_how_it_was_made(source))
    return "\n\n".join(parts) + "\n"


def _head(source: ExportSource) -> str:
    estimator, sets = source.estimator, source.candidates
    decided = len(source.decisions or {})
    by_hand = f"; people decided {decided:,} of them" if decided else ""
    return f"""# Labels of {" ".join(source.name.split())}

{len(sets):,} examples, {sets.n_classes} classes, {sets.nnz / max(len(sets), 1):.2f} candidates an example on average.
{estimator.title} identified one label for each{by_hand}. Written by Candid {pll.__version__}.

{_taken_over(source)}Classes, in the order of every model output: {listed(sets.class_names, CARD_FILE)}.

Run the code below in this folder, with Python."""


def _taken_over(source: ExportSource) -> str:
    if not source.taken_over:
        return ""
    return (
        "Where nobody decided, labels, confidence, margin, entropy and label weights are those that Candid proposed "
        "from people's decisions, and that were taken over in the review. The model files and the figures at the "
        "end are of the run before that.\n\n"
    )


def _replay(source: ExportSource) -> str:
    return """## replay.html: the run, to scrub through

Open it in any browser; it loads nothing from anywhere. On a web page of your own:
`<iframe src="replay.html#epoch=10" style="width: 100%; height: 900px; border: 0"></iframe>`.
It holds up to 2,000 examples with their ids, pictures or texts, and true labels: think before you publish it."""


def _how_it_was_made(source: ExportSource) -> str:
    made = {"method": source.method, **source.config}
    text = "## How it was made\n\n" + json_block(made)
    if source.metrics:
        text += "\n\nHow good it is (shares are fractions, 0 to 1):\n\n" + json_block(dict(source.metrics))
    return text
