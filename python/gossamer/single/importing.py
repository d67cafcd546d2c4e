"""From a single file to an index folder: all of it is checked before anything is made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gossamer import _core
from gossamer.errors import (
    Damaged,
    InvalidArgument,
    ModelMismatch,
    NotGossamer,
    Truncated,
    UnknownVersion,
    WrongState,
)
from gossamer.files import map_file, write_file
from gossamer.models.packs import Pack, fitting_pack
from gossamer.models.registry import names_place
from gossamer.progress import ProgressCallback, silent
from gossamer.single.checks import (
    SEGMENT_NUMBER,
    check_catalogue,
    check_engine,
    check_texts,
    read_manifest,
)
from gossamer.single.container import Container, Section, container_parts, sections_of
from gossamer.single.kinds import (
    CALIBRATION,
    CATALOGUE,
    CODEBOOK,
    ENGINE,
    SEGMENT,
    TEXTS,
)
from gossamer.single.portable import with_short_roots
from gossamer.store import Catalogue, Manifest, Settings, Writer, begin
from gossamer.store.codecs import USUAL
from gossamer.store.manifest import MANIFEST as MANIFEST_FILE
from gossamer.store.ratio import most_unpacked
from gossamer.store.segments import SegmentCatalogue, SegmentTexts
from gossamer.store.vacant import check_is_free
from gossamer.store.writer import IMPORT_PREFIX
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["import_single_file"]


def import_single_file(
    path: Path,
    folder: Path,
    *,
    model: str = "",
    replace: bool = False,
    progress: ProgressCallback | None = None,
) -> None:
    """Make an index folder of a single file, whole or not at all.

    NotGossamer, UnknownVersion, Truncated or Damaged, and nothing is made, if the file is not as
    it should be; InvalidArgument if there is an index in the folder and it is not to be replaced;
    ModelMismatch if the file says itself where its model is, which `model` must say.
    """
    _check_folder(folder, replace)
    if path.is_dir():
        raise InvalidArgument(f"{path} is a folder; give a file that `gossamer export` wrote")
    try:
        file = map_file(path)
        container = Container(file)
        with _taking_back(folder), begin(folder, "import") as writer, _spool(folder) as aside:
            found = _read(container, len(file), aside, model)
            _commit(found, writer, replace, progress or silent)
    except FileNotFoundError as error:
        if error.filename is not None and Path(error.filename) == path:
            raise InvalidArgument(f"there is no file {path}") from None
        raise
    except (Damaged, NotGossamer, Truncated, UnknownVersion) as error:
        where = "" if str(error).startswith(str(path)) else f"{path}: "
        raise type(error)(f"{where}{error}") from None


@dataclass(frozen=True)
class _Found:
    """What a single file holds, checked."""

    manifest: Manifest
    catalogue: Catalogue
    texts: SegmentTexts
    engine: Path | None  # None while nothing is indexed


def _read(container: Container, file_bytes: int, aside: Path, model: str) -> _Found:
    manifest = _name_model(read_manifest(container), model)
    if container.has(CATALOGUE) and any(map(container.has, SEGMENT)):
        raise Damaged("the file has catalogues of two versions")
    if container.has(CATALOGUE):
        catalogue, texts = _read_old(container, aside)
    else:
        catalogue, texts = _read_segment(container, file_bytes, aside)
    check_catalogue(catalogue, manifest)
    check_texts(catalogue, texts.lengths[SEGMENT_NUMBER], file_bytes)
    engine = _read_engine(container, manifest, catalogue, aside / "engine.gsm")
    catalogue = with_short_roots(catalogue, np.arange(catalogue.source_count)).catalogue
    return _Found(manifest, catalogue, texts, engine)


def _read_segment(
    container: Container, file_bytes: int, aside: Path
) -> tuple[Catalogue, SegmentTexts]:
    path = aside / "segment.gss"
    write_file(path, container_parts(sections_of(container, SEGMENT)))
    segment = _core.Segment(SEGMENT_NUMBER, map_file(path), False, USUAL)
    if segment.unpacked_bytes > most_unpacked(file_bytes):
        raise Damaged(f"the catalogue unpacks to {segment.unpacked_bytes} bytes, which is too much")
    catalogue = SegmentCatalogue([segment], ())
    catalogue.words  # noqa: B018 - Damaged if they are no texts
    return catalogue, SegmentTexts([segment])


def _read_old(container: Container, aside: Path) -> tuple[Catalogue, SegmentTexts]:
    """Read a file of version 1, which has one catalogue, and texts apart from it."""
    path = aside / "texts.gst"
    path.write_bytes(container.section(TEXTS).data)
    catalogue = Catalogue.open(container.section(CATALOGUE).tobytes())
    return catalogue, SegmentTexts([_core.OldTexts(SEGMENT_NUMBER, map_file(path), USUAL)])


def _name_model(manifest: Manifest, model: str) -> Manifest:
    """Let whoever imports say where the model is; the file may only name it."""
    if not model and names_place(manifest.model.name):
        raise ModelMismatch(
            f"the model of the file is {manifest.model.name}, which is a place of whoever made it; "
            "say where the same model is for this machine: `gossamer import FILE --model PLACE`"
        )
    return replace(manifest, model=replace(manifest.model, name=model or manifest.model.name))


def _read_engine(
    container: Container, manifest: Manifest, catalogue: Catalogue, path: Path
) -> Path | None:
    """Check the engine's sections and give them as a file of their own; None if there are none.

    A codebook that ships with the model is left out, as in any folder.
    """
    kinds = [kind for kind in container.lengths if kind in ENGINE]
    if not kinds and not catalogue.chunk_count:
        return None
    pack = fitting_pack(manifest.model.fingerprint, manifest.settings.code_bytes)
    sections = [Section(kind, container.section(kind)) for kind in kinds]
    write_file(path, container_parts(sections))
    index = VectorIndex.open(path, codebook=None if pack is None else pack.codebook, verify=True)
    check_engine(index, manifest, catalogue)
    if not catalogue.chunk_count:
        return None
    is_shared = pack is not None and index.codebook is not None
    if is_shared and manifest.settings.keep == "all":
        index.save(path)  # such a folder has a codebook of its own
    elif is_shared and CODEBOOK in kinds and _is_same(container, pack):
        kept = [one for one in sections if one.kind not in (CODEBOOK, CALIBRATION)]
        write_file(path, container_parts(kept))
    return path


def _is_same(container: Container, pack: Pack | None) -> bool:
    return pack is not None and container.section(CODEBOOK).tobytes() == pack.codebook.to_bytes()


def _check_folder(folder: Path, may_replace: bool) -> None:
    if not (folder / MANIFEST_FILE).exists():
        check_is_free(folder)
    elif not may_replace:
        raise InvalidArgument(
            f"there is an index in {folder} already; choose another folder, or replace it"
        )


def _commit(found: _Found, writer: Writer, may_replace: bool, note: ProgressCallback) -> None:
    manifest = found.manifest
    if writer.snapshot is not None:
        _check_folder(writer.folder, may_replace)
        if writer.snapshot.manifest.origin:
            raise WrongState("the index there follows a server; choose another folder")
    changes = writer.changes(from_nothing=True, next_chunk_id=manifest.next_chunk_id)
    changes.take(found.catalogue, _texts_of(found, note))
    writer.commit(
        changes,
        save_vectors=lambda path: shutil.copyfile(found.engine or os.devnull, path),
        model=manifest.model,
        settings=_settings_of(manifest),
        roots=(),
        is_another=True,
        site=manifest.site,
    )


def _settings_of(manifest: Manifest) -> Settings:
    return replace(manifest.settings, store_text=True, walk={})


def _texts_of(found: _Found, note: ProgressCallback) -> Callable[[int], Iterator[bytes]]:
    """Give what reads the text of each document by its row, in pieces."""
    _, offsets = found.catalogue.text_places
    lengths = found.catalogue.text_lengths
    total, done = int(lengths.sum()), 0

    def read(row: int) -> Iterator[bytes]:
        nonlocal done
        start, length = int(offsets[row]), int(lengths[row])
        done += length
        note("texts", done, total)
        return found.texts.pieces(SEGMENT_NUMBER, start, start + length)

    return read


@contextmanager
def _spool(folder: Path) -> Iterator[Path]:
    """Give a folder within the index for what is not checked yet.

    Texts of a file lie there in the clear: with the index, which its owner alone can read, and the
    next change deletes what a process left that was killed.
    """
    with TemporaryDirectory(prefix=IMPORT_PREFIX, dir=folder) as aside:
        yield Path(aside)


@contextmanager
def _taking_back(folder: Path) -> Iterator[None]:
    """Leave no folder behind that was not there before, if what is done within fails."""
    was_there = folder.exists()
    with ExitStack() as stack:
        if not was_there:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield
        stack.pop_all()
