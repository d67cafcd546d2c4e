"""A whole site around a single file: the page, its engine, the index and the model."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from gossamer.errors import InvalidArgument, WrongState
from gossamer.files import sync_folder, write_file
from gossamer.io_errors import explaining
from gossamer.models.hashes import hash_file
from gossamer.single.model_file import model_file_of
from gossamer.single.overwriting import objection_to_export
from gossamer.store import Manifest, ModelStamp
from gossamer.store.manifest import MANIFEST
from gossamer.targets import REPLACING, check_place

__all__ = ["MARKER", "ModelCopy", "Site", "model_copy", "page_file", "page_folder", "site_of"]

INDEX = "index.gossamer"
MARKER = "gossamer-site.json"  # which files of the folder were written by us, and what they held
_MARKER_FORMAT = "gossamer site"
_MOST_MARKER_BYTES = 1 << 20
_MODEL_ENDING = ".model.gossamer"
_FIRST = "index.html"  # without it there is no page
_PAGE_MODEL = f"pocket{_MODEL_ENDING}"  # what the page indexes with; it ships with the models

T = TypeVar("T")


def page_folder() -> Path | None:
    """Give where the built page is; None if it was not built."""
    folder = Path(str(resources.files("gossamer.server") / "web"))
    return folder if (folder / _FIRST).is_file() else None


def page_file(page: Path, name: str) -> Path:
    """Give where a file of the built page is: its model is that of the package."""
    return _packaged_model() if name == _PAGE_MODEL else page / name


def _packaged_model() -> Path:
    return Path(str(resources.files("gossamer.models") / "data" / "pocket.gossamer"))


@dataclass(frozen=True)
class Site:
    """What goes into a folder for a web host."""

    folder: Path
    index_uuid: str
    sources: Mapping[str, Path]  # by name in the folder: what is copied there
    has_model: bool  # of the index; pages cannot load every model

    @property
    def files(self) -> list[Path]:
        """All files that are written."""
        return [self.folder / name for name in [*sorted(self.sources), MARKER, INDEX]]

    def write(self, export: Callable[[Path], T], may_replace: bool) -> T:
        """Write page, model and index, which `export` writes to the path it gets; give its answer.

        Everything is written aside first: a full disk or a killed process leaves what is there.
        InvalidArgument, and nothing is written, if files that are in the way are not ours: they
        were not written by us, or have changed since, or are another index. They are named, and
        stay unless they may be replaced; links are never followed. Files of other names stay.
        """
        self._check(may_replace)
        with ExitStack() as stack:
            with explaining(self.folder, "write the site in"):
                stack.enter_context(_made(self.folder))
                aside = Path(
                    stack.enter_context(TemporaryDirectory(prefix=".site-", dir=self.folder))
                )
            exported = export(aside / INDEX)
            with explaining(self.folder, "write the site in"):
                self._copy_to(aside)
                self._check(may_replace)  # again: an export takes long enough to put files there
                self._move_from(aside)
            return exported

    def _check(self, may_replace: bool) -> None:
        if (self.folder / MANIFEST).exists():
            raise InvalidArgument(
                f"{self.folder} is an index, and all of a site is published; choose another folder"
            )
        for name in [*self.sources, MARKER, INDEX]:
            _check_folders(self.folder, name)
        if not may_replace and (theirs := list(self._objections())):
            raise InvalidArgument(
                f"{self.folder} holds what this export did not write, or what was changed since: "
                f"{', '.join(theirs)}; choose another folder, or let these files be replaced "
                f"with {REPLACING}"
            )

    def _objections(self) -> Iterator[str]:
        """Name the files that must stay, for all that we know."""
        written = _read_marker(self.folder / MARKER)
        for name, source in sorted(self.sources.items()):
            path = self.folder / name
            # By its bytes, where an older release or a process that was killed left no marker.
            known = ((written or {}).get(name), hash_file(source))
            if check_place(path) and hash_file(path) not in known:
                yield name
        if check_place(self.folder / MARKER) and written is None:
            yield MARKER
        if objection := objection_to_export(self.folder / INDEX, self.index_uuid):
            yield f"{INDEX} ({objection})"

    def _copy_to(self, aside: Path) -> None:
        for name, source in self.sources.items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            write_file(aside / name, [source.read_bytes()], is_public=True)
        digests = {name: hash_file(aside / name) for name in sorted(self.sources)}
        marker = {"format": _MARKER_FORMAT, "version": 1, "sha256": digests}
        data = json.dumps(marker, indent=1).encode("ascii") + b"\n"
        write_file(aside / MARKER, [data], is_public=True)

    def _move_from(self, aside: Path) -> None:
        usual = (aside / MARKER).stat().st_mode
        # The marker goes last: until then all is known by the one before, or by its bytes.
        for name in [*sorted(self.sources), INDEX, MARKER]:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            mode = path.stat().st_mode if path.exists() else usual
            os.chmod(aside / name, stat.S_IMODE(mode))
            os.replace(aside / name, path)
        for folder in {(self.folder / name).parent for name in [*self.sources, MARKER]}:
            sync_folder(folder)


def site_of(folder: Path, manifest: Manifest) -> Site:
    """Say what a site of this index is made of; nothing is written. WrongState without a page."""
    page = page_folder()
    if page is None:
        raise WrongState("the page is not built here: `make web` builds it, and wheels have it")
    found = [path for path in page.rglob("*") if path.is_file()]
    sources = {path.relative_to(page).as_posix(): path for path in found}
    sources[_PAGE_MODEL] = _packaged_model()
    model = model_copy(manifest.model, folder / INDEX)
    if model is not None:
        sources[model.target.name] = model.source
    return Site(folder, manifest.uuid, sources, model is not None)


@dataclass(frozen=True)
class ModelCopy:
    """A model that goes beside a single file, by its own name."""

    source: Path
    target: Path

    def check(self, may_replace: bool) -> None:
        """Refuse to write over anything but the same bytes, unless it may be replaced."""
        if not check_place(self.target) or may_replace:
            return
        if hash_file(self.source) != hash_file(self.target):
            raise InvalidArgument(
                f"{self.target} is there already and holds something else than the model; move "
                f"it away, or let it be replaced with {REPLACING}"
            )

    def write(self) -> None:
        """Write it, whole or not at all."""
        with explaining(self.target, "write"):
            write_file(self.target, [self.source.read_bytes()], is_public=True)


def model_copy(stamp: ModelStamp, index: Path) -> ModelCopy | None:
    """Say which model goes beside a single file; None if pages cannot load it.

    InvalidArgument if the single file itself has the name of the model's.
    """
    found = model_file_of(stamp)
    if found is None:
        return None
    target = index.with_name(f"{stamp.name}{_MODEL_ENDING}")
    if target == index:
        raise InvalidArgument(f"{index} is where the model goes; name the index otherwise")
    return ModelCopy(found, target)


def _check_folders(folder: Path, name: str) -> None:
    """Refuse links on the way to a file of the site, and files where a folder is to be."""
    for part in reversed(Path(name).parents):
        path = folder / part
        if path != folder and (path.is_symlink() or (path.exists() and not path.is_dir())):
            raise InvalidArgument(
                f"{path} is no folder, and {name} is to be written there; move it away"
            )
    check_place(folder / name)


def _read_marker(path: Path) -> dict[str, str] | None:
    """Give the digests of what was written by name; None if that is not a marker of ours."""
    try:
        if path.stat().st_size > _MOST_MARKER_BYTES:
            return None
        values = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.get("format") != _MARKER_FORMAT:
        return None
    digests = values.get("sha256")
    if not isinstance(digests, dict) or not all(isinstance(one, str) for one in digests.values()):
        return None
    return digests


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder; take back those that were not there before if what is done within fails."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for place in new:
            with suppress(OSError):  # someone put something into it
                place.rmdir()
        raise
