"""A new index: what may be chosen for it, and its first state."""

from __future__ import annotations

from pathlib import Path

from gossamer.embed import load_embedder
from gossamer.errors import InvalidArgument
from gossamer.model import stamp_of
from gossamer.models import default_model, packs
from gossamer.store import Settings, begin
from gossamer.store.manifest import MANIFEST
from gossamer.store.vacant import check_is_free
from gossamer.vectors.options import parse_bytes

__all__ = ["create_index"]

# Bytes of code for a chunk where the model ships no codebook of another size.
_CODE_BYTES = 32
_LEAST_CODE_BYTES, _MOST_CODE_BYTES = 2, 64  # what the engine takes
_LEAST_CHUNK_TOKENS = 32
_KEEPS = "none, all, or hot:BYTES such as hot:50MB"


def create_index(
    folder: Path,
    model: str | None,
    *,
    chunk_tokens: int,
    code_bytes: int | None,
    store_text: bool,
    keep: str,
    lexical: str,
    threads: int,
) -> None:
    """Make an empty index in a new or empty folder; InvalidArgument for what cannot be chosen."""
    embedder = load_embedder(model or default_model(), threads=threads)
    size = chunk_tokens or embedder.max_tokens
    if not _LEAST_CHUNK_TOKENS <= size <= embedder.max_tokens:
        raise InvalidArgument(
            f"chunk_tokens must be {_LEAST_CHUNK_TOKENS} to {embedder.max_tokens} for "
            f"{embedder.name}, got {chunk_tokens}"
        )
    pack = packs.shipped_pack(embedder.fingerprint)
    own = _CODE_BYTES if pack is None else pack.codebook.code_bytes
    settings = Settings(
        code_bytes=own if code_bytes is None else _check_code_bytes(code_bytes, embedder.dim),
        store_text=store_text,
        keep=_check_keep(keep),
        lexical=_check_lexical(lexical),
    )
    if not (folder / MANIFEST).exists():  # said later, when no other process makes it
        check_is_free(folder)
    with begin(folder, "create") as writer:
        if writer.snapshot is not None:
            raise InvalidArgument(
                f"there is an index in {folder} already; open it, or choose another folder"
            )
        stamp = stamp_of(embedder, size)
        writer.commit(writer.changes(), save_vectors=None, model=stamp, settings=settings, roots=())


def _check_code_bytes(code_bytes: int, dim: int) -> int:
    most = min(_MOST_CODE_BYTES, dim + 1)
    if not _LEAST_CODE_BYTES <= code_bytes <= most:
        raise InvalidArgument(
            f"code_bytes must be {_LEAST_CODE_BYTES} to {most} for this model, got {code_bytes}"
        )
    return code_bytes


def _check_keep(keep: str) -> str:
    kind, _, budget = keep.partition(":")
    if kind == "hot":
        parse_bytes(budget)
    elif keep not in ("none", "all"):
        raise InvalidArgument(f"keep must be {_KEEPS}; got {keep!r}")
    return keep


def _check_lexical(lexical: str) -> str:
    if lexical not in ("scan", "fts5"):
        raise InvalidArgument(f"lexical must be 'scan' or 'fts5', got {lexical!r}")
    return lexical
