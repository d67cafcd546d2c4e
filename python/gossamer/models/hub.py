"""Models of a model hub, over HTTPS: only files that are read as data, none of them code."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from gossamer.errors import Damaged, MissingModel, Unreachable
from gossamer.models.hashes import hash_file
from gossamer.progress import ProgressCallback

__all__ = ["download_repository"]

_SETTINGS = (
    "config.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)
_TOKENIZERS = ("tokenizer.json", "vocab.txt")
_GRAPHS = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx")
_TABLE = "model.safetensors"
_BLOCK = 1 << 20
_TIMEOUT_S = 60
_MAX_LIST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class _Remote:
    """A file of the hub; `sha256` and `size` are empty and -1 where the hub does not say."""

    name: str
    url: str
    sha256: str
    size: int


def download_repository(name: str, folder: Path, progress: ProgressCallback | None = None) -> None:
    """Fetch the model files of a repository into `folder`, continuing what was begun there.

    Raises MissingModel when it holds neither an ONNX model nor a token table with a tokenizer.
    """
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    revision, remotes = _list_files(endpoint, name)
    hashes = {}
    for remote in _choose(name, remotes):
        target = folder / remote.name
        if not target.is_file():
            _download(remote, target, progress)
        hashes[remote.name] = hash_file(target)
    facts = {"name": name, "origin": f"{endpoint}/{name}", "revision": revision, "sha256": hashes}
    (folder / "gossamer-model.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


def _list_files(endpoint: str, name: str) -> tuple[str, dict[str, _Remote]]:
    url = f"{endpoint}/api/models/{name}?blobs=true"
    with _open(url, {}) as answer:
        body = answer.read(_MAX_LIST_BYTES)
    try:
        found = json.loads(body)
        revision = str(found["sha"])
        files = {}
        for entry in found["siblings"]:
            path = str(entry["rfilename"])
            large = entry.get("lfs") or {}
            size = large.get("size", entry.get("size"))
            at = f"{endpoint}/{name}/resolve/{urllib.parse.quote(revision)}/{path}"
            files[path] = _Remote(
                path, at, str(large.get("sha256", "")), size if isinstance(size, int) else -1
            )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreachable(
            f"{url} did not answer with a list of files; is HF_ENDPOINT a model hub?"
        ) from error
    return revision, files


def _choose(name: str, remotes: dict[str, _Remote]) -> list[_Remote]:
    """Pick what is needed; names come from our own lists, so they stay inside the folder."""
    weights = [path for path in (*_GRAPHS, _TABLE) if path in remotes][:1]
    tokenizers = [path for path in _TOKENIZERS if path in remotes][:1]
    if not weights or not tokenizers:
        raise MissingModel(
            f"{name} holds no model that can be used: expected {' or '.join(_GRAPHS)}, or a token "
            f"table {_TABLE}, and {' or '.join(_TOKENIZERS)}"
        )
    beside = [f"{weights[0]}_data"] if f"{weights[0]}_data" in remotes else []
    settings = [path for path in _SETTINGS if path in remotes]
    return [remotes[path] for path in (*settings, *tokenizers, *weights, *beside)]


def _download(remote: _Remote, target: Path, progress: ProgressCallback | None) -> None:
    """Fetch one file; what an interrupted download left is kept and continued."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    begun = part.stat().st_size if part.is_file() else 0
    try:
        answer = _open(remote.url, {"Range": f"bytes={begun}-"} if begun else {})
    except _NothingLeft:
        part.unlink()
        begun, answer = 0, _open(remote.url, {})
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        done = file.tell()
        try:
            while block := answer.read(_BLOCK):
                file.write(block)
                done += len(block)
                if progress is not None:
                    progress(f"downloading {remote.name}", done, max(remote.size, 0))
        except (OSError, HTTPException) as error:
            raise Unreachable(
                f"the download of {remote.url} broke off after {done:,} bytes ({error}); "
                "try again, it goes on from there"
            ) from error
    _check(remote, part)
    os.replace(part, target)


def _check(remote: _Remote, part: Path) -> None:
    size = part.stat().st_size
    if 0 <= size < remote.size:
        raise Unreachable(
            f"the download of {remote.url} ended after {size:,} of {remote.size:,} bytes; "
            "try again, it goes on from there"
        )
    found = hash_file(part)
    if (remote.sha256 and found != remote.sha256) or (remote.size >= 0 and size != remote.size):
        part.unlink()
        raise Damaged(
            f"what came from {remote.url} is not what the hub announced ({size:,} bytes with "
            f"SHA-256 {found}); nothing of it was kept"
        )


class _NothingLeft(Exception):  # noqa: N818 - never leaves this file
    """The part file is as long as the file, or longer."""


def _open(url: str, headers: dict[str, str]) -> Any:
    if not url.startswith(("https://", "http://")):
        raise Unreachable(f"{url} is no web address; set HF_ENDPOINT to one that starts with https")
    request = urllib.request.Request(url, headers={"User-Agent": "gossamer", **headers})
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:
            raise _NothingLeft from error
        if error.code in (401, 403, 404):
            raise MissingModel(
                f"the model hub has no {url} for everyone (status {error.code}); check the name"
            ) from error
        raise Unreachable(f"{url} answered with status {error.code}; try again later") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(
            f"{url} could not be reached ({reason}); check the connection, set HF_ENDPOINT to a "
            "mirror, or give a folder of model files"
        ) from error
