"""Votes as models and tools leave them: answers in free text, mapped to classes and joined on the id.

Read are: batch results in the style of OpenAI (JSON lines: `custom_id`, `response.body.choices[].message.content`,
`logprobs`, `error`; several choices are one voter asked several times; the `output` of its Responses, calls of a tool)
or of Anthropic (`custom_id`, `result.message.content[].text`), JSON lines of a prompt and an answer,
`samples_*.jsonl` of lm-evaluation-harness, `suggestions` of Argilla, `predictions` of Label Studio, tables with a
column for each model (and optionally `MODEL_score` or `MODEL_confidence`) or with `prob_CLASS` columns, and .npy arrays
(n, c) of class probabilities.

The answer is the class that it is, but for case, spaces and punctuation around it; else the field of JSON in it; else
the classes that it names as whole words, one or several: a set. What names none is counted and shown, and can be mapped
by hand. Classes that nobody listed are proposed: the short answers given at least twice, else words of sentences.

Files without ids (arrays, tables without such a column, evaluation samples, which number their documents) are joined by
row number where their numbers are not the ids of the data.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations, Rule, resolve
from pll.candidates import CandidateSets, sort_names
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing, parsing, shorten
from pll.formats.classes import no_answers
from pll.formats.encodings import in_utf8
from pll.formats.json_objects import first_record, records
from pll.formats.proposals import proposed_from_sentences
from pll.formats.tabular.answers import answer_of
from pll.formats.tabular.builder import check_header, likeliest
from pll.formats.tabular.columns import (
    LABEL_COLUMNS,
    LINES,
    SCORE_ENDS,
    USUAL,
    Column,
    is_named_id,
    roles_of,
    sample_rows,
)
from pll.weights import checked_prior

THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.I | re.S)
"""What a reasoning model writes before it answers: it names classes that are not its answer."""
WORD = re.compile(r"[^\s:;,|()\[\]{}\"!?*`=/<>]+")
SHORT = 60
"""Characters of an answer that may be a class where no classes are known."""
MARKS = " .,:;!?\"'`*()[]"
WORDS = 3
"""An answer of more words, or with other marks than those of names, is no class where it names one."""


FEW_CLASSES = "Fewer than two classes were found in the answers"
"""How the error begins where answers name none."""
VOTES = "votes"
"""What a source calls the format of files that hold votes and nothing else."""
LEAST_SHARE = 0.02
"""A voter of whose answers fewer can be mapped is no voter: a column of words, say."""


ONE_VOTER = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. Make candidate sets of them out of fold (in the shell: --noisy topk:2), or bring another "
    "voter."
)
ONE_VOTER_ALONE = (
    "There is one voter: one voter's answers alone cannot be settled, and labels taken from them have the confidence 1 "
    "whatever they are worth. Bring another voter, or check a sample (candid plan)."
)
ONE_CLASSIFIER = "The probabilities of one classifier: sets of the likeliest classes, with the probabilities as prior."


@dataclass(frozen=True)
class VoterAnswer:
    """What one voter says of one example.

    Attributes:
        id: of the example.
        voter: who gave it.
        text: as it was given.
        score: how sure the voter was, NaN where not said.
        row: number of the example where the file has no ids, else −1.
        number: number of the class where the file names none, else −1.
        texts: every answer, where the voter was asked several times; `text` and `score` are of the most frequent.
        question: number of the file and what was asked, where the file holds answers to several questions.
    """

    id: str
    voter: str
    text: str
    score: float = math.nan
    row: int = -1
    number: int = -1
    texts: tuple[str, ...] = ()
    question: tuple[int, str] | None = None


@dataclass(frozen=True)
class VoteFiles:
    """What files of votes hold.

    Attributes:
        answers: in the order of the files.
        errors: number of requests that failed and have no answer.
        shares: of a file of class probabilities, those of each answer; () where the files hold anything else too.
        columns: names of their classes; None where they have none (arrays).
    """

    answers: tuple[VoterAnswer, ...]
    errors: int = 0
    shares: tuple[tuple[float, ...], ...] = ()
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Mapped:
    """Votes over classes.

    Attributes:
        dataset: the examples with their votes as annotations; candidates are the union.
        unmapped: answers that are no class, with their counts, the most frequent first.
        answers: answer → class, as it was mapped (by hand, or where the text was not the class word for word).
        others: number of answers whose id is not among the examples.
        errors: number of requests that failed and have no answer.
        mapped: number of answers that are votes now.
    """

    dataset: PartialLabelDataset
    unmapped: tuple[tuple[str, int], ...]
    answers: dict[str, str]
    others: int
    errors: int = 0
    mapped: int = 0


def read_votes(paths: Sequence[Path | str]) -> VoteFiles:
    """Read the answers in some files.

    Args:
        paths: at least one.

    Raises:
        UserError: a file that is not there, damaged, or holds no votes; its name is given.
    """
    answers: list[VoterAnswer] = []
    errors = 0
    found = VoteFiles(())
    answered: dict[str, set[str]] = {}
    for place, given in enumerate(paths):
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
        mine: dict[str, set[str]] = {}
        for answer in found.answers:
            mine.setdefault(answer.voter, set()).add(answer.id)
        names = {voter: _voter_name(voter, ids, path.stem, answered) for voter, ids in mine.items()}
        for voter, ids in mine.items():
            answered.setdefault(names[voter], set()).update(ids)
        several = len({answer.question for answer in found.answers}) > 1
        answers += [
            replace(
                answer,
                voter=names[answer.voter],
                question=(place, answer.question[1]) if several and answer.question else None,
            )
            for answer in found.answers
        ]
        errors += found.errors
    alone = found if len(paths) == 1 else VoteFiles(())
    return VoteFiles(tuple(answers), errors, alone.shares, alone.columns)


def _voter_name(voter: str, ids: set[str], stem: str, answered: Mapping[str, set[str]]) -> str:
    """The name of a voter of another file: the same for other examples, a new one for examples answered already."""
    name, number = voter, 1
    while not ids.isdisjoint(answered.get(name, ())):
        name = f"{voter} ({stem})" if number == 1 else f"{voter} ({stem} {number})"
        number += 1
    return name


def _read(path: Path) -> VoteFiles:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _probability_array(path)
    if suffix in (".csv", ".tsv"):
        separator = "\t" if suffix == ".tsv" else ","
        with in_utf8(path) as (table, _):
            return (_batch_table if _is_batch_table(_header_of(path, suffix)) else _table)(table, separator)
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _json(path)
    raise UserError("Votes are read from .jsonl, .json, .csv, .tsv and .npy files; convert it to one of these.")


def _json(path: Path) -> VoteFiles:
    answers: list[VoterAnswer] = []
    errors = 0
    voter = _harness_voter(path)
    wanted: object = None
    for at, (row, record) in enumerate(records(path)):
        try:
            if "custom_id" in record:
                found, failed = _batch(record, path.stem)
                errors += failed
            elif "filtered_resps" in record or "resps" in record:
                wanted = record.get("filter") if wanted is None else wanted
                # An answer that was extracted in several ways stands there several times: the first way counts.
                found = _harness(record, voter) if record.get("filter") == wanted else []
            elif "suggestions" in record:
                found = _suggestions(record, at)
            elif "predictions" in record:
                found = _predictions(record, at)
            elif field := answer_field(record):
                name, number = (str(record["id"]), -1) if "id" in record else (str(at), at)
                said = str(record[field] or "")
                found = [VoterAnswer(name, str(record.get("model") or field), said, row=number)] if said else []
            else:
                raise UserError(
                    f"Record {row} has none of custom_id, filtered_resps, suggestions, predictions or a prompt with an "
                    f"answer, so it holds no votes (fields: {listing(list(map(str, record)))})."
                )
        except UserError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise UserError(f"Record {row} is not as its tool writes it ({error}); export the file again.") from error
        answers += found
    return VoteFiles(tuple(answers), errors)


def kind_of(path: Path) -> str:
    """What a file is, by its first record or its columns, before it is read.

    Returns:
        `"votes"`: votes and nothing else; `"both"`: examples of a tool with votes of models and none of people;
        `"beside"`: such examples with votes of models beside answers of people; `""`: data, or nothing that is known.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".npy":
            return VOTES
        if suffix in (".csv", ".tsv"):
            return VOTES if _is_batch_table(_header_of(path, suffix)) else ""
        if suffix not in (".json", ".jsonl", ".ndjson"):
            return ""
        with path.open("rb") as file:
            first = first_record(path, file.read(2**16))
        if first is None:
            return ""
        if ("custom_id" in first and any(name in first for name in ("response", "error", "result"))) or (
            "doc_id" in first and ("filtered_resps" in first or "resps" in first)
        ):
            return VOTES
        return "both" if answer_field(first) else _of_tool(path, first)
    except (OSError, UserError, ValueError):
        return ""  # whoever reads it says what is wrong


PROMPTS = ("prompt", "instruction", "question", "input", "query", "messages")
ANSWERS = ("answer", "response", "completion", "output", "generation", "prediction")


def answer_field(record: Mapping[str, Any]) -> str:
    """Return the field with a model's answer beside that of its prompt; "" where a record is no prompt and answer.

    >>> answer_field({"prompt": "A match.", "answer": "This is about sports."}), answer_field({"text": "A match."})
    ('answer', '')
    """
    said = [name for name in ANSWERS if isinstance(record.get(name), str)]
    people = {name.casefold() for name in record} & {*USUAL["worker"], *LABEL_COLUMNS[1:]} - {"model"}
    return said[0] if said and not people and any(record.get(name) for name in PROMPTS) else ""


def roles_beside_answers(path: Path) -> dict[str, str]:
    """Return what is told of the columns of a file of prompts and answers: the answers are not learnt from."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return {}
    with path.open("rb") as file:
        first = first_record(path, file.read(2**16))
    field = "" if first is None else answer_field(first)
    return {field: "keep"} if field else {}


def _of_tool(path: Path, first: Mapping[str, Any]) -> str:
    """`kind_of` for the records of an annotation tool."""
    by_people: tuple[str, ...]
    if isinstance(first.get("fields"), dict):
        theirs, by_people, of_models = "suggestions", ("responses",), _suggestions
    elif isinstance(first.get("data"), dict):
        theirs, by_people, of_models = "predictions", ("annotations", "completions"), _predictions
    else:
        return ""
    people = models = False
    for at, (_, record) in enumerate(records(path)):
        people = people or any(record.get(name) for name in by_people)
        try:
            models = models or bool(record.get(theirs) and of_models(record, at))
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            return ""  # reading says what is wrong
        if people and models:
            return "beside"
    return "both" if models else ""


# ---- what each tool writes -------------------------------------------------------------------------------------------


def _batch(record: Mapping[str, Any], stem: str) -> tuple[list[VoterAnswer], int]:
    if "body" in record and "response" not in record:
        raise UserError(
            "These are the requests of a batch (custom_id, body) and not its results; download its output file."
        )
    body, texts = _replies(record)
    if record.get("error"):
        return [], 1
    said = Counter(_key(text) for text, _ in texts if text.strip())
    if not said:
        return [], 1
    most, count = said.most_common(1)[0]
    text, sure = next((text.strip(), score) for text, score in texts if _key(text) == most and text.strip())
    score = count / len(texts) if len(texts) > 1 else sure
    every = tuple(text.strip() for text, _ in texts) if len(texts) > 1 else ()
    return [VoterAnswer(str(record["custom_id"]), str(body.get("model") or stem), text, score, texts=every)], 0


def _replies(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[tuple[str, float]]]:
    """What names the model in a batch result, and its answers with their probabilities."""
    if "result" in record:  # Anthropic: result.message.content
        message = (record["result"] or {}).get("message") or {}
        return message, [(_content(message.get("content")), math.nan)] if message else []
    body = (record.get("response") or {}).get("body") or {}
    if "output" in body:  # OpenAI's Responses: one list of reasoning, messages and calls
        messages = [_content(one.get("content")) for one in body["output"] if one.get("type") == "message"]
        calls = [str(one.get("arguments") or "") for one in body["output"] if one.get("type") == "function_call"]
        return body, [("\n".join(messages) or "\n".join(calls), math.nan)]
    found = []
    for choice in body.get("choices") or []:
        message = choice.get("message") or {}
        calls = [str((call.get("function") or {}).get("arguments") or "") for call in message.get("tool_calls") or []]
        text = _content(message["content"] if "content" in message else choice.get("text"))  # `text` of completions
        found.append((text or "\n".join(calls), _logprob(choice)))
    return body, found


def _content(value: Any) -> str:
    """The text of a message: itself, or its parts; of calls of a tool their arguments."""
    if isinstance(value, list):
        texts = [str(part["text"]) for part in value if part.get("text") and part.get("type") != "thinking"]
        calls = [json.dumps(part["input"]) for part in value if part.get("type") == "tool_use"]
        return "\n".join(calls or texts)
    return str(value or "")


def _logprob(choice: Mapping[str, Any]) -> float:
    """The probability of the whole answer, from the log-probabilities of its tokens."""
    content = (choice.get("logprobs") or {}).get("content") or []
    logs = [float(token["logprob"]) for token in content if token.get("logprob") is not None]
    return math.exp(min(0.0, sum(logs))) if logs else math.nan


def _harness(record: Mapping[str, Any], voter: str) -> list[VoterAnswer]:
    responses = record.get("filtered_resps") or record.get("resps") or []
    name, row = str(record["doc_id"]), int(record["doc_id"])
    if not responses:
        return []
    first = responses[0]
    while isinstance(first, list) and len(first) == 1:  # resps are nested once more than filtered_resps
        first = first[0]
    if isinstance(first, str):
        return [VoterAnswer(name, voter, first, row=row)]
    logs = np.array([_first_number(part) for part in responses], dtype=np.float64)
    shares = np.exp(logs - logs.max())
    best = int(logs.argmax())
    text = _choice(record, best)
    return [VoterAnswer(name, voter, text, float(shares[best] / shares.sum()), row, best if text == str(best) else -1)]


def _harness_voter(path: Path) -> str:
    """The model, where the file lies in the folder that the tool names after it; else the task."""
    if "__" in path.parent.name:
        return path.parent.name.replace("__", "/")
    return re.sub(r"_\d{4}-\d\d-\d\dT[\d.:-]+$", "", path.stem.removeprefix("samples_"))


def _first_number(value: Any) -> float:
    while isinstance(value, list | tuple):
        value = value[0]
    return float(value)


def _choice(record: Mapping[str, Any], number: int) -> str:
    """A choice by its number: as the document lists it, else what was to be continued with."""
    doc = record.get("doc") or {}
    choices = doc.get("choices") or doc.get("options") or doc.get("endings")
    if isinstance(choices, Mapping):
        choices = choices.get("text") or choices.get("label")
    if isinstance(choices, list) and number < len(choices):
        return str(choices[number])
    asked = record.get("arguments") or []
    requests = list(asked.values()) if isinstance(asked, Mapping) else asked
    if number < len(requests) and len(requests) == len(record.get("resps") or record["filtered_resps"]):
        request = requests[number]
        parts = list(request.values()) if isinstance(request, Mapping) else request
        if len(parts) > 1 and isinstance(parts[1], str) and parts[1].strip():
            return str(parts[1]).strip()
    return str(number)


def _suggestions(record: Mapping[str, Any], at: int) -> list[VoterAnswer]:
    given = record["suggestions"] or {}
    key = record.get("id", record.get("external_id"))  # as `pll.formats.tools.argilla` names the record
    name = str(at) if key is None else str(key)
    parts = given.items() if isinstance(given, Mapping) else [(one.get("question_name", "label"), one) for one in given]
    found = []
    for question, suggestion in parts:
        value = suggestion["value"] if isinstance(suggestion, Mapping) else suggestion
        about = suggestion if isinstance(suggestion, Mapping) else {}
        if isinstance(value, str):
            score = about.get("score")
            sure = float(score) if isinstance(score, int | float) else math.nan
            voter = str(about.get("agent") or question)
            found.append(VoterAnswer(name, voter, value, sure, question=(0, str(question))))
    return found


OURS = "candid-"
"""Beginning of the id of a result that Candid wrote: a label of a run is no vote."""


def _predictions(record: Mapping[str, Any], at: int) -> list[VoterAnswer]:
    data = record.get("data")
    key = record.get("id")  # as `pll.formats.tools.labelstudio` names the task
    if key is None and isinstance(data, dict):
        key = data.get("id")
    name = str(at) if key is None else str(key)
    found = []
    for prediction in record["predictions"] or []:
        voter = str(prediction.get("model_version") or "predictions")
        score = prediction.get("score")
        sure = float(score) if isinstance(score, int | float) else math.nan
        for result in prediction.get("result") or []:
            if str(result.get("id", "")).startswith(OURS):
                continue
            for choice in (result.get("value") or {}).get("choices") or []:
                question = (0, str(result.get("from_name", "label")))
                found.append(VoterAnswer(name, voter, str(choice), sure, question=question))
    return found


def _is_batch_table(columns: Sequence[str]) -> bool:
    """Whether a table has the fields of batch results as its columns."""
    return "custom_id" in columns and "response" in columns


def _batch_of_cells(cells: Mapping[str, str], row: int) -> dict[str, Any]:
    """A row of a table of batch results as the record that it was made of."""
    found: dict[str, Any] = dict(cells)
    for name in ("response", "error"):
        text = cells.get(name, "").strip()
        try:
            found[name] = json.loads(text) if text.startswith(("{", "[")) else text or None
        except ValueError:
            try:
                found[name] = ast.literal_eval(text)  # as Python prints a dict
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                raise UserError(
                    f"Row {row}, column {name} holds {shorten(text)}, which is no JSON object; export it again."
                ) from None
    if isinstance(found["response"], str):  # the answer itself
        found["response"] = {"body": {"choices": [{"message": {"content": found["response"]}}]}}
    return found


def _batch_table(path: Path, separator: str) -> VoteFiles:
    """Batch results as a table: a column for each field, the response as JSON.

    Several rows of one `custom_id` are one voter asked several times, as several choices of a response are.
    """
    import pandas as pd

    with parsing("the table"):
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    records: dict[str, dict[str, Any]] = {}
    for row, cells in enumerate(table.to_dict("records"), start=2):
        record = _batch_of_cells({str(name): str(cell) for name, cell in cells.items()}, row)
        known = records.setdefault(str(record["custom_id"]), record)
        if known is not record:
            with parsing("the responses"):
                _choices_of(known).extend(_choices_of(record))
    answers: list[VoterAnswer] = []
    errors = 0
    for record in records.values():
        with parsing("the responses"):
            found, failed = _batch(record, path.stem)
        answers += found
        errors += failed
    return VoteFiles(tuple(answers), errors)


def _choices_of(record: dict[str, Any]) -> list[Any]:
    """The choices of a batch result, a list that can be added to."""
    record["response"] = record.get("response") or {}
    body = record["response"].setdefault("body", {})
    choices: list[Any] = body.setdefault("choices", [])
    return choices


def _header_of(path: Path, suffix: str) -> list[str]:
    with in_utf8(path) as (table, _), table.open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","), [])


def _table(path: Path, separator: str) -> VoteFiles:
    """Answers in columns, one a voter, or in lines; which column is what is told as of every table.

    In a file of votes, words that say nothing else are answers.
    """
    import pandas as pd  # half a second that other files need not wait for

    with parsing("the table"):
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    header = check_header(["" if str(name).startswith("Unnamed: ") else str(name) for name in table.columns])
    cells = {name: table.iloc[:, at].tolist() for at, name in enumerate(header)}
    roles = roles_of(header, [cells[name][: sample_rows(len(header))] for name in header])
    by_role: dict[str, list[Column]] = {}
    for column in roles:
        by_role.setdefault(column.role, []).append(column)
    ids = next((_trimmed(cells[column.name]) for column in by_role.get("id", ())), None)
    if ids is None:  # a name like those of ids, under which some stand twice
        ids = next((_trimmed(cells[name]) for name in header if is_named_id(name)), None)
    shares = by_role.get("probability", [])
    if shares:
        with parsing("the columns of probabilities", "they must be numbers"):
            amounts = np.array([[float(cell or "nan") for cell in cells[column.name]] for column in shares]).T
        return _of_shares(amounts, ids, [column.shown for column in shares], path.stem)
    if "vote" in by_role:
        task, worker, vote = (cells[by_role[role][0].name] for role in LINES)
        lines = zip(task, worker, vote, strict=True)
        return VoteFiles(tuple(VoterAnswer(one.strip(), who.strip(), text) for one, who, text in lines if text.strip()))
    no_voters = ("id", "score", "true_label", "split", "candidates", "image", "ignore", "feature", "vector")
    voters = [c for c in roles if c.role not in no_voters and c.name.casefold() != "text" and cells[c.name] is not ids]
    voters = [c for c in voters if not is_named_id(c.name) or c.role == "annotator"]
    if not voters:
        raise UserError(f"No column is a model's answers (columns: {listing(header)}).")
    answers = []
    for voter in voters:
        called = next((name for end in SCORE_ENDS if (name := voter.name + end) in cells), None)
        for row, text in enumerate(cells[voter.name]):
            if text.strip():
                score = math.nan if called is None else _number(cells[called][row], row)
                name, number = (str(row), row) if ids is None else (ids[row], -1)
                answers.append(VoterAnswer(name, voter.shown, text, score, number))
    return VoteFiles(tuple(answers))


def _trimmed(cells: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in cells]


def _number(text: str, row: int) -> float:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        raise UserError(f"Row {row}: the score {shorten(text)} is not a number.") from None


def _of_shares(
    shares: npt.NDArray[np.float64], ids: Sequence[str] | None, names: Sequence[str] | None, voter: str
) -> VoteFiles:
    """The likeliest class of each row of probabilities; rows without any are no answers."""
    if np.isinf(shares).any() or (shares < 0).any():
        row = int(np.flatnonzero((np.isinf(shares) | (shares < 0)).any(axis=1))[0])
        raise UserError(f"Row {row}: a probability is negative or infinite; write numbers from 0 to 1.")
    answers, kept = [], []
    for row, values in enumerate(shares):
        if np.isfinite(values).any():
            best = int(np.nanargmax(values))
            name, number = (str(row), row) if ids is None else (ids[row], -1)
            text, place = (str(best), best) if names is None else (names[best], -1)
            answers.append(VoterAnswer(name, voter, text, float(values[best]), number, place))
            kept.append(tuple(np.nan_to_num(values).tolist()))
    return VoteFiles(tuple(answers), 0, tuple(kept), None if names is None else tuple(names))


def _probability_array(path: Path) -> VoteFiles:
    with parsing("the array"):
        array = np.load(path, allow_pickle=False)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise UserError(f"The array has the shape {array.shape}; class probabilities are numbers (examples, classes).")
    return _of_shares(array.astype(np.float64), None, None, path.stem)


# ---- answers and classes ---------------------------------------------------------------------------------------------


def classes_in(text: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that an answer names; none where it names none.

    A class of one letter is one only as it is written, and a class within the name of another is that other.

    >>> answers = (" Dog.", '{"label": "cat"}', "I think it is a dog.", "a cat or a dog", "a bird", "doggy")
    >>> [classes_in(text, ("cat", "dog")) for text in answers]
    [('dog',), ('cat',), ('dog',), ('cat', 'dog'), (), ()]
    >>> classes_in("a cat-like one, class A", ("cat", "cat-like", "A"))
    ('cat-like', 'A')
    """
    if text in classes:
        return (text,)
    plain = _plain_classes(classes)
    said = [_plain(one) for one in _stated(text)]
    if said and all(one in plain for one in said):
        return tuple(dict.fromkeys(plain[one] for one in said))
    words = [word.strip(MARKS) for word in WORD.findall(unicodedata.normalize("NFKC", THOUGHT.sub("", text)))]
    longest = max((len(name.split()) for name in plain), default=0)
    found: set[str] = set()
    at = 0
    while at < len(words):
        for count in range(min(longest, len(words) - at), 0, -1):
            some = " ".join(words[at : at + count])
            name = some if some in classes else plain.get(_plain(some), "")
            if name and (len(name) > 1 or name == some):
                found.add(name)
                at += count - 1
                break
        at += 1
    return tuple(name for name in classes if name in found)


def _stated(text: str) -> tuple[str, ...]:
    """What an answer says its class is: the field of JSON in it, else itself.

    >>> _stated('Sure! {"label": "cat"}'), _stated(" Dog."), _stated('{"labels": ["cat", "dog"]}')
    (('cat',), ('Dog.',), ('cat', 'dog'))
    """
    bare = THOUGHT.sub("", text).strip()
    objects = re.findall(r"\{[^{}]*\}", bare)
    answer = answer_of(objects[0]) if len(objects) == 1 else None
    return (bare,) if answer is None or not answer[0] else answer[0]


def _key(text: str) -> tuple[str, ...]:
    """What an answer says, in a form that several spellings of it share."""
    return tuple(map(_plain, _stated(text)))


@lru_cache(maxsize=8)
def _plain_classes(classes: tuple[str, ...]) -> dict[str, str]:
    """Plain form → class; forms that two classes share tell neither."""
    shared = Counter(_plain(name) for name in classes)
    return {_plain(name): name for name in classes if shared[_plain(name)] == 1}


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(folded.split()).strip(MARKS)


def proposed_classes(answers: Sequence[VoterAnswer]) -> tuple[str, ...]:
    """The short answers given at least twice, each in its most frequent spelling, without sentences about others.

    Where several voters answered, at least two of them must have given it: each has its own way to refuse. Where most
    answers are sentences, the words in which these differ (`pll.formats.proposals`).
    """
    texts = [text.strip() for answer in answers for text in answer.texts or (answer.text,)]
    if sum(len(text.split()) > WORDS and text[-1] in ".!?" for text in texts) > len(texts) / 2:
        return proposed_from_sentences(texts)
    voters: dict[str, set[str]] = {}
    spellings: dict[str, Counter[str]] = {}
    for answer in answers:
        for text in answer.texts or (answer.text,):
            for one in _stated(text):
                voters.setdefault(_plain(one), set()).add(answer.voter)
                spellings.setdefault(_plain(one), Counter())[one] += 1
    least = min(2, len({answer.voter for answer in answers}))
    names = [
        counts.most_common(1)[0][0].strip(MARKS)
        for plain, counts in spellings.items()
        if 0 < len(plain) <= SHORT and len(voters[plain]) >= least and counts.total() >= 2
    ]
    short = tuple(name for name in names if len(name.split()) <= WORDS and re.fullmatch(r"[\w\s'’+#-]+", name))
    names = [name for name in names if name in short or not classes_in(name, short)]
    ignored = no_answers(names)
    return sort_names(name for name in names if name not in ignored)


def _of_one_question(answers: Sequence[VoterAnswer], known: Sequence[str]) -> tuple[list[VoterAnswer], list[str]]:
    """Of a file with answers to several questions, those to the one that the classes fit, else the most answered.

    Returns:
        the answers, and what to say of the others.
    """
    names = {_plain(name) for name in known}
    counts: Counter[tuple[int, str]] = Counter()
    fits: Counter[tuple[int, str]] = Counter()
    for answer in answers:
        if answer.question is not None:
            counts[answer.question] += 1
            fits[answer.question] += _plain(answer.text) in names
    chosen: dict[int, str] = {}
    for place, question in sorted(counts, key=lambda one: (fits[one], counts[one]), reverse=True):
        chosen.setdefault(place, question)
    left = {question for place, question in counts if chosen[place] != question}
    kept = [one for one in answers if one.question is None or chosen[one.question[0]] == one.question[1]]
    if not left:
        return kept, []
    read = listing(sorted(set(chosen.values())))
    return kept, [f"There are votes on several questions; read were those on {read}, not on {listing(sorted(left))}."]


def with_votes(
    data: PartialLabelDataset | None,
    votes: VoteFiles,
    *,
    answers: Mapping[str, str] | None = None,
    classes: tuple[str, ...] = (),
    name: str = "",
) -> Mapped:
    """Examples with the votes of some files, joined on the id.

    Args:
        data: the examples; None where the votes are all there is.
        votes: of `read_votes`.
        answers: answer → class, mapped by hand; "" for no answer.
        classes: all classes, where the data does not say them; by default they are proposed.
        name: what to call the data where there is none.

    Raises:
        UserError: no id in common, no class, or no answer that could be mapped.
    """
    by_hand = {_plain(text): target for text, target in (answers or {}).items()}
    known = () if data is None else data.class_names
    of_one, asked = _of_one_question(votes.answers, known)
    votes = replace(votes, answers=tuple(of_one))
    told = () if votes.columns is None else votes.columns  # all classes, though some be never the likeliest
    if votes.shares and not told:
        told = tuple(map(str, range(len(votes.shares[0]))))
    classes = tuple(known) or classes or told
    if not classes:
        classes = proposed_classes([answer for answer in votes.answers if _plain(answer.text) not in by_hand])
    same = _plain_classes(classes)  # `fox` where the answers spell it FOX is no class of its own
    by_hand = {text: to if to in classes else same.get(_plain(to), to) for text, to in by_hand.items()}
    classes += tuple(dict.fromkeys(target for target in by_hand.values() if target and target not in classes))
    if len(classes) < 2:
        raise UserError(
            f"{FEW_CLASSES}; name them (--classes a,b,c), bring data that names "
            "them, or map answers (--answer FROM=CLASS)."
        )
    ids = _ids_of(votes.answers) if data is None else data.row_ids.tolist()
    place = _places(ids)
    joined = {a.voter for a in votes.answers if _alike(a.id) in place}
    voters = list(dict.fromkeys(a.voter for a in votes.answers))
    number, column = {one: k for k, one in enumerate(classes)}, {one: k for k, one in enumerate(voters)}
    mapped: dict[tuple[str, int], tuple[str, ...]] = {}
    unmapped: Counter[str] = Counter()
    quads: list[tuple[int, int, int, float]] = []
    source: list[int] = []
    others = by_row = counted = 0
    for at, answer in enumerate(votes.answers):
        row = place.get(answer.id, place.get(_alike(answer.id)))
        if row is None and answer.voter not in joined and 0 <= answer.row < len(ids):
            row = answer.row
            by_row += 1
        if row is None:
            others += 1
            continue
        named: Counter[tuple[str, ...]] = Counter()
        texts = answer.texts or (answer.text,)
        for text in texts:
            key = (text, answer.number)
            if key not in mapped:
                mapped[key] = _meant(text, answer.number, by_hand, classes)
            named[mapped[key]] += 1
            if not mapped[key] and text:
                unmapped[text] += 1
        del named[()]
        if named:
            (meant, times), counted = named.most_common(1)[0], counted + 1
            score = times / len(texts) if len(texts) > 1 else answer.score
            quads += [(row, column[answer.voter], number[label], score) for label in meant]
            source.append(at)
    if others == len(votes.answers):
        raise UserError(
            f"No id of the votes ({listing([a.id for a in votes.answers[:3]])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if not quads:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(votes.answers[0].text)}).")
    rows, who, labels, scores = (np.array(part) for part in zip(*quads, strict=True))
    notes = [*asked, *([f"{by_row:,} votes have no id and are joined by row number."] if by_row else [])]
    whole = {*same, *by_hand}
    read = {text: meant for (text, _), meant in mapped.items() if meant and _plain(text) not in whole}
    if read:
        shown = "; ".join(f"{shorten(text, 40)}: {', '.join(names)}" for text, names in list(read.items())[:3])
        notes.append(f"{len(read):,} different answers are JSON or name classes among other words ({shown}).")
    notes += _notes_on_ids(rows, who, labels, voters, alone=data is None)
    counts = np.bincount(who, minlength=len(voters))
    given_by = Counter(answer.voter for answer in votes.answers)
    silent = [name for name, count in zip(voters, counts, strict=True) if count < LEAST_SHARE * given_by[name]]
    if silent:
        notes.append(f"Left out, since hardly an answer is a class: {listing(silent)}.")
    left = np.array([k for k, name in enumerate(voters) if name not in silent], dtype=np.int64)
    heard = np.isin(who, left)
    rows, labels, scores = rows[heard], labels[heard], scores[heard]
    who = np.searchsorted(left, who[heard])
    names = [voters[k] for k in left]
    people = None if data is None or data.annotations is None or data.annotations.anonymous else data.annotations
    if people is not None:  # votes of models beside those of people
        others_named = [name if name not in names else f"{name} (data)" for name in people.annotator_names]
        rows, labels = np.concatenate([people.rows, rows]), np.concatenate([people.labels, labels])
        who = np.concatenate([people.annotators, who + len(others_named)])
        theirs = np.full(len(people.rows), math.nan) if people.scores is None else people.scores
        names, scores = [*others_named, *names], np.concatenate([theirs, scores])
    said = Annotations(
        rows,
        who,
        labels,
        len(ids),
        classes,
        tuple(names),
        np.array(ids, dtype=np.str_),
        scores=scores if np.isfinite(scores).any() else None,
    )
    kinds = {text: " | ".join(labels) for (text, _), labels in mapped.items() if labels and labels != (text,)}
    given = data if data is not None else _bare(ids, name)
    if len(names) == 1 and votes.shares:
        at_rows = np.array([row for row, *_ in quads], dtype=np.int64)
        dataset = _with_shares(given, votes, np.array(source), at_rows, classes, notes)
        return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, counted)
    if len(names) == 1 and not said.anonymous:
        learns = data is not None and (data.X.size or data.texts is not None or data.pictures is not None)
        notes.append(ONE_VOTER if learns else ONE_VOTER_ALONE)
    dataset = replace(given, notes=(*given.notes, *notes)).resolved_to(resolve(said, Rule("union")), said)
    return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, counted)


def _with_shares(
    data: PartialLabelDataset,
    votes: VoteFiles,
    source: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    classes: tuple[str, ...],
    notes: Sequence[str],
) -> PartialLabelDataset:
    """Examples with sets and prior of one classifier's probabilities, as `prob_CLASS` columns of a table give them.

    Raises:
        UserError: a column that is no class, an example that stands twice, or no probability above 0.
    """
    columns = votes.columns or classes
    places = [classes.index(name) if name in classes else _plain_classes(classes).get(_plain(name)) for name in columns]
    at = [classes.index(one) if isinstance(one, str) else one for one in places]
    if None in at or len(set(at)) < len(at):
        wrong = [name for name, one in zip(columns, at, strict=True) if one is None or at.count(one) > 1]
        raise UserError(f"The probabilities are of {listing(wrong)}, but the classes are {listing(classes)}.")
    if len(columns) > len(classes):
        raise UserError(f"There are {len(columns)} probabilities for each example but {len(classes)} classes.")
    if len(np.unique(rows)) < len(rows):
        raise UserError("An example has probabilities twice; give each id once.")
    order = np.argsort(rows)
    shares = np.array(votes.shares, dtype=np.float64)[source[order]]
    wide = np.zeros((len(rows), len(classes)))
    wide[:, np.array(at, dtype=np.int64)] = shares
    wide[wide.sum(axis=1) == 0] = 1.0
    wide /= wide.sum(axis=1, keepdims=True)
    sets = CandidateSets.from_mask(likeliest(wide), classes)
    kept = data.take(rows[order])
    return replace(
        kept,
        candidates=sets,
        class_names=(),
        prior=checked_prior(wide[sets.rows, sets.indices], sets),
        annotations=None,
        notes=(*kept.notes, *notes, ONE_CLASSIFIER),
    )


def _meant(text: str, number: int, by_hand: Mapping[str, str], classes: tuple[str, ...]) -> tuple[str, ...]:
    """The classes of an answer: as mapped by hand, by its number, or as it names them."""
    told = by_hand.get(_plain(text))
    if told is not None:
        return (told,) if told else ()
    return (classes[number],) if 0 <= number < len(classes) else classes_in(text, classes)


def _alike(name: str) -> str:
    """An id as it compares with others: `7.0` (what tables make of numbers beside an empty cell) and `007` are `7`."""
    return re.sub(r"^([+-]?)0*(\d+)(?:\.0+)?$", r"\1\2", name.strip())


def _places(ids: Sequence[str]) -> dict[str, int]:
    """Id → row: every id as it is, and as it compares with others where no two do alike."""
    alike = [_alike(one) for one in ids]
    counts = Counter(alike)
    found = {one: row for row, one in enumerate(alike) if counts[one] == 1}
    return found | {one: row for row, one in enumerate(ids)}


def _ids_of(answers: Sequence[VoterAnswer]) -> list[str]:
    """The examples that were answered, in order; ids of several files that are alike are one.

    Ids that one voter tells apart (`7` and `007`) are several.
    """
    spelled: dict[tuple[str, str], str] = {}
    apart = set()
    for answer in answers:
        alike = _alike(answer.id)
        if spelled.setdefault((answer.voter, alike), answer.id) != answer.id:
            apart.add(alike)
    found: dict[str, str] = {}
    for answer in answers:
        alike = _alike(answer.id)
        found.setdefault(answer.id if alike in apart else alike, answer.id)
    return list(found.values())


def _notes_on_ids(
    rows: npt.NDArray[np.int64],
    who: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    voters: Sequence[str],
    *,
    alone: bool,
) -> list[str]:
    """What is odd about who answered which examples."""
    notes = []
    answers = np.unique(np.stack([rows, who]), axis=1)
    twice = len(np.unique(np.stack([rows, who, labels]), axis=1)[0]) - len(answers[0])
    if twice:
        notes.append(f"{twice:,} times a voter gave an example a further label; together they are one answer.")
    shared = np.bincount(answers[0])[answers[0]] > 1
    counts = np.bincount(answers[1], minlength=len(voters))
    in_common = np.bincount(answers[1], shared, minlength=len(voters))
    if alone and len(voters) == 1:
        return notes
    if alone and not in_common.any():
        notes.append("No example has two answers: check that the files have the same ids.")
    elif alone:
        apart = [name for k, name in enumerate(voters) if counts[k] and not in_common[k]]
        if apart:
            notes.append(f"Answered nothing that another voter answered: {listing(apart)}; check the ids.")
    else:
        apart = [name for k, name in enumerate(voters) if not counts[k]]
        if apart:
            notes.append(f"Without a vote on these examples: {listing(apart)}; check the ids and the answers.")
    return notes


def _bare(ids: Sequence[str], name: str) -> PartialLabelDataset:
    X = np.zeros((len(ids), 0), dtype=np.float32)
    return PartialLabelDataset(X=X, ids=np.array(ids, dtype=np.str_), name=name or "votes")
