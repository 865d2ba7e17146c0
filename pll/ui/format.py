"""Formatting of numbers, durations and states for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from math import prod

from pll.analysis.health import Health
from pll.errors import UserError
from pll.runs.snapshots import HOW_SURE, SETTINGS, Snapshot
from pll.wording import count, likely, percent

STEP_NAMES = {
    "bytes checked": "checking the file",
    "rows": "reading the file",
    "texts": "making features of texts",
    "pictures": "making features of pictures",
    "votes and features compared": "weighing the answers",
    "parts of the data judged": "looking for wrong labels",
}
"""Steps before training, as people read them."""
STATE_ICONS = {
    "queued": ":material/hourglass_empty:",
    "running": ":material/play_circle:",
    "paused": ":material/pause_circle:",
    "stopped": ":material/stop_circle:",
    "failed": ":material/error:",
    "interrupted": ":material/power_off:",
    "finished": ":material/check_circle:",
}


def state_icon(snapshot: Snapshot) -> str:
    """The icon of a state; a finished run of one lane whose labels are not to be trusted has no tick."""
    health = snapshot.lane.health if len(snapshot.lanes) == 1 and snapshot.state == "finished" else None
    return ":material/warning:" if health is not None and health.verdict == "unhealthy" else STATE_ICONS[snapshot.state]


_JOINER = "\u2060"
"""A word joiner: of no width, and in no line break."""
_BROKEN_UP = re.compile(
    r"(:(?=//|[\w+/-]+:)|@(?=\w)|\bwww(?=\.)|-(?=>)|<(?=[-=])|[>!~](?==)|(?<!\S)-(?=-(?!\S)))", re.IGNORECASE
)
"""What Streamlit turns into links, emoji, icons and arrows, even where it is escaped."""
_SPECIAL = re.compile(r"([\\`*\[\]~$]|(?<![^\W_])_|_(?![^\W_])|:(?=[^\W\d_])|<(?=[\w/!?])|&(?=#?\w+;))")
_AT_BEGINNING = re.compile(r"^([#+:=>-]|\d+(?=[.)]))")


def plain(text: object) -> str:
    """Return text of users (names, ids, labels, files, messages that quote them) for what Streamlit shows as Markdown.

    It is shown literally, in one line: no links, pictures, formulas, colours, emoji or headings. An error says what to
    do on a page.

    Examples
    --------
    >>> plain("![x](http://a.b)"), plain("a*b_c $1$"), plain("1. and\\n- more"), plain("points.npz")
    ('!\\\\[x\\\\](http:\\u2060//a.b)', 'a\\\\*b_c \\\\$1\\\\$', '1\\\\. and - more', 'points.npz')
    """
    line = " ".join((text.on_page if isinstance(text, UserError) else str(text)).split())
    line = _SPECIAL.sub(r"\\\1", _BROKEN_UP.sub(rf"\1{_JOINER}", line))
    return _AT_BEGINNING.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line)


def short_duration(seconds: float | None) -> str:
    """A span of time with two figures at most.

    Examples
    --------
    >>> short_duration(0.36), short_duration(3.2), short_duration(75), short_duration(7300), short_duration(None)
    ('0.4 s', '3 s', '1 min 15 s', '2 h 1 min', '–')
    """
    if seconds is None:
        return "–"
    if 0.05 <= seconds < 0.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def after(epochs: int) -> str:
    """A moment of training in words.

    Examples
    --------
    >>> after(0), after(1), after(12)
    ('Before training', 'After 1 pass', 'After 12 passes')
    """
    return f"After {count(epochs, 'pass', 'passes')}" if epochs else "Before training"


def format_when(stamp: str, zone: tzinfo) -> str:
    """A moment (ISO 8601, in UTC where it names no zone) as day and time of day of the reader; "" where it is unknown.

    Parameters
    ----------
    stamp
        ISO 8601, in UTC where it names no zone.
    zone
        Of the reader.

    Examples
    --------
    >>> from datetime import timedelta, timezone
    >>> format_when("2026-11-22T23:05:00+00:00", timezone(timedelta(hours=1)))
    '23 Nov 2026, 00:05'
    """
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(zone)
    return f"{moment.day} {moment:%b %Y, %H:%M}"


def format_shape(shape: Sequence[int]) -> str:
    """What one example consists of: how many features, or which pixels.

    Examples
    --------
    >>> format_shape((1108,)), format_shape((1, 8, 8)), format_shape((3, 32, 32)), format_shape((2, 4, 4))
    ('1,108 features', '8 × 8 pixels, grey', '32 × 32 pixels, in colour', '4 × 4 pixels, 2 channels')
    """
    if len(shape) != 3:
        return count(prod(shape), "feature")
    channels, height, width = shape
    colour = {1: "grey", 3: "in colour"}.get(channels, f"{channels} channels")
    return f"{width} × {height} pixels, {colour}"


def headline(metrics: Mapping[str, float | None], health: Health | None = None) -> tuple[str, str]:
    """The one figure that says how well a run went: against the truth where it is known, else what is expected.

    Of labels that are not to be trusted nothing is expected.

    Parameters
    ----------
    metrics
        Of the run, by name.
    health
        Its verdict; None where there is none.

    Examples
    --------
    >>> headline({"label_accuracy": 0.9, "known_labels": 20, "expected_accuracy": 0.8})
    ('90.0 %', 'right (18 of 20 known)')
    >>> headline({"expected_accuracy": 0.998})
    ('> 99 %', 'expected to be right')
    >>> headline({"expected_accuracy": 0.81, "decided_labels": 20})
    ('81 %', 'expected to be right, of those nobody decided')
    >>> headline({"transductive_accuracy": None, "mean_confidence": 0.8})
    ('–', 'how sure is not known')
    >>> headline({"expected_accuracy": 0.832}, Health("unchecked"))
    ('83 %', 'expected to be right, not checked')
    >>> headline({"expected_accuracy": 0.5}, Health("unhealthy"))
    ('–', 'not to be trusted yet')
    >>> headline({"label_accuracy": 1.0, "known_labels": 30}, Health("healthy", expected=0.951))
    ('100.0 %', 'right (30 of 30 known); 95 % of all expected')
    """
    right = metrics.get("label_accuracy", metrics.get("transductive_accuracy"))
    n_labelled = int(metrics.get("known_labels") or 0)
    if right is None:
        if health is not None and health.verdict == "unhealthy":
            return "–", "not to be trusted yet"
        expected, unchecked = metrics.get("expected_accuracy"), health is not None and health.verdict == "unchecked"
        others = ", of those nobody decided" if metrics.get("decided_labels") else ""
        words = f"expected to be right{others}{', not checked' * unchecked}"
        return ("–", "how sure is not known") if expected is None else (likely(expected), words)
    of_labelled = f" ({round(right * n_labelled):,} of {n_labelled:,} known)" if n_labelled else ""
    of_all = "" if health is None or health.foretold is None else f"; {likely(health.foretold)} of all expected"
    return percent(right), f"right{of_labelled}{of_all}"


def format_state(snapshot: Snapshot) -> str:
    """State of a run, in a sentence."""
    done = count(snapshot.epoch, "epoch")
    if snapshot.total:
        done = f"{snapshot.epoch:,} of {count(snapshot.total, 'epoch')}"
    step = snapshot.step
    match snapshot.state:
        case "queued" if snapshot.ahead:
            return f"Waiting: {count(snapshot.ahead, 'run')} first on this machine."
        case "queued":
            return "Getting ready…"
        case "running" if step is not None and step.what == HOW_SURE:
            sure = f"Trained. Finding out how sure each label is: {percent(step.share, 0)}"
            return with_left(sure, step.seconds_left)
        case "running" if step is not None:
            share = f", {percent(step.share, 0)}" if step.share else ""
            place, lanes = [lane.step for lane in snapshot.lanes].index(step) + 1, len(snapshot.lanes)
            of = f" (lane {place} of {lanes})" if step.what == SETTINGS and lanes > 1 else ""
            return with_left(f"Getting ready: {STEP_NAMES.get(step.what, step.what)}{of}{share}", step.seconds_left)
        case "running":
            return f"Training: {_format_work(snapshot, done)}"
        case "paused":
            return f"Paused after {done}."
        case "stopped":
            return f"Stopped after {done}. You can resume it."
        case "interrupted":
            return f"Interrupted after {done}. You can resume it from its last checkpoint."
        case "failed":
            return f"Failed after {done}."
        case _:
            return "Finished."


def _format_work(snapshot: Snapshot, done: str) -> str:
    """What is being trained, and how long it will take."""
    stage = next((lane.stage for lane in snapshot.lanes if lane.stage and lane.state == "running"), "")
    if len(snapshot.lanes) == 1 and stage:
        return stage.split(": ")[0]
    work = with_left(" · ".join(filter(None, (done, stage))), snapshot.seconds_left)
    return " · ".join(filter(None, (work, snapshot.device)))


def with_left(done: str, seconds: float | None) -> str:
    """How far some work is, with the time that it will still take, where that is known.

    Parameters
    ----------
    done
        How far it is.
    seconds
        To go; None where that is not known.

    Examples
    --------
    >>> with_left("3 of 10", 75.0), with_left("3 of 10", 0.2), with_left("3 of 10", None)
    ('3 of 10 · about 1 min 15 s left', '3 of 10 · about 1 s left', '3 of 10')
    """
    return done if seconds is None else f"{done} · about {short_duration(max(1.0, seconds))} left"
