"""Text features from a pretrained language model: one vector a text (Reimers & Gurevych, EMNLP 2019).

The models are those of sentence-transformers (extra `embeddings`). Only safetensors files are loaded and no code of a
model's repository is run. Embeddings are stored on disk by model and text, so that a second run, another split or
one more text does not compute it again.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from pll.dataset import PartialLabelDataset
from pll.errors import UserError, first_line
from pll.features.base import Features, Featuriser
from pll.features.texts import texts_of
from pll.images import torchvision
from pll.io import Arrays, Progress, save_array
from pll.paths import candid_home
from pll.training.devices import choose_device, visited

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""22 million weights, 384 features; English. Multilingual: `paraphrase-multilingual-MiniLM-L12-v2`."""

AT_ONCE = 32
SAVE_AFTER_TEXTS = 1024
"""Texts after which embeddings are saved; a stopped run continues from there."""

_DOWNLOADED = ("*.json", "*.txt", "*.model", "*.safetensors")
"""Files of a model's repository that are downloaded: settings, vocabulary and weights, nothing that can hold code."""
_FEATURE = np.dtype("<f4")


class EmbeddingFeatures(Featuriser):
    """Features of texts from a sentence-transformers model.

    Parameters
    ----------
    model
        Folder of a saved model, or its name on the Hugging Face hub (`all-MiniLM-L6-v2`, `owner/name`). A model by name
        is taken from the user's hub cache, else downloaded into it.
    device
        As for `choose_device`; `"auto"` uses a GPU if available.
    """

    name = "embedding"
    title = "Texts as a language model understands them"
    reads = ("texts",)
    dimensions: int

    def __init__(self, model: str = DEFAULT_MODEL, device: str = "auto") -> None:
        self.model = model
        self.device = device
        self.weights_sha256 = ""

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls(argument or DEFAULT_MODEL)

    def names_a_folder(self) -> bool:
        """Return whether the model is given by a path instead of a name on the hub."""
        return re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", self.model) is None or Path(self.model).exists()

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        """Obtain the model; nothing is trained.

        Parameters
        ----------
        data
            The training part.
        progress
            As for every featuriser.
        """
        texts_of(data)  # raises its error before a download
        _library()  # raises its error before a download
        self._folder = _model_folder(self.model, progress)
        self.weights_sha256 = _weights_hash(self._folder)
        self.dimensions = _dimensions(self._encoder, self.model)
        return self

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        texts = texts_of(data)
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16] for text in texts]
        cache = _Cache(candid_home() / "embeddings" / self.weights_sha256[:16], self.dimensions)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in cache}
        # Texts of similar length share a batch, so that little of it is padding.
        ordered = sorted(missing.items(), key=lambda item: -len(item[1]))
        computed = len(texts) - len(ordered)
        with visited(choose_device(self.device), self._encoder) if ordered else nullcontext():
            for start in range(0, len(ordered), AT_ONCE):
                some = ordered[start : start + AT_ONCE]
                vectors = self._encoder.encode([text for _, text in some], batch_size=AT_ONCE, show_progress_bar=False)
                cache.add([key for key, _ in some], np.asarray(vectors, dtype=np.float32))
                computed += len(some)
                if progress is not None:
                    progress("texts", computed, len(texts))
        cache.save()
        return cache.rows(keys)

    @cached_property
    def _encoder(self) -> Any:
        """The model in memory. Raises UserError if the files are not those it was fitted with."""
        if not hasattr(self, "_folder"):
            self._folder = _model_folder(self.model, None)
        if _weights_hash(self._folder) != self.weights_sha256:
            raise UserError(
                f"The language model in {self._folder} is not the one these features were made with; "
                f"put back the one whose weights have the SHA-256 {self.weights_sha256[:12]}…, or train again."
            )
        library = _library()
        try:
            with _silent_bars():
                return library.SentenceTransformer(
                    str(self._folder),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
        except Exception as error:  # whatever a damaged or foreign folder makes the library raise
            raise UserError(
                f"The language model in {self._folder} cannot be loaded ({first_line(error)}). "
                "It must be a folder saved by sentence-transformers with safetensors weights."
            ) from error

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"embedding {k + 1}" for k in range(self.dimensions))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {"model": self.model, "weights_sha256": self.weights_sha256, "dimensions": self.dimensions}, {}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        restored = cls(str(settings["model"]))
        restored.weights_sha256 = str(settings["weights_sha256"])
        restored.dimensions = int(settings["dimensions"])
        return restored


class _Cache:
    """Vectors by the hash of their text, in files of one folder a model; a file that is damaged is computed again."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder, self._dimensions = folder, dimensions
        self._rows: dict[bytes, npt.NDArray[np.float32]] = {}
        self._unsaved: list[bytes] = []
        for file in sorted(folder.glob("*.npy")):
            self._read(file)

    def _read(self, file: Path) -> None:
        try:
            stored = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return
        if stored.dtype == self._record:
            self._rows.update(zip((key.tobytes() for key in stored["key"]), stored["vector"], strict=True))

    @property
    def _record(self) -> np.dtype[np.void]:
        return np.dtype([("key", "u1", (16,)), ("vector", _FEATURE, (self._dimensions,))])

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def add(self, keys: list[bytes], vectors: npt.NDArray[np.float32]) -> None:
        """Add vectors (B, d); they are on disk after `save`, or after `SAVE_AFTER_TEXTS` of them."""
        self._rows.update(zip(keys, vectors, strict=True))
        self._unsaved += keys
        if len(self._unsaved) >= SAVE_AFTER_TEXTS:
            self.save()

    def save(self) -> None:
        """Write new embeddings. On a full or read-only disk the cache is incomplete, the features are not."""
        if not self._unsaved:
            return
        stored = np.empty(len(self._unsaved), dtype=self._record)
        stored["key"] = [np.frombuffer(key, dtype=np.uint8) for key in self._unsaved]
        stored["vector"] = self.rows(self._unsaved)
        name = hashlib.sha256(b"".join(self._unsaved)).hexdigest()[:32]
        with suppress(OSError):
            save_array(self._folder / f"{name}.npy", stored)
        self._unsaved = []

    def rows(self, keys: list[bytes]) -> Features:
        """Return the vectors of these texts, (n, d)."""
        if not keys:
            return np.empty((0, self._dimensions), dtype=np.float32)
        return np.stack([self._rows[key] for key in keys])


def _library() -> Any:
    """Import sentence-transformers.

    Raises
    ------
    UserError
        It is not installed.
    """
    torchvision()  # transformers imports it, and its two operators must be declared first
    try:
        return importlib.import_module("sentence_transformers")
    except ImportError as error:
        raise UserError(
            "Language models need sentence-transformers; install it with: pip install 'candid-labels[embeddings]'. "
            "Without it, learn from the words (tfidf).",
            shell="--features tfidf",
        ) from error


def _model_folder(model: str, progress: Progress | None) -> Path:
    """Return the folder of a model: itself a folder, else of the hub cache, into which it is downloaded if missing.

    Raises
    ------
    UserError
        No such folder, or it cannot be downloaded.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or model.startswith((".", "~")):
        raise UserError(f"There is no folder {model!r}; name the folder of a model saved by sentence-transformers.")
    hub = importlib.import_module("huggingface_hub")
    repository = model if "/" in model else f"sentence-transformers/{model}"
    try:
        return Path(hub.snapshot_download(repository, local_files_only=True, allow_patterns=_DOWNLOADED))
    except Exception:  # not in the cache: whatever the reason, it has to be downloaded
        pass
    try:
        bar = type("_Bar", (_ReportingBar,), {"progress": staticmethod(progress)}) if progress else None
        with _silent_bars():
            return Path(hub.snapshot_download(repository, allow_patterns=_DOWNLOADED, tqdm_class=bar))
    except Exception as error:  # network, unknown name, no permission: the hub has an error class for each
        raise UserError(
            f"The language model {model!r} is neither a folder nor in the cache of this computer, and it could not be "
            f"downloaded ({first_line(error)}). Check the name and the network, or copy the model's folder here and "
            "give its path.",
            shell="--features embedding:/path/of/the/folder",
        ) from error


class _ReportingBar(tqdm):  # type: ignore[type-arg]  # generic in its stub alone
    """A progress bar that reports bytes to `progress` and draws nothing."""

    progress: Progress

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._counts_bytes = kwargs.get("unit") == "B"
        kwargs.pop("name", None)  # of the hub's own bar
        super().__init__(*args, **{**kwargs, "file": io.StringIO()})

    def update(self, n: float | None = 1) -> bool | None:
        drawn: bool | None = super().update(n)
        if self._counts_bytes:
            self.progress("bytes of the language model", int(self.n), int(self.total) if self.total else None)
        return drawn


@contextmanager
def _silent_bars() -> Iterator[None]:
    """Have transformers draw no progress bar of its own meanwhile."""
    logging = importlib.import_module("transformers.utils.logging")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def _weights_hash(folder: Path) -> str:
    """Return the SHA-256 of the weights files of a model.

    Raises
    ------
    UserError
        There are none.
    """
    files = sorted(folder.rglob("*.safetensors"))
    if not files:
        raise UserError(
            f"{folder} holds no .safetensors file; only such weights are loaded, since other files can hold code. "
            "Save the model again with sentence-transformers, which writes them."
        )
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    settings = folder / "modules.json"
    if settings.is_file():  # the same weights with another pooling give other features
        digest.update(json.dumps(json.loads(settings.read_text(encoding="utf-8"))).encode())
    return digest.hexdigest()


def _dimensions(encoder: Any, model: str) -> int:
    result = encoder.get_embedding_dimension()
    if not result:
        raise UserError(f"The model {model!r} gives no vectors of texts; use one made for sentence-transformers.")
    return int(result)
