"""The five real-world partial-label datasets of the paper, read from .mat files.

Each is published as a .rar, which needs an installed program to unpack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pll.catalog.entry import Checksum, Entry, File, Loader, files
from pll.dataset import PartialLabelDataset

_PAGE = "https://palm.seu.edu.cn/zhangml/Resources.htm"
_FILES = "//palm.seu.edu.cn/zhangml/files/"
_LICENCE = "for academic purpose only"


def _read(name: str) -> Loader:
    def load(paths: Mapping[str, Path]) -> PartialLabelDataset:
        from pll import formats

        return replace(formats.read(paths[name]), kind="array")

    return load


def _entry(
    *,
    name: str,
    title: str,
    about: str,
    size: tuple[int, int, int],
    mean_candidates: float,
    megabytes: float,
    file: str,
    archives: tuple[str, ...],
    other_names: tuple[str, ...] = (),
    blob: str = "",
) -> Entry:
    n, d, c = size
    mat = File(
        name=file,
        folder=name,
        page=_PAGE,
        urls=tuple(f"{scheme}:{_FILES}{archive}" for archive in archives for scheme in ("https", "http")),
        megabytes=megabytes,
        checksum=Checksum("git-blob", blob) if blob else None,
        other_names=other_names,
    )
    return Entry(
        name=name,
        title=title,
        about=about,
        kind="partial",
        n=n,
        shape=(d,),
        c=c,
        licence=_LICENCE,
        page=_PAGE,
        needs=files(mat),
        loader=_read(file),
        mean_candidates=mean_candidates,
    )


ENTRIES = (
    _entry(
        name="lost",
        title="Lost",
        about="Faces from a television series; the candidates are the names in the scene's script.",
        size=(1122, 108, 16),
        mean_candidates=2.23,
        megabytes=0.9,
        file="lost.mat",
        archives=("lost.rar",),
    ),
    _entry(
        name="birdsong",
        title="BirdSong",
        about="Syllables of bird song; the candidates are the species heard in the ten-second recording.",
        size=(4998, 38, 13),
        mean_candidates=2.18,
        megabytes=1.0,
        file="BirdSong.mat",
        archives=("BirdSong.rar",),
    ),
    _entry(
        name="msrcv2",
        title="MSRCv2",
        about="Segments of photographs; the candidates are the objects seen in the whole photograph.",
        size=(1758, 48, 23),
        mean_candidates=3.16,
        megabytes=0.4,
        file="MSRCv2.mat",
        archives=("MSRCv2.rar",),
    ),
    _entry(
        name="soccer-player",
        title="Soccer Player",
        about="Faces of football players; the candidates are the names in the photograph's caption.",
        size=(17_472, 279, 171),
        mean_candidates=2.09,
        megabytes=36.0,
        file="Soccer Player.mat",
        archives=("Soccer%20Player.rar", "SoccerPlayer.rar"),  # the page has had both
        other_names=("SoccerPlayer.mat",),
        blob="3372e7350e06eba374c715e07fbd18e2555e00ec",
    ),
    _entry(
        name="yahoo-news",
        title="Yahoo! News",
        about="Faces from news photographs; the candidates are the names in the caption.",
        size=(22_991, 163, 219),
        mean_candidates=1.91,
        megabytes=28.7,
        file="Yahoo! News.mat",
        archives=("Yahoo!%20News.rar", "Yahoo!News.rar"),
        other_names=("Yahoo!News.mat", "Yahoo News.mat", "YahooNews.mat"),
        blob="c9c3c35a6562ece4dffca8e7997c4c9cdcd12354",
    ),
)
