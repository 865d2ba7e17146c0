"""The colours do what pll.colors says of them; and the theme is made of the same colours."""

import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit import config

from pll import colors
from pll.colors import short_names

ROOT = Path(__file__).parents[1]
BACKGROUNDS = (colors.LIGHT_BACKGROUND, colors.DARK_BACKGROUND)

# Björn Ottosson's OKLab: linear light -> cone response -> lightness, green-red, blue-yellow.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear light.
SIGHT = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def seen(colour: str, sight: str) -> np.ndarray:
    light = np.clip(SIGHT[sight] @ colors.linear(colour), 0, 1)
    return OKLAB @ np.cbrt(CONES @ light)


def closest(colours: list[str], sight: str) -> float:
    labs = [seen(colour, sight) for colour in colours]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(labs, 2))


def test_oklab_of_white_and_red_is_the_published_one():
    assert seen("#ffffff", "normal") == pytest.approx([1, 0, 0], abs=1e-3)
    assert seen("#ff0000", "normal") == pytest.approx([0.628, 0.2249, 0.1258], abs=1e-3)


def test_every_class_is_legible_in_light_and_in_dark():
    for colour in colors.class_colours(60):
        for background in BACKGROUNDS:
            assert colors.contrast(colour, background) >= 3, (colour, background)


def test_a_class_keeps_its_colour_whatever_the_number_of_classes():
    longest = colors.class_colours(200)
    assert all(colors.class_colours(c) == longest[:c] for c in (0, 1, 2, 10, 21, 61, 199))
    assert len(set(longest[:60])) == 60
    assert longest[60:120] == longest[:60]


def test_further_cycles_keep_the_hue():
    colours = colors.class_colours(60)
    for j in range(20):
        hues = []
        for colour in (colours[j], colours[j + 20], colours[j + 40]):
            _, a, b = seen(colour, "normal")
            hues.append(np.array([a, b]))
        for other in hues[1:]:
            assert np.linalg.norm(other) < 0.02 or hues[0] @ other > 0.9 * np.linalg.norm(hues[0]) * np.linalg.norm(
                other
            )


@pytest.mark.parametrize(("first", "normal", "impaired"), [(10, 0.15, 0.045), (20, 0.075, 0.03)])
def test_classes_are_told_apart_by_every_kind_of_sight(first, normal, impaired):
    colours = colors.class_colours(first)
    assert closest(colours, "normal") >= normal
    for sight in ("protan", "deutan", "tritan"):
        assert closest(colours, sight) >= impaired, sight


LUMINANCE_OF = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def cielab(colour: str, sight: str) -> np.ndarray:
    light = np.clip(SIGHT[sight] @ colors.linear(colour), 0, 1)
    share = LUMINANCE_OF @ light / LUMINANCE_OF.sum(axis=1)
    root = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("c", range(2, 11))
def test_neighbours_around_the_star_are_ten_apart_for_every_kind_of_sight(c):
    """CIE76; the smallest difference by CIEDE2000, which weighs saturated colours less, is 12.4 for ten classes."""
    colours = colors.class_colours(c)
    for sight, (a, b) in itertools.product(SIGHT, zip(colours, colours[1:] + colours[:1], strict=True)):
        assert np.linalg.norm(cielab(a, sight) - cielab(b, sight)) >= 10, (a, b, sight)


def test_right_and_wrong_are_told_apart_by_every_kind_of_sight():
    for sight in SIGHT:
        assert closest([colors.RIGHT, colors.WRONG], sight) >= 0.12, sight
    for colour, background in itertools.product((colors.RIGHT, colors.WRONG), BACKGROUNDS):
        assert colors.contrast(colour, background) >= 3


def test_white_letters_on_the_accent_can_be_read_and_the_accent_stands_out():
    assert colors.contrast(colors.ACCENT, "#ffffff") >= 4.5
    assert all(colors.contrast(colors.ACCENT, background) >= 3 for background in BACKGROUNDS)


@pytest.mark.parametrize(
    ("scale", "background"),
    [(colors.WEIGHTS_LIGHT, colors.LIGHT_BACKGROUND), (colors.WEIGHTS_DARK, colors.DARK_BACKGROUND)],
)
def test_weights_have_one_hue_and_even_steps_away_from_the_background(scale, background):
    labs = np.array([seen(colour, "normal") for colour in scale])
    steps = np.diff(labs[:, 0])
    assert np.all(np.sign(steps) == np.sign(steps[0]))
    assert np.abs(steps).max() / np.abs(steps).min() < 1.25
    hues = np.rad2deg(np.arctan2(labs[:, 2], labs[:, 1]))
    assert np.ptp(hues) < 12
    contrasts = [colors.contrast(colour, background) for colour in scale]
    assert contrasts == sorted(contrasts)
    assert contrasts[-1] >= 10


def theme() -> dict:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))


def test_names_in_class_colours_can_be_read():
    """`ink` of canvas.js mixes 6 parts of the class colour with 4 of the text colour."""
    for mode in ("light", "dark"):
        text, background = theme()["theme"][mode]["textColor"], theme()["theme"][mode]["backgroundColor"]
        for colour in colors.class_colours(60):
            pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(text[1:]), strict=True)
            ink = "#" + "".join(f"{round(0.6 * a + 0.4 * b):02x}" for a, b in pairs)
            assert colors.contrast(ink, background) >= 4.5, (mode, colour)


def test_the_theme_is_made_of_these_colours():
    settings = theme()["theme"]
    assert settings["chartCategoricalColors"] == colors.class_colours(20)
    assert tuple(settings["light"]["chartSequentialColors"]) == colors.WEIGHTS_LIGHT
    assert tuple(settings["dark"]["chartSequentialColors"]) == colors.WEIGHTS_DARK
    assert settings["light"]["backgroundColor"] == colors.LIGHT_BACKGROUND
    assert settings["dark"]["backgroundColor"] == colors.DARK_BACKGROUND
    assert {settings[mode]["primaryColor"] for mode in ("light", "dark")} == {colors.ACCENT}


def test_text_and_links_of_the_theme_can_be_read():
    for mode in ("light", "dark"):
        colours = theme()["theme"][mode]
        for background in (colours["backgroundColor"], colours["secondaryBackgroundColor"]):
            assert colors.contrast(colours["textColor"], background) >= 7
            assert colors.contrast(colours["linkColor"], background) >= 4.5


def flattened(table: dict, prefix: str = "") -> list[str]:
    names = []
    for key, value in table.items():
        names += flattened(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
    return names


def test_streamlit_knows_every_option():
    names = flattened(theme())
    assert len(names) > 15
    for name in names:
        config.get_option(name)  # raises on a name that does not exist


def test_what_all_names_share_is_left_out() -> None:
    parts = ["shoulder left", "shoulder right", "hip left", "hip right"]
    assert short_names([f"Musculoskeletal disorder of the {part} (adult)" for part in parts]) == parts
    assert short_names(["cat", "car"]) == ["cat", "car"]  # short names stay whole


def test_long_names_keep_both_ends() -> None:
    first, second = short_names(["x" * 30 + " acute", "x" * 30 + " chronic"], most=16)
    assert first.endswith("acute") and second.endswith("chronic")


def test_names_that_differ_inside_are_not_longer_than_asked_for() -> None:
    names = ["joints of the lower limb", "joints of the upper limb", "Password / Login", "Password/Login"]
    assert max(map(len, short_names(names, most=13))) == 13


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=8, unique=True), st.integers(6, 30))
def test_different_names_stay_different_and_none_is_empty(names: list[str], most: int) -> None:
    short = short_names(names, most)
    assert len(set(short)) == len(names) and all(short)


def test_very_many_names_that_differ_in_the_middle_stay_different() -> None:
    names = [f"{'a' * 20}{k:05d}{'z' * 20}" for k in range(20_000)]
    assert len(set(short_names(names, most=12))) == len(names)
