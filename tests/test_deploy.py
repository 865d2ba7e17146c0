"""The files with which a server is installed: they name settings, packages and files that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from pll.ui.server_settings import SERVER_SETTINGS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text("utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
UNIT = (DEPLOY / "candid.service").read_text("utf-8")


def test_every_variable_that_is_set_is_a_setting() -> None:
    named = set(re.findall(r"PLL_[A-Z_]+", DOCKERFILE + UNIT + (DEPLOY / "compose.yml").read_text("utf-8")))
    assert named <= {setting.name for setting in SERVER_SETTINGS} and {"PLL_HOME", "PLL_DATABASE_URL"} <= named


def test_the_services_fit_together() -> None:
    candid, database = COMPOSE["services"]["candid"], COMPOSE["services"]["db"]
    assert candid["environment"]["PLL_DATABASE_URL"].endswith("@db/candid")
    assert database["environment"]["POSTGRES_DB"] == database["environment"]["POSTGRES_USER"] == "candid"
    build = candid["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    volumes = [mount.split(":")[0] for mount in (*candid["volumes"], *database["volumes"]) if not mount.startswith(".")]
    assert sorted(volumes) == sorted(COMPOSE["volumes"])
    assert candid["read_only"] and candid["ports"][0].startswith("127.0.0.1:")


def test_the_image_gets_every_file_that_the_package_is_made_of() -> None:
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    copied = {line[1:] for line in ignore if line.startswith("!")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {"requirements.txt", "pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {name.strip("/") for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert needed <= copied and all((ROOT / name).exists() for name in copied)
