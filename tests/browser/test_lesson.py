"""The lesson without a server, opened from its folder: it trains as `pll` does, and everything on it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from tests.browser.conftest import NewPage
from tools.lesson import write_lesson

pytestmark = pytest.mark.browser
slow = pytest.mark.slow
NAMES = {"proden": "proden", "sudden": "proden-sudden", "naive": "proden-naive", "supervised": "pn-oracle"}
EPOCHS = 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lesson")
    write_lesson(path)
    return path


@pytest.fixture
def lesson(folder: Path, new_page: NewPage) -> Iterator[Callable[..., Any]]:
    """`lesson("idea=own&toy-q=0.7", **settings of the browser)`; whatever is not of the folder fails the test."""
    asked: list[str] = []

    def open_lesson(state: str = "", **settings: Any) -> Any:
        page = new_page(**settings)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"file://{folder}/index.html#{state}")
        return page

    yield open_lesson
    assert [url for url in asked if not url.startswith(("file://", "data:", "blob:"))] == []


# ---- golden: the same numbers as the library -------------------------------------------------------------------------


class Double(nn.Module):
    """The lesson's network in float64, as a model of an estimator."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b, dtype=torch.float64), nn.Tanh())]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layers(x.double())
        return out

    def flat(self) -> list[float]:
        linear = (layer for layer in self.layers if isinstance(layer, nn.Linear))
        return torch.cat([torch.cat([one.weight, one.bias[:, None]], dim=1).flatten() for one in linear]).tolist()


def clouds() -> tuple[np.ndarray, np.ndarray, CandidateSets]:
    generator = np.random.default_rng(3)
    y = np.arange(60) % 3
    centres = 0.55 * np.stack([np.cos(2 * np.pi * y / 3), np.sin(2 * np.pi * y / 3)], axis=1)
    X = (centres + 0.2 * generator.normal(size=(60, 2))).astype(np.float32)
    return X, y, CandidateSets.from_mask(np.eye(3, dtype=bool)[y] | (generator.random((60, 3)) < 0.5))


GOLDEN = [
    pytest.param(method, model, marks=[] if (method, model) == ("proden", "linear") else slow)
    for method in NAMES
    for model in ("linear", "mlp")
]


@pytest.mark.parametrize(("method", "model"), GOLDEN)
def test_it_trains_as_the_library(lesson: Callable[..., Any], method: str, model: str) -> None:
    page = lesson()
    X, y, sets = clouds()
    lists = [sets[i].tolist() for i in range(len(sets))]
    points = {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "truth": y.tolist(), "sets": lists}
    sizes = page.evaluate("model => SIZES[model]", model)
    estimator = METHODS[NAMES[method]](
        model=lambda shape, c: Double(sizes), epochs=EPOCHS, batch_size=16, lr=0.1, weight_decay=0.0, scale="none",
        device="cpu", seed=0,
    )  # fmt: skip
    assert isinstance(estimator, DeepEstimator)
    start: list[float] = []
    batches: list[list[list[int]]] = [[] for _ in range(EPOCHS)]

    def watch() -> None:  # called before every mini-batch
        assert estimator.trainer is not None and isinstance(estimator.trainer.network, Double)
        start[:] = start or estimator.trainer.network.flat()
        batches[estimator.trainer.epoch].append(next(estimator.trainer.batches_left()).tolist())

    records = [record.label_weights.copy() for record in estimator.iter_fit(Task(X, sets, y), hook=watch)]
    how = {"method": method, "parameters": start, "epochs": EPOCHS, "lr": 0.1, "batches": batches, "sizes": sizes}
    frames = page.evaluate(
        "({points, how}) => train(points, {...how, network: new Network(how.sizes)}).map((f) => f.weights.flat())",
        {"points": points, "how": how},
    )
    assert len(batches[0]) == 4 and len(frames) == EPOCHS + 1
    np.testing.assert_allclose(frames[0], sets.uniform_weights(), atol=1e-7)
    np.testing.assert_allclose(np.array(frames[1:]), np.stack(records), rtol=0, atol=1e-5)


@slow
def test_candidate_sets_are_drawn_by_binomial_flipping(lesson: Callable[..., Any]) -> None:
    drawn = lesson().evaluate("flipBinomial(Array.from({length: 6000}, (_, i) => i % 3), 3, 0.3, generator(5))")
    assert all(i % 3 in one and len(one) > 1 for i, one in enumerate(drawn))
    share = np.mean([(i + 1) % 3 in one for i, one in enumerate(drawn)])
    assert share == pytest.approx(0.3 + 0.7**2 / 2, abs=0.03)  # or the one that joins where none did


@slow
@pytest.mark.parametrize("reading", ["mean", "min", "weights"])
def test_the_landscape_point_by_point(lesson: Callable[..., Any], reading: str) -> None:
    page = lesson()
    result = page.evaluate(
        """reading => {
            const l = new Landscape(0.6, 20);
            return {angles: l.angles, sets: l.sets, risk: l.risk(33, 3, reading), slope: l.slope(33, 3, reading)};
        }""",
        reading,
    )

    def risk(theta: float) -> float:
        total = 0.0
        for angle, labels in zip(result["angles"], result["sets"], strict=True):
            z = [math.exp(3 * math.cos(angle - math.radians(120 * j + theta))) for j in range(3)]
            own = [z[j] / sum(z) for j in labels]
            costs = [-math.log(g) for g in own]
            total += {"mean": sum(costs) / len(costs), "min": min(costs), "weights": -math.log(sum(own))}[reading]
        return total / len(result["angles"])

    assert result["risk"] == pytest.approx(risk(33), abs=1e-9)
    if reading != "mean":  # no ball rolls there
        assert result["slope"] == pytest.approx((risk(33.001) - risk(32.999)) / 0.002, rel=1e-3)


# ---- what a class does -----------------------------------------------------------------------------------------------


def canvas(page: Any) -> Any:
    return page.locator(".toy canvas")


def told(page: Any, words: str) -> None:
    """Waits until the picture says so to those who do not see it."""
    page.locator(f'.toy canvas[aria-label*="{words}"]').wait_for()


def spot(page: Any, x: float, y: float) -> tuple[float, float]:
    """Where a place of the plane is on the page, in the first panel."""
    left, top, side = page.evaluate(
        "(() => { const p = plots.get(document.querySelector('.toy')); return [...p.corners[0], p.side]; })()"
    )
    box = canvas(page).bounding_box()
    return box["x"] + left + (x + 1) / 2 * side, box["y"] + top + (1 - y) / 2 * side


@slow
def test_every_idea_asks_then_shows(lesson: Callable[..., Any]) -> None:
    page = lesson()
    titles = page.evaluate("Object.values(LESSON.titles)")
    for number, title in enumerate(titles):
        assert page.locator("h1").inner_text() == title
        if number < len(titles) - 1:
            words = page.locator("main .words").inner_text()
            page.locator(".guess input").first.click()
            assert page.locator(".guess .verdict").count() == 1
            assert len(page.locator("main .words").inner_text()) > len(words) - 200
            page.get_by_role("button", name="Next").click()
        for formula in page.get_by_text("Show the formula").all():
            formula.click()
    assert page.get_by_role("button", name="Next").is_disabled()
    page.mouse.click(5, 5)
    page.keyboard.press("ArrowLeft")
    assert page.locator("h1").inner_text() == titles[-2]
    page.go_back()
    page.go_back()
    assert page.locator("h1").inner_text() == titles[-2]


@slow
def test_a_guess_is_judged_once(lesson: Callable[..., Any]) -> None:
    page = lesson("idea=stuck")
    assert page.get_by_text("It rests at").count() == 0
    page.get_by_label("In the valley of the true labels").click()
    page.get_by_text("It is: In another valley.").wait_for()
    page.get_by_role("slider", name="Start the ball at").fill("20")
    page.get_by_text("From here it finds the true labels").wait_for()
    page.get_by_text("That was before the settings changed").wait_for()  # moving on does not judge again
    page.get_by_role("button", name="Ask again").click()
    page.get_by_label("In the valley of the true labels").click()
    page.get_by_text("✓ Right.").wait_for()
    page.get_by_role("button", name="Ask again").click()
    page.get_by_role("button", name="Show the answer").click()
    assert page.get_by_text("It rests at").count() == 1 and page.locator(".verdict").count() == 0


@slow
def test_both_methods_on_the_same_points(lesson: Callable[..., Any]) -> None:
    page = lesson("idea=together&toy-epoch=60")
    told(page, "before training")  # until somebody has guessed
    assert not page.locator(".toy .play").is_visible()
    page.get_by_role("button", name="Show the answer").click()
    told(page, "after epoch 60")
    page.locator(".toy .begin").click()
    told(page, "before training")
    page.locator(".toy .play").click()
    told(page, "after epoch 60")
    assert "Min alone (sudden)" in str(canvas(page).get_attribute("aria-label"))
    page.get_by_text("With the truth").click()
    page.get_by_text("what true labels would give").wait_for()
    page.get_by_role("button", name="Is that luck?").click()
    assert page.locator(".starts i").count() == 30
    page.get_by_text("Show as a table").click()
    page.locator(".table tbody tr").nth(59).wait_for()
    assert "epoch 60" in page.locator(".table thead").inner_text()


@slow
def test_points_are_made_by_hand_and_a_link_holds_them(lesson: Callable[..., Any], tmp_path: Path) -> None:
    page = lesson("idea=own&own-model=mlp&toy-q=0.7&toy-start=4")
    page.get_by_role("button", name="+ C").click()
    page.mouse.click(*spot(page, -0.9, 0.9))
    page.get_by_text("Point 60 · truly C").wait_for()
    told(page, "61 points")
    page.keyboard.press("Escape")
    page.mouse.move(*spot(page, -0.9, 0.9))
    page.mouse.down()
    page.mouse.move(*spot(page, 0.0, 0.0), steps=4)
    page.mouse.move(*spot(page, 0.9, -0.9), steps=4)
    page.mouse.up()
    candidates = page.get_by_role("group", name="Its candidates")
    for name in "AB":
        candidates.get_by_text(name, exact=True).set_checked(True)
    candidates.get_by_text("C", exact=True).set_checked(False)
    page.get_by_text("1 point has no true label among the candidates").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Points as CSV").click()
    download.value.save_as(tmp_path / "points.csv")
    data = Source("points.csv", str(tmp_path / "points.csv")).load()
    assert data.X.shape == (61, 2) and data.X[60].tolist() == pytest.approx([0.9, -0.9], abs=0.02)
    assert data.y is not None and data.y[60] == 2 and data.sets()[60].tolist() == [0, 1]
    page.get_by_role("button", name="Copy link").click()
    state = page.url.split("#")[1]
    again = lesson(state)
    told(again, "61 points")
    frames = "ground.trained('proden', settings.get('own-model')).frames.at(-1).weights"
    assert again.evaluate(frames) == page.evaluate(frames)  # the very points, sets and start
    again.get_by_role("button", name="Reset points").click()
    told(again, "60 points")


@pytest.mark.parametrize(
    "state", ["idea=x&toy-q=7&toy-start=-1&toy-lr=2&points=zz", "toy-q=&points=!!&own-methods=a,b"]
)
@slow
def test_an_address_that_cannot_be_meant_is_passed_over(lesson: Callable[..., Any], state: str) -> None:
    page = lesson(state)
    assert page.evaluate("[settings.text(), ground.count, at]") == ["", 60, "partial"]


@slow
def test_everything_goes_by_keyboard(lesson: Callable[..., Any]) -> None:
    page = lesson("idea=own")
    canvas(page).focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    page.get_by_text("Point 2 · truly C").wait_for()
    before = page.evaluate("ground.points.x[2]")
    page.keyboard.press(" ")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    page.locator(".toy .now").get_by_text("point 2 put down").wait_for()
    assert page.evaluate("ground.points.x[2]") == pytest.approx(before - 0.16, abs=0.01)
    page.get_by_role("button", name="+ A").focus()
    page.keyboard.press("Enter")
    told(page, "61 points")
    page.get_by_text("Point 60 · truly A").wait_for()


@slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone(lesson: Callable[..., Any], scheme: str) -> None:
    page = lesson(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    for idea in page.evaluate("Object.keys(LESSON.titles)"):
        page.evaluate("idea => go(idea)", idea)
        if page.locator(".guess").count():
            page.get_by_role("button", name="Show the answer").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, idea
        words, figure = (page.locator(f"main .{part}").bounding_box() for part in ("words", "figure"))
        assert figure["y"] >= words["y"] + words["height"] and words["width"] > 300, idea
    assert canvas(page).bounding_box()["width"] > 300


@slow
def test_axe_finds_nothing_serious(lesson: Callable[..., Any]) -> None:
    package = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python (requirements-dev.txt)")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text("utf-8")
    for scheme in ("light", "dark"):
        page = lesson(color_scheme=scheme)
        page.evaluate(axe)
        for idea in page.evaluate("Object.keys(LESSON.titles)"):
            page.evaluate("idea => go(idea)", idea)
            if page.locator(".guess").count():
                page.get_by_role("button", name="Show the answer").click()
            found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")["violations"]
            serious = [
                f"{one['id']}: {one['nodes'][0]['html'][:200]}"
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], (idea, scheme)


@slow
def test_the_teachers_sheet_is_right_and_one_page(lesson: Callable[..., Any], folder: Path) -> None:
    page = lesson()
    found = {
        "14.8 %": "partial",
        "sure of 3": "minimum",
        "118°": "stuck",
        "−18°": "weights",
        "40 of 60": "together",
    }
    for answer, idea in found.items():
        page.evaluate("idea => go(idea)", idea)
        page.get_by_role("button", name="Show the answer").click()
        assert answer in page.locator("main").inner_text(), idea
    page.get_by_role("link", name="For teachers").click()
    sheet = page.locator("main").inner_text()
    assert all(answer in sheet for answer in found)
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
