"""Votes as models and tools leave them: answers in free text, mapped to classes and joined on the id.

Read are: batch results in the style of OpenAI (JSON lines: `custom_id`, `response.body.choices[].message.content`,
`logprobs`, `error`; several choices are one voter asked several times; the `output` of its Responses, calls of a tool)
or of Anthropic (`custom_id`, `result.message.content[].text`), `samples_*.jsonl` of lm-evaluation-harness,
`suggestions` of Argilla, `predictions` of Label Studio, tables with a column for each model (and optionally
`MODEL_score` or `MODEL_confidence`) or with `prob_CLASS` columns, and .npy arrays (n, c) of class probabilities.

An answer is a class where it is one word for word, or but for case, spaces and punctuation, once Markdown, code fences,
tags, an introduction (`Final answer:`) and reasons on lines of their own are taken away; where a JSON object in it has
such a field; where it is a letter of the list of classes (`B`, `(b)`), if the data brings that list or other answers
give both (`B. dog`).
Everything else, several classes in one answer too, is counted and shown, and can be mapped by hand. Without known
classes, the short answers given at least twice are the classes.

Files without ids (arrays, tables without such a column, evaluation samples, which number their documents) are joined by
row number where their numbers are not the ids of the data.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import string
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
from pll.formats.tabular.answers import ANSWER_FIELDS
from pll.formats.tabular.builder import likeliest
from pll.formats.tabular.schema import SCORE_ENDS
from pll.weights import checked_prior

ID_COLUMNS = ("id", "custom_id", "doc_id", "task", "index")
ID_NAME = re.compile(r"(?:.*[_ .-])?(?:id|uuid|guid)|.*[a-z](?:Id|ID)|", re.ASCII)
"""What else a column of ids is called: `ticket_id`, `ticketId`; or nothing, as pandas writes its index."""
TRUTH_COLUMNS = ("true_label", "truth", "target", "y")
OTHER_COLUMNS = ("text", "image", "split", "candidates")
SHARE = "prob_"
TOLD = re.compile(
    r"(?:the\s+|my\s+)?(?:(?:final|correct|best|right|predicted|most likely)\s+)?(?:answer|label|class|category)"
    r"(?:\s*[:=：]\s*|\s+is\s*:?\s*|\s+)(.+)",
    re.I | re.S,
)
"""An answer with its introduction."""
THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.I | re.S)
"""What a reasoning model writes before it answers: it names labels that are not the answer."""
TAGGED = re.compile(r"<(answer|label|class|category)>(.*?)</\1>", re.I | re.S)
BOXED = re.compile(r"\$*\\boxed\{(?:\\text\{)?([^{}]*)\}?\}\$*")
FENCED = re.compile(r"```[a-z]*[ \t]*\n?(.*?)```", re.I | re.S)
LETTERED = re.compile(r"(?:(?:option|choice)\s+)?\(?([A-Za-z]|\d\d?)[).:]\s+(.+)", re.S | re.I)
"""A letter or number of a list and what it stands for, `B. dog`."""
PAIRED = 0.9
"""A letter stands for a class where at least this share of the answers with both say so."""
REASONED = re.compile(
    r"\s*\n\s*(?:reason|reasoning|explanation|rationale|justification|because|confidence)\b.*", re.I | re.S
)
"""Lines after the answer that say why."""
SENTENCE_WORDS = 25
"""Words that a sentence may have for its last to be taken for its answer."""
DOUBTS = re.compile(
    r"(?<!\w)(?:\w+n['’]t|not|no|never|neither|nor|cannot|without|unlike|except|unable|unclear|unsure|uncertain|undecided"
    r"|whether|if|either|instead|rather|than|sorry|please|provide|apologi[sz]e|wrong|false|incorrect|or|and"
    r"|kein\w*|nicht|weder|falsch|oder|und|pas|non|ni|aucune?|faux|ou|sin|nunca|não|nem|sem|falso|nie|niet|geen|ikke|inte"
    r"|нет|не|или)(?!\w)"
)
"""Words before a class that make it no answer: a negation, a doubt, an excuse, an alternative."""
TELLING = re.compile(
    r"(?<!\w)(?:is|are|it['’]s|think|believe|classify|say|answer|label|ist|est|es|é)(?!\w)|[:：=→]", re.I
)
"""What makes an answer that ends with a class a sentence about it, and no class of its own (`very late` is one)."""
LETTER_TOLD = re.compile(r"(?:\b(?i:is|option|choice|answer|letter)|['’]s|[:：→=])\s*\(?([A-Z])\)?$")
EMOJI = "\ufe0f\u200d"
"""Characters inside emoji, beside the symbols."""
SURENESS = re.compile(r"\s*\(\s*(?:confidence\s*[:=]?\s*)?\d+(?:[.,]\d+)?\s*%?\s*\)\s*$", re.I)
"""How sure the voter is, in brackets after the answer."""
SHORT = 60
"""Characters of an answer that may be a class where no classes are known."""
MARKS = " .,:;!?\"'`*()[]"
WORDS, COMMON = 3, 0.02
"""An answer of more words is a class only where it is at least this share of all."""


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
            with table.open(encoding="utf-8-sig", newline="") as file:
                columns = next(csv.reader(file, delimiter=separator), [])
            if _is_batch_table(columns):
                return _batch_table(table, separator)
            return _table(table, separator)
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
            else:
                raise UserError(
                    f"Record {row} has none of custom_id, filtered_resps, suggestions or predictions, so it holds no "
                    f"votes (fields: {listing(list(map(str, record)))})."
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
            return VOTES if _is_votes_table(path, "\t" if suffix == ".tsv" else ",") else ""
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
        return _of_tool(path, first)
    except (OSError, UserError, ValueError):
        return ""  # whoever reads it says what is wrong


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


def _is_votes_table(path: Path, separator: str) -> bool:
    """Whether a table has columns of class probabilities, or answers with their scores, and no features."""
    with in_utf8(path) as (table, _), table.open(encoding="utf-8-sig", newline="") as file:
        columns = next(csv.reader(file, delimiter=separator), [])
    if _is_batch_table(columns):
        return True
    key = _id_column(columns)
    rest = [name for name in columns if name != key and name not in (*ID_COLUMNS, *TRUTH_COLUMNS)]
    if len(rest) < 2:
        return False
    if all(name.startswith(SHARE) for name in rest):
        return True
    models = {name for name in rest if not name.endswith(SCORE_ENDS)}
    scored = {name.removesuffix(end) for name in rest for end in SCORE_ENDS if name.endswith(end)}
    return bool(models) and models == scored


# ---- what each tool writes -------------------------------------------------------------------------------------------


def _batch(record: Mapping[str, Any], stem: str) -> tuple[list[VoterAnswer], int]:
    if "body" in record and "response" not in record:
        raise UserError(
            "These are the requests of a batch (custom_id, body) and not its results; download its output file."
        )
    body, texts = _replies(record)
    if record.get("error"):
        return [], 1
    said = Counter(_plain(_core(text)) for text, _ in texts if text.strip())
    if not said:
        return [], 1
    most, count = said.most_common(1)[0]
    text, sure = next((text.strip(), score) for text, score in texts if _plain(_core(text)) == most and text.strip())
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


def _table(path: Path, separator: str) -> VoteFiles:
    import pandas as pd  # half a second that other files need not wait for

    with parsing("the table"):
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    columns = [str(name) for name in table.columns]
    if columns[:1] == ["Unnamed: 0"]:  # as pandas calls a column without a name
        table = table.rename(columns={columns[0]: ""})
        columns[0] = ""
    key = _id_column(columns, {str(name): table[name].tolist() for name in table})
    ids = None if key is None else table[key].str.strip().tolist()
    classes = [name for name in columns if name.startswith(SHARE)]
    if classes:
        with parsing("the columns prob_…", "they must be numbers"):
            shares = table[classes].replace("", "nan").to_numpy(dtype=np.float64)
        return _of_shares(shares, ids, [name.removeprefix(SHARE) for name in classes], path.stem)
    known = {key, *TRUTH_COLUMNS, *OTHER_COLUMNS}
    models = [name for name in columns if name not in known and not name.endswith(SCORE_ENDS)]
    if not models:
        raise UserError(f"No column is a model's answers (columns: {listing(columns)}).")
    answers = []
    for model in models:
        scores = next((table[model + end] for end in SCORE_ENDS if model + end in table), None)
        for row, text in enumerate(table[model]):
            if text.strip():
                score = math.nan if scores is None else _number(scores.iloc[row], row)
                name, number = (str(row), row) if ids is None else (ids[row], -1)
                answers.append(VoterAnswer(name, model, text, score, number))
    return VoteFiles(tuple(answers))


def _id_column(columns: Sequence[str], cells: Mapping[str, Sequence[str]] | None = None) -> str | None:
    """The column of the ids: one of the usual names, else the first called like one whose cells are all different."""
    known = next((name for name in ID_COLUMNS if name in columns), None)
    if known is not None:
        return known
    for name in columns:
        distinct = cells is None or len({cell.strip() for cell in cells[name]} - {""}) == len(cells[name])
        if distinct and ID_NAME.fullmatch(name):
            return name
    return None


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


def _class_of(text: str, classes: tuple[str, ...], order: Mapping[str, str] | None = None) -> tuple[str | None, bool]:
    """The class that an answer in free text names, or None; and whether it was told by its letter alone.

    What stands around it is taken away: Markdown, code fences, tags, an introduction (`Final answer:`), reasons on
    lines of their own. An answer that names several classes names none. `order` has the class of each letter; by
    default they stand for the classes as listed.

    >>> answers = (" Dog.", '{"label": "cat"}', "(b)", "**Label: A**", "B. dog", "B. cat", "cat or dog", "a bird")
    >>> [_class_of(text, ("cat", "dog"))[0] for text in answers]
    ['dog', 'cat', 'dog', 'cat', 'dog', None, None, None]
    """
    plain = _plain_classes(classes)
    for part in _peeled(text):
        if part in classes:
            return part, False
        if _plain(part) in plain:
            return plain[_plain(part)], False
        both = LETTERED.fullmatch(part)
        by_name = None if both is None else plain.get(_plain(both[2]))
        if both and by_name is not None:  # the letter and the name must say the same
            letter = both[1].upper()
            by_letter = _places_of(classes).get(letter) if order is None else order.get(letter, by_name)
            return (by_name if by_name == by_letter else None), False
    alone = re.fullmatch(r"\(?([A-Za-z])[).:]*", part)
    return (None, False) if alone is None else (_by_letter(alone[1], classes, order), True)


def _order_told(answers: Sequence[VoterAnswer], classes: tuple[str, ...], *, known: bool) -> dict[str, str] | None:
    """Letter → class, as answers that give both pair them; None where no answer does.

    Letters that stand for other classes elsewhere (a prompt that shuffles the list) tell nothing. Letters that no
    answer pairs stand for the classes as the data lists them, where the pairs agree with that list.
    """
    plain = _plain_classes(classes)
    pairs: dict[str, Counter[str]] = {}
    for text, count in Counter(text for answer in answers for text in (answer.texts or (answer.text,))).items():
        for part in _peeled(text):
            both = LETTERED.fullmatch(part)
            name = None if both is None or part in classes else plain.get(_plain(both[2]))
            if both and name is not None:
                pairs.setdefault(both[1].upper(), Counter())[name] += count
                break
    if not pairs:
        return None
    told = {letter: names.most_common(1)[0] for letter, names in pairs.items()}
    if any(count < PAIRED * sum(pairs[letter].values()) for letter, (_, count) in told.items()):
        return {}
    found = {letter: name for letter, (name, _) in told.items()}
    if len(set(found.values())) < len(found):
        return {}
    listed = _places_of(classes)
    agree = known and all(listed.get(letter) == name for letter, name in found.items())
    return listed | found if agree else found


def class_in_sentence(
    text: str, classes: tuple[str, ...], order: Mapping[str, str] | None = None
) -> tuple[str | None, bool]:
    """The class that a sentence ends with, where it names no other and doubts nothing; whether by its letter alone.

    So is the class of a first line that holds nothing else, of a last line `Answer: …`, and of JSON of which one field
    alone is a class. `order` has the class of each letter, by default as the classes are listed.

    >>> answers = (
    ...     "I think it's a dog.",
    ...     "It is not a dog.",
    ...     "Perhaps a cat, perhaps a dog",
    ...     "Dog 🐶 (90%)",
    ...     "Réponse : cat",
    ... )
    >>> [class_in_sentence(text, ("cat", "dog"))[0] for text in answers]
    ['dog', None, None, 'dog', 'cat']
    >>> class_in_sentence("I think it's B.", ("cat", "dog"))
    ('dog', True)
    """
    plain = _plain_classes(classes)
    text = THOUGHT.sub("", text).strip()
    lettered = [both[2] for part in _peeled(text) if (both := LETTERED.fullmatch(part))]
    if lettered and (
        order is None or any(_plain(one) in plain for one in lettered)
    ):  # letter and name that do not say the same
        return None, False
    named = {plain[_plain(one)] for one in _json_texts(text) if _plain(one) in plain}
    if named or text.startswith(("{", "[")):
        return (named.pop(), False) if len(named) == 1 else (None, False)
    lines = [line.strip() for line in re.sub(r"\*\*|__|`", "", text).splitlines() if line.strip()]
    if len(lines) > 1:
        told = TOLD.fullmatch(lines[-1])
        ends = [plain.get(_plain(lines[0])), None if told is None else plain.get(_plain(told[1]))]
        found = {one for one in ends if one is not None}
        return (found.pop(), False) if len(found) == 1 else (None, False)
    if not lines or "?" in text or "？" in text:
        return None, False
    line = SURENESS.sub(
        "", "".join(c for c in lines[0] if unicodedata.category(c) not in ("So", "Sk") and c not in EMOJI)
    )
    whole = _plain(line)
    if len(whole.split()) > SENTENCE_WORDS:
        return None, False
    fitting = [name for name in plain if name and whole.endswith(name) and not whole.removesuffix(name)[-1:].isalnum()]
    letter = None if fitting else LETTER_TOLD.search(line.rstrip(MARKS))
    if not fitting and letter is None:
        return None, False
    name = max(fitting, key=len, default="")
    before = (line[: letter.start(1)] if letter is not None else whole[: len(whole) - len(name)]).casefold()
    if DOUBTS.search(before):
        return None, False
    words = _words(before)
    others = (_words(one) for one in plain if one != name)
    if any(one in words for one in others if one.strip()):
        return None, False
    return (plain[name], False) if letter is None else (_by_letter(letter[1], classes, order), True)


def _words(text: str) -> str:
    """The words of a text with one space between, before and after."""
    return " ".join(["", *re.findall(r"[^\W_]+", text), ""])


def _json_texts(text: str) -> list[str]:
    """The texts in an answer's JSON: all of it, or one object without others in it."""
    objects = re.findall(r"\{[^{}]*\}", text)
    for part in (text, *(objects if len(objects) == 1 else ())):
        if not part.startswith(("{", "[")):
            continue
        try:
            waiting = [json.loads(part)]
        except (ValueError, RecursionError):
            continue
        found = []
        while waiting:
            value = waiting.pop()
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
            found += [value] if isinstance(value, str) else []
        return found
    return []


def _by_letter(letter: str, classes: tuple[str, ...], order: Mapping[str, str] | None) -> str | None:
    return (_places_of(classes) if order is None else order).get(letter.upper())


@lru_cache(maxsize=8)
def _places_of(classes: tuple[str, ...]) -> dict[str, str]:
    """Letter → class, as the classes are listed."""
    return dict(zip(string.ascii_uppercase, classes, strict=False))


@lru_cache(maxsize=8)
def _plain_classes(classes: tuple[str, ...]) -> dict[str, str]:
    """Plain form → class; forms that two classes share tell neither."""
    shared = Counter(_plain(name) for name in classes)
    return {_plain(name): name for name in classes if shared[_plain(name)] == 1}


def _core(text: str) -> str:
    """An answer without what stands around it: tags, fences, Markdown, the words before and the reasons after it.

    >>> [_core(text) for text in ('{"label": "Cat"}', "Label: Cat", " a cat", "**Label:** Cat", "<answer>Cat</answer>")]
    ['Cat', 'Cat', 'a cat', 'Cat', 'Cat']
    """
    return _peeled(text)[-1]


def _peeled(text: str) -> list[str]:
    """An answer, and what is left of it as one thing after the other that stands around it is taken away."""
    found = [text.strip()]
    text = THOUGHT.sub("", text).strip()
    for pattern in (TAGGED, FENCED, BOXED):
        inner = {one[pattern.groups].strip() for one in pattern.finditer(text)}
        if len(inner) == 1:
            text = inner.pop()
    field = _json_field(text)
    if field is not None:
        return [*found, field.strip()]
    bare = REASONED.sub("", re.sub(r"\*\*|__|`", "", text).strip())
    found += [text, bare] if bare else [text]
    told = TOLD.fullmatch(bare)
    if told:
        found += _peeled(told[1])
    return found


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(folded.split()).strip(MARKS)


def _json_field(text: str) -> str | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    fields = {str(name).casefold(): _only(one) for name, one in value.items()}
    fields = {name: one for name, one in fields.items() if one is not None}
    named = [fields[name] for name in ANSWER_FIELDS if name in fields]
    if named:
        return named[0]
    return next(iter(fields.values())) if len(fields) == len(value) == 1 else None


def _only(value: Any) -> str | None:
    """The text of a field that holds one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else None


def _guessed_classes(answers: Sequence[VoterAnswer]) -> tuple[str, ...]:
    """The short answers given at least twice, each in its most frequent spelling; longer ones where they are common.

    Where several voters answered, at least two of them must have given it: each has its own way to refuse.
    """
    every = [(text, answer.voter) for answer in answers for text in (answer.texts or (answer.text,))]
    cores = _without_letters([(_stated(text), voter) for text, voter in every])
    texts = Counter(text for text, _ in cores)
    voters: dict[str, set[str]] = {}
    for text, voter in cores:
        voters.setdefault(_plain(text), set()).add(voter)
    least = min(2, len({answer.voter for answer in answers}))
    groups: dict[str, Counter[str]] = {}
    for text, count in texts.items():
        if len(_plain(text)) > 0 and len(text) <= SHORT and len(voters[_plain(text)]) >= least:
            groups.setdefault(_plain(text), Counter())[text] += count
    total = sum(texts.values())
    names = [
        spellings.most_common(1)[0][0].strip(MARKS)
        for plain, spellings in groups.items()
        if sum(spellings.values()) >= (2 if len(plain.split()) <= WORDS else max(2, COMMON * total))
    ]
    ignored = set(no_answers(names))
    telling = [name for name in names if TELLING.search(name)]
    others = tuple(name for name in names if name not in ignored and name not in telling)
    ignored |= {name for name in telling if class_in_sentence(name, others)[0] is not None}
    return sort_names(name for name in names if name not in ignored)


def _stated(text: str) -> str:
    """What an answer states as its class before any class is known: the field of JSON in it, its last line `Answer: …`.

    >>> [_stated(text) for text in ('Sure! {"label": "cat"}', "It barks.\\n\\nAnswer: dog", "Label: fox (95%)")]
    ['cat', 'dog', 'fox']
    """
    bare = re.sub(r"\*\*|__|`", "", THOUGHT.sub("", text)).strip()
    objects = re.findall(r"\{[^{}]*\}", bare)
    field = _json_field(objects[0]) if len(objects) == 1 else None
    if field is not None:
        return field.strip()
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    told = TOLD.fullmatch(lines[-1]) if lines else None
    if told is None:
        return _core(text)
    return SURENESS.sub("", _core(told[1]))


def _without_letters(cores: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Answers without the letters of a list: `B. dog` is `dog` where that stands alone too, or with other marks.

    Letters of that list that stand alone are left out.

    >>> _without_letters([("B. dog", "m"), ("dog", "n"), ("B", "n"), ("E. coli", "m")])
    [('dog', 'm'), ('dog', 'n'), ('E. coli', 'm')]
    """
    lettered = {core: found for core, _ in cores if (found := LETTERED.fullmatch(core))}
    rests = {core: lettered[core][2] if core in lettered else core for core, _ in cores}
    forms: dict[str, set[str]] = {}
    for core, rest in rests.items():
        forms.setdefault(_plain(rest), set()).add(_plain(core))
    listed = {core for core in lettered if len(forms[_plain(rests[core])]) > 1}
    letters = {lettered[core][1].casefold() for core in listed}
    return [(rests[core] if core in listed else core, who) for core, who in cores if _plain(core) not in letters]


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
    name: str = "",
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
    of_one, asked = _of_one_question(votes.answers, known)
    votes = replace(votes, answers=tuple(of_one))
    told = () if votes.columns is None else votes.columns  # all classes, though some be never the likeliest
    if votes.shares and not told:
        told = tuple(map(str, range(len(votes.shares[0]))))
    classes = tuple(known) or told or _guessed_classes([a for a in votes.answers if _plain(a.text) not in by_hand])
    same = _plain_classes(classes)  # `fox` where the answers spell it FOX is no class of its own
    by_hand = {text: to if to in classes else same.get(_plain(to), to) for text, to in by_hand.items()}
    classes += tuple(dict.fromkeys(target for target in by_hand.values() if target and target not in classes))
    if len(classes) < 2:
        raise UserError(
            "Fewer than two classes were found in the answers; bring data that names the classes, or map answers "
            "(--answer FROM=CLASS)."
        )
    ids = _ids_of(votes.answers) if data is None else data.row_ids.tolist()
    place = _places(ids)
    joined = {a.voter for a in votes.answers if _alike(a.id) in place}
    voters = list(dict.fromkeys(a.voter for a in votes.answers))
    number, column = {one: k for k, one in enumerate(classes)}, {one: k for k, one in enumerate(voters)}
    mapped: dict[tuple[str, int], str | None] = {}
    letters: dict[str, str] = {}
    told_order = _order_told(votes.answers, classes, known=bool(known))
    ordered, order = bool(known) or told_order is not None, told_order or _places_of(classes)
    read: list[str] = []  # sentences
    unmapped: Counter[str] = Counter()
    triples: list[tuple[int, int, int, float]] = []
    source: list[int] = []
    others = by_row = 0
    for at, answer in enumerate(votes.answers):
        row = place.get(answer.id, place.get(_alike(answer.id)))
        if row is None and answer.voter not in joined and 0 <= answer.row < len(ids):
            row = answer.row
            by_row += 1
        if row is None:
            others += 1
            continue
        targets = []
        for text in answer.texts or (answer.text,):
            key = (text, answer.number)
            if key not in mapped:
                target = by_hand.get(_plain(text))
                if target is None:
                    target, by_letter = _class_of_answer(text, answer.number, classes, told_order)
                    if target is None and answer.number < 0:
                        target, by_letter = class_in_sentence(text, classes, told_order)
                        read += [] if target is None or (by_letter and not ordered) else [text]
                    if by_letter and target is not None:
                        target = target if ordered else None  # the order of classes found in the answers is nobody's
                        if target is not None:
                            letters[next(one for one, name in order.items() if name == target)] = target
                mapped[key] = target
            targets.append(mapped[key])
            if mapped[key] is None and text:
                unmapped[text] += 1
        counted = Counter(target for target in targets if target)
        if counted:
            found, times = counted.most_common(1)[0]
            score = times / len(targets) if len(targets) > 1 else answer.score
            triples.append((row, column[answer.voter], number[found], score))
            source.append(at)
    if others == len(votes.answers):
        raise UserError(
            f"No id of the votes ({listing([a.id for a in votes.answers[:3]])}) is among those of the data "
            f"({listing(ids[:3])}); they are joined on the id."
        )
    if not triples:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(votes.answers[0].text)}).")
    rows, who, labels, scores = (np.array(part) for part in zip(*triples, strict=True))
    notes = [*asked, *([f"{by_row:,} votes have no id and are joined by row number."] if by_row else [])]
    if letters:
        listed = ", ".join(f"{letter} = {letters[letter]}" for letter in sorted(letters)[:5])
        notes.append(
            f"Letters were read as places in the list of classes ({listed}): the prompt must list them so."
            if told_order is None
            else f"Letters were read as the answers with both letter and class pair them ({listed})."
        )
    if read:
        shown = ", ".join(f"{shorten(text, 40)} = {mapped[text, -1]}" for text in read[:3])
        notes.append(
            f"{len(read):,} different answers are sentences or JSON; the one class they name was taken ({shown})."
        )
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
    given = data if data is not None else _bare(ids, name)
    if len(names) == 1 and votes.shares:
        kinds = {text: target for (text, _), target in mapped.items() if target is not None and target != text}
        at_rows = np.array([row for row, *_ in triples], dtype=np.int64)
        dataset = _with_shares(given, votes, np.array(source), at_rows, classes, notes)
        return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, len(triples))
    if len(names) == 1 and not said.anonymous:
        learns = data is not None and (data.X.size or data.texts is not None or data.pictures is not None)
        notes.append(ONE_VOTER if learns else ONE_VOTER_ALONE)
    dataset = replace(given, notes=(*given.notes, *notes)).resolved_to(resolve(said, Rule("union")), said)
    kinds = {text: target for (text, _), target in mapped.items() if target is not None and target != text}
    return Mapped(dataset, tuple(unmapped.most_common()), kinds, others, votes.errors, len(triples))


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


def _class_of_answer(
    text: str, number: int, classes: tuple[str, ...], order: Mapping[str, str] | None
) -> tuple[str | None, bool]:
    if 0 <= number < len(classes):
        return classes[number], False
    return _class_of(text, classes, order)


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
