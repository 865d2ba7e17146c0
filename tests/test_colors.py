"""The colours do what pll.colors says of them; and the theme is made of the same colours."""

import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest

from pll import colors

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


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2, relative luminance)."""
    low, high = sorted((colors.luminance(a), colors.luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_every_class_is_legible_in_light_and_in_dark():
    for colour in colors.class_colours(60):
        for background in BACKGROUNDS:
            assert contrast(colour, background) >= 3, (colour, background)


@pytest.mark.parametrize(("first", "normal", "impaired"), [(10, 0.15, 0.045), (20, 0.075, 0.03)])
def test_classes_are_told_apart_by_every_kind_of_sight(first, normal, impaired):
    colours = colors.class_colours(first)
    assert closest(colours, "normal") >= normal
    for sight in ("protan", "deutan", "tritan"):
        assert closest(colours, sight) >= impaired, sight


def test_right_and_wrong_are_told_apart_by_every_kind_of_sight():
    for sight in SIGHT:
        assert closest([colors.RIGHT_COLOUR, colors.WRONG_COLOUR], sight) >= 0.12, sight
    for colour, background in itertools.product((colors.RIGHT_COLOUR, colors.WRONG_COLOUR), BACKGROUNDS):
        assert contrast(colour, background) >= 3


def theme() -> dict:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))


def test_the_theme_is_made_of_these_colours():
    settings = theme()["theme"]
    assert settings["chartCategoricalColors"] == colors.class_colours(20)
    assert tuple(settings["light"]["chartSequentialColors"]) == colors.WEIGHTS_LIGHT
    assert tuple(settings["dark"]["chartSequentialColors"]) == colors.WEIGHTS_DARK
    assert settings["light"]["backgroundColor"] == colors.LIGHT_BACKGROUND
    assert settings["dark"]["backgroundColor"] == colors.DARK_BACKGROUND
    assert {settings[mode]["primaryColor"] for mode in ("light", "dark")} == {colors.ACCENT}
