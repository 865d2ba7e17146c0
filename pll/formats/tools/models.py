"""Answers of models as their tools write them: batch results, prompts and answers, lm-evaluation-harness.

Batch results are in the style of OpenAI (`custom_id`, `response.body.choices[].message.content`, `logprobs`, `error`;
the `output` of its Responses, calls of a tool) or of Anthropic (`custom_id`, `result.message.content[].text`), as JSON
lines or as a table with these columns. One request that stands several times, or has several choices, was asked several
times. Samples (`doc_id`, `filtered_resps` or `resps`) hold the text that was written or how likely each choice is.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pll.errors import RowError, UserError
from pll.formats import json_objects
from pll.formats.forms import USUAL, WORDS_OF_FIELDS
from pll.formats.names import LABEL_COLUMNS, two_names
from pll.formats.records import Records
from pll.formats.results import free_name


class Line(NamedTuple):
    """An answer of a model.

    Attributes
    ----------
    task, worker, vote
        Which example it is about, which model gave it, and what it is.
    score
        How sure it is; None where nobody says so.
    row
        The number of the example where the file does not name it.
    number
        The number of the class where the file does not name it.
    attempt
        Which of several answers to one request it is.
    question
        Which question it answers, where there are several.
    """

    task: str
    worker: str
    vote: str
    score: float | None = None
    row: int | None = None
    number: int | None = None
    attempt: int | None = None
    question: str = ""


def batch_answers(table: Records, stem: str) -> tuple[list[Line], int]:
    """Return the answers in batch results, and the number of requests that failed.

    Parameters
    ----------
    table : Records
        A column for each field.
    stem : str
        Name of the voter where the model is not named.

    Raises
    ------
    UserError
        A record that is not as its tool writes it, or a request instead of its result; the row is named.
    """
    every = list(_batch_lines(table, stem))
    return [line for lines in every for line in lines], sum(not lines for lines in every)


def _batch_lines(table: Records, stem: str) -> Iterator[list[Line]]:
    """Yield the answers of each record of batch results; none where the request failed."""
    attempts: Counter[tuple[str, str]] = Counter()
    for at, record in enumerate(table.values(range(len(table.names)))):
        with _as_written(table.row_of(at)):
            if _is_request(record):
                raise UserError(
                    "These are the requests of a batch (custom_id, body) and not its results; download its output file."
                )
            about, texts = _replies(record)
            texts = [(text.strip(), score) for text, score in texts if text.strip()]
            texts = [] if record.get("error") else texts
            task, worker = str(record["custom_id"]), str(about.get("model") or record.get("model") or stem)
            lines = []
            for text, score in texts:
                lines.append(Line(task, worker, text, score, attempt=attempts[task, worker]))
                attempts[task, worker] += 1
        yield lines


def _is_request(record: Mapping[str, Any]) -> bool:
    return any(record.get(name) for name in _ASKED) and not record.get("response")


_OF_A_RESULT = frozenset({"id", "response", "result", "error", "body", "params", "method", "url", "version"})
"""Fields of batch results that are no answer and nothing to read; what somebody wrote beside them stays."""
_ASKED = ("body", "params")
"""Where a request says what was asked: of OpenAI, and of Anthropic."""


def asked_of(table: Records) -> Records | None:
    """Return what a file of requests asked of a model, as the text of each example; None of any other table.

    Parameters
    ----------
    table
        A column for each field.
    """
    texts = []
    for record in table.values(range(len(table.names))):
        if not _is_request(record):
            return None
        asked = next(record[name] for name in _ASKED if record.get(name))
        said = (
            asked.get("messages") or asked.get("input") or asked.get("prompt") or "" if isinstance(asked, dict) else ""
        )
        last = said[-1] if isinstance(said, list) and said else said  # what came before it is instruction
        texts.append(_content(last.get("content")) if isinstance(last, dict) else str(last))
    gone = [at for at, name in enumerate(table.names) if name != "custom_id"]
    return replace(table.with_columns({"text": texts}, gone), signature=None)


_RUN = re.compile(
    r"(?:run|rep(?:eat)?|seed|trial|pass|attempt|sample|try|vote|judge|model|v|r)[-_ .]?(?:\d{1,3}|[a-h])", re.I
)
"""What a run of a model is called."""
MOST_RUNS = 20


def by_voters_in_ids(lines: Sequence[Line]) -> tuple[Sequence[Line], list[str]]:
    """Return answers whose ids name the voter beside the example, as `ticket-1::gpt`, by these; and a note.

    That is so where nearly every example has an answer of each, and they are runs, or each has one of several models.
    """
    parts = two_names([line.task for line in lines])
    if not parts:
        return lines, []
    firsts, lasts = ({part[at] for part in parts} for at in (0, 1))
    models = {line.worker for line in lines}
    pairs = {(run, line.worker) for (_, run), line in zip(parts, lines, strict=True)}
    is_crossed = len(set(parts)) == len(lines) and 5 * len(lines) >= 4 * len(firsts) * len(lasts)
    is_told = (len(models) > 1 and len(pairs) == len(lasts)) or all(map(_RUN.fullmatch, lasts))
    if not 1 < len(lasts) <= MOST_RUNS or len(firsts) < len(lasts) or not (is_crossed and is_told):
        return lines, []
    ends = "" if len(models) == len(lasts) else " {}"
    both = zip(lines, parts, strict=True)
    named = [line._replace(task=task, worker=line.worker + ends.format(run)) for line, (task, run) in both]
    (first, last), whole = parts[0], lines[0].task
    return named, [f"The ids name the example and who answered: {whole} is {first} and {last}."]


def sample_answers(table: Records, path: Path) -> list[Line]:
    """Return the answers in samples of lm-evaluation-harness.

    An answer that was extracted in several ways (`filter`) stands there several times: the first way that succeeds
    counts.

    Parameters
    ----------
    table
        A column for each field.
    path
        The file, whose name or folder names the model.

    Raises
    ------
    UserError
        A record that is not as its tool writes it; the row is named.
    """
    return [line for _, lines in _chosen(table, _model_of(path)) for line in lines]


def with_answers(table: Records) -> Records:
    """Return samples of lm-evaluation-harness with a column of the answers, which are votes.

    Of batch results that is all that is left, with the example and the model.

    Raises
    ------
    UserError
        As `batch_answers` and `sample_answers`.
    """
    if table.form is not None and table.form.name == "batch":
        answer, model, said = "answer", "model", list(_batch_lines(table, ""))
        of_rows = [[line.vote for line in lines] for lines in said]
        texts = [some[0] if len(some) == 1 else json.dumps(some) if some else None for some in of_rows]
        models = [lines[0].worker if lines else None for lines in said]
        new = {answer: texts} | ({model: models} if any(models) else {})
        gone = [at for at, name in enumerate(table.names) if name in _OF_A_RESULT or name in new]
        roles = {"custom_id": "task", answer: "vote"} | ({model: "worker"} if any(models) else {})
        # it was asked several times: nobody else was
        if any(len(some) > 1 for some in of_rows) and len({*models}) == 1:
            roles = {"custom_id": "id", answer: "answers", model: "keep"}
        return replace(table.with_columns(new, gone), roles=roles, signature=None)
    answer = free_name("answer", table.names)
    cells: list[str | None] = [None] * sum(len(batch) for batch in table.batches([0]))
    workers = set[str]()
    for at, lines in _chosen(table, ""):
        cells[at] = lines[0].vote if lines else None
        workers.update(line.worker for line in lines)
    roles = {"doc_id": "task", answer: "vote"} | ({"model": "worker"} if len(workers) > 1 else {})
    targets = {text for k, name in enumerate(table.names) if name == TARGET for text in table.texts(k) if text}
    if targets and targets <= {*cells}:  # not a whole solution, nor the number of a choice
        roles |= {TARGET: "true_label"}
    return replace(table.with_columns({answer: cells}), roles=roles)


TARGET = "target"
"""Of lm-evaluation-harness, the right answer, in whatever words the task has."""


def _chosen(table: Records, worker: str) -> Iterable[tuple[int, list[Line]]]:
    """The row and the answer of each document and model: of the first way to extract it that found one."""
    found: dict[tuple[str, str], tuple[int, list[Line]]] = {}
    for at, record in enumerate(table.values(range(len(table.names)))):
        with _as_written(table.row_of(at)):
            model = str(record.get("model") or worker)
            lines, key = _sample(record, model), (str(record["doc_id"]), model)
            before = found.get(key, (at, []))[1]
            if not before or (lines and before[0].vote.strip().casefold() in _FAILED):
                found[key] = at, lines or before
    return found.values()


_FAILED = ("[invalid]", "invalid", "")
"""What a way to extract an answer says where it fails."""


PROMPTS = ("prompt", "instruction", "question", "input", "query", "messages")
RESPONSES = ("answer", "response", "completion", "output", "generation", "prediction")


def answer_field(record: Mapping[str, Any]) -> str:
    """Return the field with a model's answer beside that of its prompt; "" where a record is no prompt and answer.

    What others say of the answer, in objects, is what the record is about, and so are several answers in a list.

    Examples
    --------
    >>> answer_field({"prompt": "A match.", "answer": "This is about sports."}), answer_field({"text": "A match."})
    ('answer', '')
    >>> answer_field({"prompt": "1 + 1?", "response": "3.", "judges": {"m1": {"verdict": "wrong"}}})
    ''
    """
    fields = [name for name in RESPONSES if isinstance(record.get(name), str)]
    if any(_is_judged(value) for name, value in record.items() if name not in PROMPTS):
        return ""
    people = {name.casefold() for name in record} & {*USUAL["worker"], *LABEL_COLUMNS[1:]} - {"model"}
    return fields[0] if fields and not people and any(record.get(name) for name in PROMPTS) else ""


def _is_judged(value: Any) -> bool:
    """Whether a field holds objects of several, each with an answer of its own, or a list that says something again."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value) and len({*value}) < len(value):
        return True
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    said = {*WORDS_OF_FIELDS["what"], "token"}  # the likeliest of these
    return any(isinstance(one, dict) and not said.isdisjoint(one) for one in inside)


def prompted_answers(path: Path) -> list[Line]:
    """Return the answers in JSON lines of a prompt and an answer."""
    lines = []
    for at, (_, record) in enumerate(json_objects.records(path)):
        field = answer_field(record)
        if field and record[field].strip():
            task, row = (str(record["id"]), None) if "id" in record else (str(at), at)
            lines.append(Line(task, str(record.get("model") or field), record[field], row=row))
    return lines


def asks_again(path: Path) -> bool:
    """Whether JSON lines of a prompt and an answer hold most prompts twice or more: a line is what one model says."""
    asked = [
        str(next((record[name] for name in PROMPTS if name in record), "")) for _, record in json_objects.records(path)
    ]
    return 2 * len({*asked}) <= len(asked)


@contextmanager
def _as_written(row: int) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise RowError(f"Row {row} is not as its tool writes it ({error}); export the file again.") from error


# ---- batch results ---------------------------------------------------------------------------------------------------


def _replies(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[tuple[str, float | None]]]:
    """Return what names the model in a batch result, and its answers with their probabilities."""
    if record.get("result"):  # Anthropic: result.message.content
        message = record["result"].get("message") or {}
        return message, [(_content(message.get("content")), None)] if message else []
    response = record.get("response") or {}
    if isinstance(response, str):  # the answer itself
        return {}, [(response, None)]
    body = response.get("body") or {}
    if "output" in body:  # OpenAI's Responses: one list of reasoning, messages and calls
        messages = [_content(one.get("content")) for one in body["output"] if one.get("type") == "message"]
        calls = [str(one.get("arguments") or "") for one in body["output"] if one.get("type") == "function_call"]
        return body, [("\n".join(messages) or "\n".join(calls), None)]
    replies = []
    for choice in body.get("choices") or []:
        message = choice.get("message") or {}
        calls = [str((call.get("function") or {}).get("arguments") or "") for call in message.get("tool_calls") or []]
        text = _content(message["content"] if "content" in message else choice.get("text"))  # `text` of completions
        replies.append((text or "\n".join(calls), _logprob(choice)))
    return body, replies


def _content(value: Any) -> str:
    """Return the text of a message: itself, or its parts; of calls of a tool their arguments."""
    if isinstance(value, list):
        texts = [str(part["text"]) for part in value if part.get("text") and part.get("type") != "thinking"]
        calls = [json.dumps(part["input"]) for part in value if part.get("type") == "tool_use"]
        return "\n".join(calls or texts)
    return str(value or "")


def _logprob(choice: Mapping[str, Any]) -> float | None:
    """Return the probability of the whole answer, from the log-probabilities of its tokens."""
    content = (choice.get("logprobs") or {}).get("content") or []
    logs = [float(token["logprob"]) for token in content if token.get("logprob") is not None]
    return math.exp(min(0.0, sum(logs))) if logs else None


# ---- samples of lm-evaluation-harness --------------------------------------------------------------------------------


def _sample(record: Mapping[str, Any], worker: str) -> list[Line]:
    responses = record.get("filtered_resps") or record.get("resps") or []
    task, row = str(record["doc_id"]), int(record["doc_id"])
    if not responses:
        return []
    first = responses[0]
    while isinstance(first, list) and len(first) == 1:  # resps are nested once more than filtered_resps
        first = first[0]
    if isinstance(first, str):
        return [Line(task, worker, first, row=row)] if first.strip() else []
    logs = np.array([_first_number(part) for part in responses], dtype=np.float64)
    shares = np.exp(logs - logs.max())
    best = int(logs.argmax())
    text = _choice(record, best, len(responses))
    number = best if text == str(best) else None
    return [Line(task, worker, text, float(shares[best] / shares.sum()), row, number)]


def _model_of(path: Path) -> str:
    """Return the model, where the file lies in the folder that the tool names after it; else the task."""
    if "__" in path.parent.name:
        return path.parent.name.replace("__", "/")
    return re.sub(r"_\d{4}-\d\d-\d\dT[\d.:-]+$", "", path.stem.removeprefix("samples_"))


def _first_number(value: Any) -> float:
    while isinstance(value, list | tuple):
        value = value[0]
    return float(value)


def _choice(record: Mapping[str, Any], number: int, count: int) -> str:
    """Return a choice by its number: as the document lists it, else what was to be continued with."""
    doc = record.get("doc") or {}
    choices = doc.get("choices") or doc.get("options") or doc.get("endings")
    if isinstance(choices, Mapping):
        choices = choices.get("text") or choices.get("label")
    if isinstance(choices, list) and number < len(choices):
        return str(choices[number])
    arguments = record.get("arguments") or []
    requests: Sequence[Any] = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if number < len(requests) == count:
        request = requests[number]
        messages = list(request.values()) if isinstance(request, Mapping) else request
        if len(messages) > 1 and isinstance(messages[1], str) and messages[1].strip():
            return str(messages[1]).strip()
    return str(number)
