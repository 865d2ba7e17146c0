"""What several signs say alike is proposed and not asked about, and asked about where one of them is missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question
from tests.formats.test_about_the_labelling import WORDS, said, table

Row = Callable[[random.Random, str], Sequence[str]]


def roles_in(folder: Path, header: list[str], row: Row, rows: int = 120) -> tuple[dict[str, str], bool]:
    """The role of each column of a table, and whether anything is asked."""
    rolls = random.Random(1)
    path = table(folder, header, [[f"e{k}", *row(rolls, rolls.choice(WORDS))] for k in range(rows)])
    columns = formats.columns(path)
    return {column.name: column.role for column in columns}, question(columns) is not None


def votes(rolls: random.Random, truth: str, people: int = 4, sure: float = 0.75) -> list[str]:
    """What several people say."""
    return [said(rolls, truth, sure) for _ in range(people)]


# ---- what was settled beside votes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["human_gold", "histo_dx", "Expected label", "gesichert (CT)"])
def test_what_is_called_settled_and_follows_the_votes_is_the_truth(tmp_path: Path, name: str) -> None:
    def row(rolls: random.Random, truth: str) -> list[str]:
        return [*votes(rolls, truth, sure=0.5), truth]

    roles, is_asked = roles_in(tmp_path, ["id", "m-1", "m-2", "m-3", "m-4", name], row)
    assert not is_asked and roles[name] == "true_label" and roles["m-1"] == "annotator"
    data = formats.read(tmp_path / "data.csv")
    assert any(name in str(note) and "true label" in str(note) for note in data.notes)


@pytest.mark.parametrize(
    ("voters", "name", "sure"),
    [
        (["Dr. Rossi", "Dr. Bianchi", "Dr. Verdi"], "Dr. Reale", 1.0),  # a surname
        (["radiologist_1", "radiologist_2", "radiologist_3"], "pathologist", 1.0),  # who, and not what
        (["gpt-4", "claude", "llama"], "human_label", 1.0),
        (["clerk_1", "clerk_2", "clerk_3"], "quick review", 0.4),  # the others agree more with each other
        (["clerk_1", "clerk_2", "clerk_3"], "agreed", 1.0),  # perhaps made of what they say
    ],
)
def test_who_may_be_a_voter_more_is_asked_about(tmp_path: Path, voters: list[str], name: str, sure: float) -> None:
    def row(rolls: random.Random, truth: str) -> list[str]:
        return [*votes(rolls, truth, 3), said(rolls, truth, sure)]

    _, is_asked = roles_in(tmp_path, ["id", *voters, name], row)
    assert is_asked


@pytest.mark.parametrize(
    ("voters", "name", "made"),
    [
        (["Ann", "Bob", "Cem", "Dee", "Eve"], "DNA result", "most"),
        (["path_A", "path_B", "path_C"], "pathology", "most"),
        (["Ann", "Bob", "Cem"], "set_gold", "most"),
        (["gpt-4", "claude", "gemini", "llama", "qwen"], "gold", "most"),
        (["Ann", "Bob", "Cem"], "confirmed kind", "first"),  # as the worst of several grades is
    ],
)
def test_what_a_program_may_have_made_of_the_votes_is_asked_about(
    tmp_path: Path, voters: list[str], name: str, made: str
) -> None:
    def row(rolls: random.Random, truth: str) -> list[str]:
        given = votes(rolls, truth, len(voters))
        return [*given, max(given, key=given.count) if made == "most" else min(given)]

    roles, is_asked = roles_in(tmp_path, ["id", *voters, name], row)
    assert is_asked and roles[name] == "keep"


@pytest.mark.parametrize("least", [0.0, 0.4])
def test_the_likeliest_label_where_it_is_likely_is_asked_about_whatever_its_name(tmp_path: Path, least: float) -> None:
    def row(rolls: random.Random, truth: str) -> list[str]:
        weights = [rolls.random() ** 3 for _ in WORDS]
        shares = [weight / sum(weights) for weight in weights]
        best = WORDS[shares.index(max(shares))] if max(shares) > least else ""
        return [*(f"{share:.4f}" for share in shares), best]

    _, is_asked = roles_in(tmp_path, ["id", *(f"prob_{word}" for word in WORDS), "final_class"], row)
    assert is_asked


@pytest.mark.parametrize("sure", ["certainty", "confident"])
def test_how_sure_each_was_is_no_second_question(tmp_path: Path, sure: str) -> None:
    def row(rolls: random.Random, truth: str) -> list[str]:
        return [cell for one in votes(rolls, truth, 3) for cell in (one, rolls.choice(["high", "mid", "low"]))]

    header = ["id", *(f"A{k}_{what}" for k in (1, 2, 3) for what in ("label", sure))]
    roles, is_asked = roles_in(tmp_path, header, row)
    assert not is_asked and roles["A2_label"] == "annotator" and roles[f"A2_{sure}"] == "keep"


# ---- what is known beside sets ---------------------------------------------------------------------------------------


def of_a_set(rolls: random.Random, truth: str) -> list[str]:
    """A label and two others, in any order."""
    others = rolls.sample([word for word in WORDS if word != truth], 2)
    return rolls.sample([truth, *others], 3)


@pytest.mark.parametrize("name", ["species", "ruled_out", "noisy label", "gpt-4o", "seller_category"])
def test_one_label_always_among_several_is_asked_about(tmp_path: Path, name: str) -> None:
    """It may be what the sets were made of, or what one of them surely is not."""

    def row(rolls: random.Random, truth: str) -> list[str]:
        return [f"{rolls.gauss(9, 3):.2f}", "|".join(of_a_set(rolls, truth)), truth]

    roles, is_asked = roles_in(tmp_path, ["id", "width", "candidates", name], row)
    assert is_asked and roles[name] == "keep"


# ---- one answer a line -----------------------------------------------------------------------------------------------


def lines_in(
    folder: Path, header: list[str], cells: Callable[[random.Random, str, int], Sequence[str]]
) -> tuple[dict[str, str], bool]:
    """The roles where each of fifty things stands in four lines, of a person each."""
    rolls, people, rows = random.Random(1), ["Ann", "Bob", "Cem", "Dee", "Eve", "Flo"], list[list[str]]()
    for thing in range(50):
        truth = rolls.choice(WORDS)
        for at, who in enumerate(rolls.sample(people, 4)):
            rows.append([f"t{thing}", who, said(rolls, truth), *cells(rolls, truth, at)])
    columns = formats.columns(table(folder, header, rows))
    return {column.name: column.role for column in columns}, question(columns) is not None


@pytest.mark.parametrize("who", ["reader", "rater", "determiner", "pathologist_id", "Bestimmer"])
@pytest.mark.parametrize("beside", ["repeat instance", "how certain", "handle_time_s"])
def test_what_counts_or_times_the_lines_or_says_how_sure_one_was_is_no_label(
    tmp_path: Path, who: str, beside: str
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        return [{"r": str(at + 1), "h": rolls.choice(["low", "mid", "high"])}[beside[0]]]

    roles, is_asked = lines_in(tmp_path, ["thing", who, "kind", beside], cells)
    assert not is_asked and (roles["thing"], roles[who], roles["kind"]) == ("task", "worker", "vote")
    assert roles[beside] == "keep"


@pytest.mark.parametrize(
    ("who", "beside", "share"),
    [
        ("annotator", "mood", 0.0),  # of which each has an own opinion
        ("annotator", "tone", 0.5),  # another question, on which they agree somewhat
        ("user", "sold", 0.0),  # a line may be an example
    ],
)
def test_which_of_two_columns_is_the_label_is_asked_however_people_agree(
    tmp_path: Path, who: str, beside: str, share: float
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        agrees = rolls.random() < share
        return ["yes" if truth in WORDS[:2] else "no"] if agrees else [rolls.choice(["yes", "no"])]

    _, is_asked = lines_in(tmp_path, ["thing", who, "kind", beside], cells)
    assert is_asked


@pytest.mark.parametrize(
    ("who", "name", "kind", "is_clear"),
    [
        ("rater", "reply_id", "id", True),  # of the answer
        ("moderator", "visit_id", "id", False),  # perhaps of an example
        ("rater", "width", "number", False),  # what is learnt from
        ("worker", "usage", "object", True),
    ],
)
def test_a_line_of_somebody_who_only_labels_may_have_an_id_and_no_features(
    tmp_path: Path, who: str, name: str, kind: str, is_clear: bool
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        number = rolls.randrange(10**6)
        return [{"id": f"x{number}", "number": f"{number / 7:.2f}", "object": f'{{"tokens": {number}}}'}[kind]]

    roles, is_asked = lines_in(tmp_path, ["thing", who, "kind", name], cells)
    assert is_asked is not is_clear and (roles["kind"] == "vote") is is_clear


@pytest.mark.parametrize(("who", "name", "is_clear"), [("worker", "answer", True), ("observer", "value", False)])
def test_numbers_are_answers_of_somebody_who_only_labels_and_else_perhaps_measured(
    tmp_path: Path, who: str, name: str, is_clear: bool
) -> None:
    rolls, rows = random.Random(2), list[list[str]]()
    for thing in range(50):
        truth = rolls.randrange(3)
        rows += [[f"t{thing}", one, str(truth if rolls.random() < 0.7 else 1)] for one in rolls.sample("ABCDEF", 4)]
    assert (question(formats.columns(table(tmp_path, ["thing", who, name], rows))) is None) is is_clear
