"""A whole site around a single file: the page, its engine, the index and the model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gossamer.errors import WrongState
from gossamer.files import write_file
from gossamer.single.model_file import model_file_of
from gossamer.store import ModelStamp
from gossamer.store.unwritable import explaining

__all__ = ["Site", "add_model_file", "page_file", "page_folder", "site_of"]

INDEX = "index.gossamer"
_MODEL_ENDING = ".model.gossamer"
_FIRST = "index.html"  # without it there is no page
_PAGE_MODEL = f"pocket{_MODEL_ENDING}"  # what the page indexes with; it ships with the models


@dataclass(frozen=True)
class Site:
    """A folder for a web host."""

    index: Path  # where the single file goes
    files: tuple[Path, ...]  # of the page


def page_folder() -> Path | None:
    """Give where the built page is; None if it was not built."""
    folder = Path(str(resources.files("gossamer.server") / "web"))
    return folder if (folder / _FIRST).is_file() else None


def page_file(page: Path, name: str) -> Path:
    """Give where a file of the built page is: its model is that of the package."""
    return _packaged_model() if name == _PAGE_MODEL else page / name


def _packaged_model() -> Path:
    return Path(str(resources.files("gossamer.models") / "data" / "pocket.gossamer"))


@contextmanager
def site_of(folder: Path | None) -> Iterator[Site]:
    """Make a folder with the page, for an index to be put into; nothing without a folder.

    WrongState if the page was not built.
    """
    if folder is None:
        yield Site(Path(INDEX), ())
        return
    page = page_folder()
    if page is None:
        raise WrongState("the page is not built here: `make web` builds it, and wheels have it")
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.relative_to(page): path for path in page.rglob("*") if path.is_file()}
        found[Path(_PAGE_MODEL)] = _packaged_model()
        for name, path in found.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    yield Site(folder / INDEX, tuple(folder / name for name in sorted(found)))


def add_model_file(stamp: ModelStamp, index: Path) -> Path | None:
    """Put the model beside a single file, by its own name; None if pages cannot load it."""
    found = model_file_of(stamp)
    if found is None:
        return None
    target = index.with_name(f"{stamp.name}{_MODEL_ENDING}")
    write_file(target, [found.read_bytes()])
    return target
