"""A link means exactly the run and the view it was made of, and a bad one says which part is wrong."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.methods import METHODS
from pll.runs.config import RunConfig
from pll.runs.decided_sets import DecidedSets
from pll.runs.link import (
    FINGERPRINT,
    PARTS,
    Look,
    Share,
    controls,
    from_query,
    on_this_machine,
    to_link,
    to_query,
)
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy

VIEWS = ("examples", "one-example", "slow-motion")
SHA = "0123456789abcdef" * 4
DIGITS = RunConfig(Source("digits"), flip=Flip("binomial", 0.7), holdout=0.2, name="digits demo")


def read(link: str) -> Share:
    return from_query(parse_qs(urlsplit(link).query, strict_parsing=True), views=VIEWS)


def there_and_back(share: Share) -> Share:
    return read(to_link("http://localhost:8501/train", share))


def query(**more: str | None) -> dict[str, list[str]]:
    """A good link with some parts replaced, added or (None) left out."""
    parts = dict(to_query(Share((DIGITS,)))) | more
    return {name: [value] for name, value in parts.items() if value is not None}


# ---- what a link carries ---------------------------------------------------------------------------------------------

HIDEABLE = [*controls(lanes=False), *(f"view-{view}" for view in VIEWS)]
LOOKS = some.builds(
    Look,
    epoch=some.none() | some.integers(0, 100_000),
    view=some.sampled_from(("", *VIEWS)),
    example=some.none() | some.text(min_size=1, max_size=20),
    truth=some.booleans(),
    order=some.sampled_from(("confidence", "label")),
    hidden=some.lists(some.sampled_from(HIDEABLE), unique=True).map(tuple),
    paused=some.booleans(),
    pace=some.none() | some.floats(0.001, 1000),
    patience=some.none() | some.integers(1, 100_000),
)
FLIPS = some.none() | some.builds(Flip, some.sampled_from(("binomial", "pair")), q=some.floats(0, 1))
FLIPS |= some.just(Flip("uniform", size=3)) | some.just(Flip("matrix", matrix=((1.0, 0.1), (0.125, 1.0))))


@given(
    LOOKS,
    FLIPS,
    some.floats(0.01, 0.9),
    some.integers(0, 2**31 - 1),
    some.floats(1e-9, 10),
    some.integers(1, 1000),
    some.text(max_size=30),
)
def test_a_link_means_what_it_was_made_of(
    look: Look, flip: Flip | None, holdout: float, seed: int, lr: float, epochs: int, name: str
) -> None:
    params: dict[str, object] = {"lr": lr} | ({} if epochs == 100 else {"epochs": epochs})
    config = RunConfig(Source("digits"), "proden", params, flip=flip, holdout=holdout, seed=seed, name=name or "x")
    back = there_and_back(Share((config,), look))
    assert back.look == look  # to the last digit
    assert replace(back.configs[0], name="") == replace(config, name="")
    assert (back.configs[0].name or "digits") == config.name


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_every_method_is_in_the_link(method: str) -> None:
    defaults = METHODS[method]().get_params()
    parts = dict(to_query(Share((RunConfig(Source("digits"), method),))))
    decided_elsewhere = {"seed", "missing", "device", "precision"}
    assert set(parts) >= {name for name, value in defaults.items() if value is not None} - decided_elsewhere
    assert there_and_back(Share((RunConfig(Source("digits"), method),))).configs == (
        RunConfig(Source("digits"), method),
    )
    assert not (set(defaults) - {"seed"}) & PARTS.keys()  # no part has two meanings


def test_nothing_of_a_run_is_forgotten() -> None:
    """Whoever adds a field to RunConfig has to say what a link does with it."""
    known = "source method params flip holdout test features seed strict name noisy decided_sets"
    assert {field.name for field in fields(RunConfig)} == set(known.split())
    config = RunConfig(
        Source("digits", rule="vote:0.5"),
        noisy=Noisy("confusion", 0.1, ((0.9, 0.1), (0.2, 0.8)), rows="given"),
        test=Source("iris"),
        features="tfidf:100",
        seed=3,
        strict=True,
        name="mine",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pll.runs.link.SetRule.parse", lambda rule: rule)
        assert there_and_back(Share((config,))).configs == (config,)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_named_by_its_fingerprint_and_never_by_its_path() -> None:
    options = {"columns": {"a": "ignore"}, "merge": False, "accept": ["one-class"], "sheet": "2"}
    config = RunConfig(Source("my birds.csv", "/home/ada/secret/my birds.csv", "csv", SHA, options), name="birds")
    link = to_link("http://here/train", Share((config,)))
    assert "secret" not in link and SHA[:FINGERPRINT] in link and SHA not in link
    share = read(link)
    assert share.missing
    given = Source("renamed.csv", "/tmp/renamed.csv", sha256=SHA)
    assert share.with_file(given).configs[0] == replace(config, source=replace(config.source, path="/tmp/renamed.csv"))
    assert not share.with_file(given).missing
    with pytest.raises(
        UserError, match=r"other\.csv is not a file of this link.*fffff.*Give the very files.*my birds\.csv"
    ):
        share.with_file(Source("other.csv", "/tmp/other.csv", sha256="f" * 64))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (RunConfig(Source("a.csv", "/a.csv")), r"fingerprint of a\.csv is not known"),
        (replace(DIGITS, test=Source("b.csv", "/b.csv", sha256=SHA)), r"tested on a file of its own, b\.csv"),
        (replace(DIGITS, flip=Flip("matrix", matrix="/m.csv")), r"made with the file /m\.csv"),
        (replace(DIGITS, params={"seed": 5}), "a seed of its own"),
        (replace(DIGITS, decided_sets=DecidedSets("review", "a", "b", {3: (1,)})), "taught by people's decisions"),
        (replace(DIGITS, name="x" * 7000), "would have 7,"),
    ],
)
def test_what_a_link_cannot_carry_is_said(config: RunConfig, said: str) -> None:
    with pytest.raises(UserError, match=said):
        to_link("http://here/train", Share((config,)))


# ---- bad links -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"link": "2"}, "of version '2'; this Candid reads version 1"),
        ({"link": None}, "lacks its part 'link'"),
        ({"data": None}, "must say which data"),
        ({"data": "digitz"}, "called 'digitz'.*digits"),
        ({"method": "produn"}, "no method called 'produn'.*'proden'"),
        ({"epochs": "many"}, "epochs is many; it must be a whole number from 1"),
        ({"epochs": "0"}, "epochs is 0"),
        ({"epochs": "1e9"}, "epochs is 1,000,000,000"),
        ({"epochs": "10000000000"}, "epochs"),
        ({"lr": "nan"}, "lr is nan; it must be a number"),
        ({"lr": "-1"}, "lr is -1"),
        ({"recipe": "/etc/passwd.json"}, "recipe is '/etc/passwd.json'; it must be auto"),
        ({"q": "1.5"}, r"q is 1\.5; it must be a number from 0 to 1"),
        ({"flip": None}, "has q but no flip"),
        ({"flip": "coin"}, "no way to make candidates called 'coin'"),
        ({"flip": "matrix", "q": None, "matrix": "[[1,"}, "matrix is .* must be JSON"),
        ({"flip": "matrix", "q": None, "matrix": '[["a"]]'}, "matrix"),
        ({"seed": "-1"}, "seed is -1"),
        ({"holdout": "2"}, "holdout is 2"),
        ({"epohcs": "3"}, "'epohcs' that means nothing here.*Did you mean 'epochs'"),
        ({"update_every": "3"}, "'update_every' that means nothing here"),  # not a setting of PRODEN
        ({"view": "ghost"}, "view is 'ghost'; it must be one of examples, one-example"),
        ({"hidden": "settings,everything"}, "hidden names 'everything'"),
        ({"paused": "later"}, "paused is later; it must be true or false"),
        ({"pace": "0"}, "pace is 0"),
        ({"data": None, "file": "a.csv", "sha256": "../../etc"}, "sha256 is '../../etc'"),
        ({"data": None, "file": "a.csv"}, "lacks its part 'sha256'"),
        ({"data": None, "file": "a.csv", "sha256": SHA, "options": '{"danger": 1}'}, "options is"),
        ({"noisy": "guess"}, "guess"),
    ],
)
def test_a_bad_link_says_which_part_is_wrong(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        from_query(query(**parts), views=VIEWS)


@given(
    some.dictionaries(
        some.sampled_from(sorted([*PARTS, "options", "votes", "matrix"])),
        some.lists(some.text(max_size=8), min_size=1, max_size=2),
    )
)
def test_whatever_a_link_holds_it_is_understood_or_refused_in_words(parts: dict[str, list[str]]) -> None:
    try:
        share = from_query(query() | parts, views=VIEWS)
    except UserError as error:
        assert str(error)
    else:
        assert isinstance(share, Share)


# ---- machines --------------------------------------------------------------------------------------------------------


def test_threads_are_kept_where_the_machine_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    share = Share((replace(DIGITS, params={"threads": 8}),))
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert on_this_machine(share) == (share, ())
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    fewer, notes = on_this_machine(share)
    assert fewer.configs[0].params == {"threads": 2}
    assert "used 8 CPU threads and this machine has 2" in notes[0]
