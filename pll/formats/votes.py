"""Votes as models and tools leave them: answers in free text, mapped to classes and joined on the id.

Read are: batch results in the style of OpenAI (JSON lines: `custom_id`, `response.body.choices[].message.content`,
`logprobs`, `error`; several choices are one voter asked several times), `samples_*.jsonl` of lm-evaluation-harness,
`suggestions` of Argilla, `predictions` of Label Studio, tables with a column for each model (and optionally
`MODEL_score` or `MODEL_confidence`) or with `prob_CLASS` columns, and .npy arrays (n, c) of class probabilities.

An answer is a class where it is one word for word, or but for case, spaces and punctuation; where a JSON object in it
has such a field; where it is a letter of the list of classes (`B`, `(b)`, `Answer: B`). Everything else is counted and
shown, and can be mapped by hand. Without known classes, the short answers given at least twice are the classes.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations, Rule, resolve
from pll.candidates import sort_names
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing, parsing, shorten
from pll.formats.classes import no_answers
from pll.formats.json_objects import records

ID_COLUMNS = ("id", "custom_id", "doc_id", "task", "index")
TRUTH_COLUMNS = ("true_label", "truth", "target", "y")
OTHER_COLUMNS = ("text", "image", "split", "candidates")
SCORE_ENDS = ("_score", "_confidence", "_prob", " score", " confidence")
ANSWER_FIELDS = ("label", "answer", "class", "category", "prediction", "choice")
SHORT = 60
"""Characters of an answer that may be a class where no classes are known."""
MARKS = " .,:;!?\"'`*()[]"
WORDS, COMMON = 3, 0.02
"""An answer of more words is a class only where it is at least this share of all."""


@dataclass(frozen=True)
class Answer:
    """One answer: the id of the example, who gave it, its text, and how sure (NaN where not said)."""

    id: str
    voter: str
    text: str
    score: float = math.nan


@dataclass(frozen=True)
class VoteFiles:
    """What files of votes hold.

    Attributes:
        answers: in the order of the files.
        errors: number of requests that failed and have no answer.
    """

    answers: tuple[Answer, ...]
    errors: int = 0


@dataclass(frozen=True)
class Mapped:
    """Votes over classes.

    Attributes:
        dataset: the examples with their votes as annotations; candidates are the union.
        unmapped: answers that are no class, with their counts, the most frequent first.
        answers: answer → class, as it was mapped (by hand, or where the text was not the class word for word).
        others: number of answers whose id is not among the examples.
    """

    dataset: PartialLabelDataset
    unmapped: tuple[tuple[str, int], ...]
    answers: dict[str, str]
    others: int


def read_votes(paths: Sequence[Path | str]) -> VoteFiles:
    """Read the answers in some files.

    Raises:
        UserError: a file that is not there, damaged, or holds no votes; its name is given.
    """
    answers: list[Answer] = []
    errors = 0
    seen: dict[str, int] = {}
    for number, given in enumerate(paths):
        path = Path(given)
        if not path.is_file():
            raise UserError(f"There is no file {given}; check the path.")
        try:
            found = _read(path)
        except UserError as error:
            raise UserError(f"{path.name}: {error}") from error
        if not found.answers:
            failed = f" ({found.errors} requests failed)" if found.errors else ""
            raise UserError(f"{path.name} holds no answers{failed}; give a file of votes.")
        clash = {answer.voter for answer in found.answers} & set(seen)
        for answer in found.answers:  # two files of one model are two voters
            voter = f"{answer.voter} ({path.stem})" if answer.voter in clash else answer.voter
            seen.setdefault(voter, number)
            answers.append(replace(answer, voter=voter))
        errors += found.errors
    return VoteFiles(tuple(answers), errors)


def _read(path: Path) -> VoteFiles:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return VoteFiles(tuple(_probability_array(path)))
    if suffix in (".csv", ".tsv"):
        return VoteFiles(tuple(_table(path, "\t" if suffix == ".tsv" else ",")))
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _json(path)
    raise UserError("Votes are read from .jsonl, .json, .csv, .tsv and .npy files; convert it to one of these.")


def _json(path: Path) -> VoteFiles:
    answers: list[Answer] = []
    errors = 0
    for row, record in records(path):
        try:
            if "custom_id" in record:
                found, failed = _batch(record, path.stem)
                errors += failed
            elif "filtered_resps" in record or "resps" in record:
                found = _harness(record, path.stem.removeprefix("samples_"))
            elif "suggestions" in record:
                found = _suggestions(record, row)
            elif "predictions" in record:
                found = _predictions(record, row)
            else:
                raise UserError(
                    f"Record {row} has none of custom_id, filtered_resps, suggestions or predictions, so it holds no "
                    f"votes (fields: {listing(list(map(str, record)))})."
                )
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise UserError(f"Record {row} is not as its tool writes it ({error}); export the file again.") from error
        answers += found
    return VoteFiles(tuple(answers), errors)


# ---- what each tool writes -------------------------------------------------------------------------------------------


def _batch(record: Mapping[str, Any], stem: str) -> tuple[list[Answer], int]:
    response = record.get("response") or {}
    body = response.get("body") or {}
    choices = body.get("choices") or []
    if record.get("error") or not choices:
        return [], 1
    texts = [(str((choice.get("message") or {}).get("content") or ""), _logprob(choice)) for choice in choices]
    said = Counter(text.strip() for text, _ in texts if text.strip())
    if not said:
        return [], 1
    text, count = said.most_common(1)[0]
    sure = [score for other, score in texts if other.strip() == text and not math.isnan(score)]
    score = count / len(texts) if len(texts) > 1 else sure[0] if sure else math.nan
    return [Answer(str(record["custom_id"]), str(body.get("model") or stem), text, score)], 0


def _logprob(choice: Mapping[str, Any]) -> float:
    """The probability of the whole answer, from the log-probabilities of its tokens."""
    content = (choice.get("logprobs") or {}).get("content") or []
    logs = [float(token["logprob"]) for token in content if token.get("logprob") is not None]
    return math.exp(min(0.0, sum(logs))) if logs else math.nan


def _harness(record: Mapping[str, Any], voter: str) -> list[Answer]:
    responses = record.get("filtered_resps") or record.get("resps") or []
    name = str(record["doc_id"])
    if not responses:
        return []
    first = responses[0]
    while isinstance(first, list) and len(first) == 1:  # resps are nested once more than filtered_resps
        first = first[0]
    if isinstance(first, str):
        return [Answer(name, voter, first)]
    logs = np.array([_first_number(part) for part in responses], dtype=np.float64)
    shares = np.exp(logs - logs.max())
    best = int(logs.argmax())
    return [Answer(name, voter, _choice(record.get("doc") or {}, best), float(shares[best] / shares.sum()))]


def _first_number(value: Any) -> float:
    while isinstance(value, list | tuple):
        value = value[0]
    return float(value)


def _choice(doc: Mapping[str, Any], number: int) -> str:
    choices = doc.get("choices") or doc.get("options") or doc.get("endings")
    if isinstance(choices, Mapping):
        choices = choices.get("text") or choices.get("label")
    return str(choices[number]) if isinstance(choices, list) and number < len(choices) else str(number)


def _suggestions(record: Mapping[str, Any], row: int) -> list[Answer]:
    given = record["suggestions"] or {}
    name = str(record.get("id") or record.get("external_id") or row)
    parts = given.items() if isinstance(given, Mapping) else [(one.get("question_name", "label"), one) for one in given]
    found = []
    for question, suggestion in parts:
        value = suggestion["value"] if isinstance(suggestion, Mapping) else suggestion
        about = suggestion if isinstance(suggestion, Mapping) else {}
        if isinstance(value, str):
            score = about.get("score")
            sure = float(score) if isinstance(score, int | float) else math.nan
            found.append(Answer(name, str(about.get("agent") or question), value, sure))
    return found


def _predictions(record: Mapping[str, Any], row: int) -> list[Answer]:
    name = str(record.get("id", row))
    found = []
    for prediction in record["predictions"] or []:
        voter = str(prediction.get("model_version") or "predictions")
        score = prediction.get("score")
        sure = float(score) if isinstance(score, int | float) else math.nan
        for result in prediction.get("result") or []:
            for choice in (result.get("value") or {}).get("choices") or []:
                found.append(Answer(name, voter, str(choice), sure))
    return found


def _table(path: Path, separator: str) -> Iterator[Answer]:
    import pandas as pd  # half a second that other files need not wait for

    with parsing("the table"):
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    key = next((name for name in ID_COLUMNS if name in table), None)
    ids = [str(k) for k in range(len(table))] if key is None else table[key].str.strip().tolist()
    columns = [str(name) for name in table.columns]
    classes = [name for name in columns if name.startswith("prob_")]
    if classes:
        with parsing("the columns prob_…", "they must be numbers"):
            shares = table[classes].replace("", "nan").to_numpy(dtype=np.float64)
        yield from _of_shares(shares, ids, [name.removeprefix("prob_") for name in classes], path.stem)
        return
    known = {key, *TRUTH_COLUMNS, *OTHER_COLUMNS}
    models = [name for name in columns if name not in known and not name.endswith(SCORE_ENDS)]
    if not models:
        raise UserError(f"No column is a model's answers (columns: {listing(columns)}).")
    for model in models:
        scores = next((table[model + end] for end in SCORE_ENDS if model + end in table), None)
        for row, (name, text) in enumerate(zip(ids, table[model], strict=True)):
            if text.strip():
                yield Answer(name, model, text, math.nan if scores is None else _number(scores.iloc[row], row))


def _number(text: str, row: int) -> float:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        raise UserError(f"Row {row}: the score {shorten(text)} is not a number.") from None


def _of_shares(
    shares: npt.NDArray[np.float64], ids: Sequence[str], names: Sequence[str], voter: str
) -> Iterator[Answer]:
    for row, values in enumerate(shares):
        if np.isfinite(values).any():
            best = int(np.nanargmax(values))
            yield Answer(ids[row], voter, names[best], float(values[best]))


def _probability_array(path: Path) -> Iterator[Answer]:
    with parsing("the array"):
        array = np.load(path, allow_pickle=False)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise UserError(f"The array has the shape {array.shape}; class probabilities are numbers (examples, classes).")
    names = [str(k) for k in range(array.shape[1])]
    yield from _of_shares(array.astype(np.float64), [str(k) for k in range(len(array))], names, path.stem)


# ---- answers and classes ---------------------------------------------------------------------------------------------


def class_of(text: str, classes: Sequence[str]) -> str | None:
    """The class that an answer in free text names, or None.

    >>> [class_of(text, ["cat", "dog"]) for text in (" Dog.", '{"label": "cat"}', "(b)", "Answer: A", "a bird")]
    ['dog', 'cat', 'dog', 'cat', None]
    """
    text = text.strip()
    if text in classes:
        return text
    plain = {_plain(name): name for name in reversed(classes)}
    if _plain(text) in plain:
        return plain[_plain(text)]
    field = _json_field(text)
    if field is not None:
        return class_of(field, classes)
    told = re.fullmatch(r"(?:the\s+)?(?:answer|label|class|category)\s*(?:is)?\s*[:=]?\s*(.+)", text, re.I | re.S)
    if told and _plain(told[1]) != _plain(text):
        return class_of(told[1], classes)
    letter = re.fullmatch(r"\(?([A-Za-z])[).:]?", text)
    if letter and string.ascii_uppercase.index(letter[1].upper()) < len(classes):
        return classes[string.ascii_uppercase.index(letter[1].upper())]
    return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("_", " ").split()).strip(MARKS)


def _json_field(text: str) -> str | None:
    fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.S)
    text = fenced[1] if fenced else text
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    fields = {str(name).casefold(): one for name, one in value.items() if isinstance(one, str)}
    named = next((fields[name] for name in ANSWER_FIELDS if name in fields), None)
    return named if named is not None else next(iter(fields.values())) if len(fields) == 1 else None


def _guessed_classes(answers: Iterable[Answer]) -> tuple[str, ...]:
    """The short answers given at least twice, each in its most frequent spelling; longer ones where they are common."""
    texts = Counter((_json_field(answer.text.strip()) or answer.text).strip() for answer in answers)
    groups: dict[str, Counter[str]] = {}
    for text, count in texts.items():
        if len(_plain(text)) > 0 and len(text) <= SHORT:
            groups.setdefault(_plain(text), Counter())[text] += count
    total = sum(texts.values())
    names = [
        spellings.most_common(1)[0][0].strip(MARKS)
        for plain, spellings in groups.items()
        if sum(spellings.values()) >= (2 if len(plain.split()) <= WORDS else max(2, COMMON * total))
    ]
    ignored = set(no_answers(names))
    return sort_names(name for name in names if name not in ignored)


def with_votes(
    data: PartialLabelDataset | None, votes: VoteFiles, *, answers: Mapping[str, str] | None = None, name: str = ""
) -> Mapped:
    """Examples with the votes of some files, joined on the id.

    Args:
        data: the examples; None where the votes are all there is.
        votes: of `read_votes`.
        answers: answer → class, mapped by hand; "" for no answer.
        name: what to call the data where there is none.

    Raises:
        UserError: no id in common, no class, or no answer that could be mapped.
    """
    by_hand = {_plain(text): target for text, target in (answers or {}).items()}
    known = () if data is None else data.class_names
    classes = tuple(known) or _guessed_classes(a for a in votes.answers if _plain(a.text) not in by_hand)
    classes += tuple(dict.fromkeys(target for target in by_hand.values() if target and target not in classes))
    if len(classes) < 2:
        raise UserError(
            "Fewer than two classes were found in the answers; bring data that names the classes, or map answers "
            "(--answer FROM=CLASS)."
        )
    ids = list(dict.fromkeys(a.id for a in votes.answers)) if data is None else data.row_ids.tolist()
    place = {one: row for row, one in enumerate(ids)}
    voters = list(dict.fromkeys(a.voter for a in votes.answers))
    number, column = {one: k for k, one in enumerate(classes)}, {one: k for k, one in enumerate(voters)}
    mapped: dict[str, str | None] = {}
    unmapped: Counter[str] = Counter()
    triples: list[tuple[int, int, int, float]] = []
    others = 0
    for answer in votes.answers:
        if answer.id not in place:
            others += 1
            continue
        if answer.text not in mapped:
            target = by_hand.get(_plain(answer.text))
            mapped[answer.text] = class_of(answer.text, classes) if target is None else target
        found = mapped[answer.text]
        if found is None:
            unmapped[answer.text] += 1
        elif found:
            triples.append((place[answer.id], column[answer.voter], number[found], answer.score))
    if others == len(votes.answers):
        raise UserError(
            f"No id of the votes ({listing([a.id for a in votes.answers[:3]])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if not triples:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(votes.answers[0].text)}).")
    rows, who, labels, scores = (np.array(part) for part in zip(*triples, strict=True))
    said = Annotations(
        rows,
        who,
        labels,
        len(ids),
        classes,
        tuple(voters),
        np.array(ids, dtype=np.str_),
        scores=scores if np.isfinite(scores).any() else None,
    )
    resolved = resolve(said, Rule("union"))
    given = data if data is not None else _bare(ids, name)
    kept = given.take(resolved.rows)
    dataset = replace(
        kept,
        candidates=resolved.candidates,
        class_names=(),
        prior=None,
        annotations=said.take(resolved.rows),
        notes=(*kept.notes, *resolved.notes()),
    )
    kinds = {text: target for text, target in mapped.items() if target is not None and target != text}
    return Mapped(dataset, tuple(unmapped.most_common()), kinds, others)


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")
