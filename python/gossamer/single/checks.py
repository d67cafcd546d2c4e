"""What a single file says of itself, which may be a stranger's: read, and compared."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gossamer.errors import Damaged, InvalidArgument, NotGossamer, UnknownVersion
from gossamer.single.container import Container
from gossamer.single.kinds import MANIFEST
from gossamer.single.portable import SINGLE
from gossamer.store import Catalogue, Manifest, Settings
from gossamer.store.manifest import FORMAT, VERSION, VERSION_OF_ONE_CATALOGUE, manifest_of
from gossamer.store.ratio import most_unpacked
from gossamer.vectors.options import parse_bytes
from gossamer.vectors.vector_index import VectorIndex

__all__ = [
    "SEGMENT_NUMBER",
    "check_catalogue",
    "check_engine",
    "check_places",
    "check_texts",
    "read_manifest",
]

SEGMENT_NUMBER = 1  # what the file's segment is called while it is read
_MOST_MANIFEST_BYTES = 1 << 24
_OLD_SINGLE = 1
_LEXICAL = ("scan", "fts5")
_LARGEST_CODE = 64


def read_manifest(container: Container) -> Manifest:
    """Give the manifest; NotGossamer, UnknownVersion or Damaged if it is not as it should be."""
    if not container.has(MANIFEST):
        raise NotGossamer(
            "the file is one of the engine's alone, with no texts; `gossamer export` writes whole "
            "indexes"
        )
    data = container.section(MANIFEST)
    try:
        values: Any = json.loads(data.tobytes()) if len(data) <= _MOST_MANIFEST_BYTES else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise Damaged("the manifest of the file is none")
    version = (values.get("version"), values.get("single"))
    if version not in ((VERSION_OF_ONE_CATALOGUE, _OLD_SINGLE), (VERSION, SINGLE)):
        raise UnknownVersion(
            f"the file is of version {version[0]}.{version[1]}, and this release reads "
            f"{VERSION}.{SINGLE}; use the release that wrote it, or a newer one"
        )
    # Folders have files, and a checksum behind it all; here the sections have theirs.
    try:
        manifest = manifest_of({**values, "files": []})
        _check_settings(manifest.settings)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidArgument) as error:
        raise Damaged(f"the manifest of the file does not hold what it should ({error})") from None
    return manifest


def _check_settings(settings: Settings) -> None:
    kind, _, budget = settings.keep.partition(":")
    if kind == "hot":
        parse_bytes(budget)
    elif settings.keep not in ("none", "all"):
        raise ValueError(f"keep={settings.keep!r}")
    if settings.lexical not in _LEXICAL or not 0 < settings.code_bytes <= _LARGEST_CODE:
        raise ValueError(f"lexical={settings.lexical!r}, code_bytes={settings.code_bytes}")


def check_places(catalogue: Catalogue, manifest: Manifest) -> None:
    """Look at where the catalogue says that texts are, and at the ids of chunks."""
    segments, _ = catalogue.text_places
    if (segments != SEGMENT_NUMBER).any():
        raise Damaged("the catalogue names texts that are not in the file")
    ids = catalogue.chunk_ids
    if len(ids) and not (ids[0] > 0 and ids[-1] < manifest.next_chunk_id):
        raise Damaged("the catalogue has chunks that are yet to come")


def check_catalogue(catalogue: Catalogue, manifest: Manifest) -> None:
    """Look at what opening leaves to those who read a record."""
    check_places(catalogue, manifest)
    for row in range(catalogue.source_count):
        catalogue.source(row)
    for row in range(catalogue.document_count):
        catalogue.document(row)
    if len(set(catalogue.names)) != catalogue.source_count:
        raise Damaged("the catalogue has a source twice")


def check_texts(catalogue: Catalogue, length: int, file_bytes: int) -> None:
    """Compare documents with the texts, which no two of them share and which fill no disk."""
    _, offsets = catalogue.text_places
    order = np.argsort(offsets, kind="stable")
    ends = (offsets + catalogue.text_lengths)[order]
    if len(ends) and (ends.max() > length or (ends[:-1] > offsets[order][1:]).any()):
        raise Damaged("documents lie beyond the texts, or share some")
    if length > (most := most_unpacked(file_bytes)):
        raise Damaged(
            f"the texts unpack to {length} bytes, where a file of {file_bytes} may hold {most}; "
            "export the index again with this release, which leaves room for them"
        )


def check_engine(index: VectorIndex, manifest: Manifest, catalogue: Catalogue) -> None:
    """Compare the engine with what the manifest says, and with the chunks."""
    stats = index.stats()
    if stats.dim != manifest.model.dim:
        raise Damaged(f"vectors have {stats.dim} dimensions, the model {manifest.model.dim}")
    if stats.code_bytes not in (0, manifest.settings.code_bytes):
        raise Damaged(f"codes have {stats.code_bytes} bytes, not {manifest.settings.code_bytes}")
    if manifest.settings.keep == "all" and stats.keep != "all":
        raise Damaged("the manifest says that all vectors are kept, and they are not")
    if not np.array_equal(np.sort(index.ids), catalogue.chunk_ids):
        raise Damaged(f"{len(index)} vectors do not belong to {catalogue.chunk_count} chunks")
