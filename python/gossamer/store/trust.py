"""Which indexes were made or accepted on this machine.

An index names folders to read, a model and perhaps a server. Whoever made it chose them, so they
are followed only if that was the owner of this machine: what was chosen or accepted here is
remembered in the user's settings, outside of the index, which anybody could have made.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path

from gossamer.errors import Untrusted, Unwritable
from gossamer.files import write_file
from gossamer.io_errors import explaining, reason_of
from gossamer.places import config_folder
from gossamer.store.manifest import Json, Manifest

__all__ = [
    "Claims",
    "accept",
    "accepted_servers",
    "claims_of",
    "find_former_place",
    "forget",
    "how_to_accept",
    "is_trusted",
    "name_server",
    "named_servers",
    "refuse",
    "remember",
]

_FOLDER = "trusted"  # below the user's settings: a file for each place
_MOST_BYTES = 1 << 24
_MOST_ROOTS_SAID = 10
_CACHES = ("hot.gsh", "words.sqlite", "words.sum", "words.sqlite-journal", "journal.gsj")


@dataclass(frozen=True)
class Claims:
    """What an index would have this machine do."""

    uuid: str
    model: str = ""
    roots: Sequence[str] = ()  # that are read again
    walk: Mapping[str, Json] = field(default_factory=dict)  # how
    server: str = ""  # that it follows

    def as_json(self) -> dict[str, Json]:
        """Give the claims as JSON has them, so that they compare."""
        values: dict[str, Json] = json.loads(json.dumps(asdict(self)))
        return values


def claims_of(manifest: Manifest) -> Claims:
    """Give what a manifest claims."""
    return Claims(
        uuid=manifest.uuid,
        model=manifest.model.name,
        roots=manifest.roots,
        walk=manifest.settings.walk,
        server=str(manifest.origin.get("url", "")),
    )


def is_trusted(folder: Path, manifest: Manifest) -> bool:
    """Whether what an index claims was chosen or accepted here, in this place."""
    return claims_of(manifest).as_json() in _read(folder)


def accepted_servers(folder: Path) -> set[str]:
    """Give the addresses that a folder may follow."""
    accepted = {str(claims["server"]) for claims in _read(folder) if claims.get("server")}
    return accepted | named_servers(folder)


def named_servers(folder: Path) -> set[str]:
    """Give those that were named on this machine, not by the index: they may have its tokens."""
    servers = _record_of(folder).get("servers")
    return set(map(str, servers)) if isinstance(servers, list) else set()


def name_server(folder: Path, url: str) -> None:
    """Remember that somebody here wants the folder to follow a server, and no other."""
    _write(folder, _read(folder), [url])


def accept(folder: Path, manifest: Manifest) -> None:
    """Remember that the owner of this machine takes an index as it is, in this place.

    Caches of an index that was never here are forgotten: they may hold anything.
    """
    former = find_former_place(folder, manifest)
    if not former and not _is_known(folder, manifest):
        _delete_caches(folder)
    _write(
        folder,
        [claims_of(manifest).as_json()],
        sorted(named_servers(Path(former) if former else folder)),
    )


def remember(folder: Path, claims: Claims, *, and_former: bool = False) -> None:
    """Remember what an index in this place may claim, instead of what it might before.

    With `and_former` that too: until a change is committed, either may be what the index says.
    Unwritable if the settings cannot be written.
    """
    known = _read(folder)
    wanted = [*known] if and_former else []
    if (new := claims.as_json()) not in wanted:
        wanted.append(new)
    if wanted != known:
        _write(folder, wanted, sorted(named_servers(folder)))


def forget(folder: Path) -> bool:
    """Forget an index; say whether it was known."""
    path = _path(folder)
    with explaining(path, "forget the index of"):
        is_known = path.exists()
        path.unlink(missing_ok=True)
    return is_known


def find_former_place(folder: Path, manifest: Manifest) -> str:
    """Give where the very same index was accepted before it was moved or copied; "" if nowhere."""
    claims = claims_of(manifest).as_json()
    try:
        paths = sorted(_path(folder).parent.glob("*.json"))
    except OSError:
        return ""
    for path in paths:
        record = _load(path)
        place = record.get("place")
        if isinstance(place, str) and claims in _claims_in(record):
            return place
    return ""


def refuse(folder: Path, manifest: Manifest, what: str) -> Untrusted:
    """Give the error that shows what an index claims, and says how to accept it."""
    claims = claims_of(manifest)
    shown = [repr(root) for root in claims.roots[:_MOST_ROOTS_SAID]]
    if len(claims.roots) > len(shown):
        shown.append(f"{len(claims.roots) - len(shown)} more")
    parts = [
        f"folders: {', '.join(shown) or 'none'}",
        f"model: {claims.model!r}",
        *([f"server: {claims.server!r}"] if claims.server else []),
    ]
    whose = "it was not made on this machine"
    if _is_known(folder, manifest):
        whose = "it names other things than when it was accepted"
    elif former := find_former_place(folder, manifest):
        whose = f"it is the index that was in {former}"
    # What was not shown is not to be accepted on the way.
    or_else = ", or --trust" if len(claims.roots) <= _MOST_ROOTS_SAID else ""
    return Untrusted(
        f"the index in {folder} is not trusted ({whose}), so {what}. It names "
        f"{'; '.join(parts)}. If that is what you want: `{how_to_accept(folder)}`{or_else}"
    )


def how_to_accept(folder: Path) -> str:
    """Give the command that accepts an index, wherever it is called from."""
    return f"gossamer trust {shlex.quote(os.path.abspath(folder))}"


def _path(folder: Path) -> Path:
    place = os.path.realpath(folder).encode("utf-8", "surrogateescape")
    return config_folder() / _FOLDER / f"{blake2b(place, digest_size=16).hexdigest()}.json"


def _is_known(folder: Path, manifest: Manifest) -> bool:
    """Whether an index of this uuid was accepted in this place, whatever it named."""
    return any(claims.get("uuid") == manifest.uuid for claims in _read(folder))


def _delete_caches(folder: Path) -> None:
    """Delete what can be made again, never what a link leads to."""
    sync = folder / "sync"
    with explaining(folder):
        for name in _CACHES:
            (folder / name).unlink(missing_ok=True)
        if sync.is_dir() and not sync.is_symlink():
            for path in (*sync.glob("single-*.gossamer"), *sync.glob("packages/*.gsp")):
                path.unlink(missing_ok=True)


def _read(folder: Path) -> list[dict[str, Json]]:
    return _claims_in(_record_of(folder))


def _record_of(folder: Path) -> dict[str, Json]:
    record = _load(_path(folder))
    return record if record.get("place") == os.path.realpath(folder) else {}


def _write(folder: Path, accepted: Sequence[Json], servers: Sequence[str]) -> None:
    path = _path(folder)
    record = {"place": os.path.realpath(folder), "accepted": accepted, "servers": servers}
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(path, [json.dumps(record, indent=1).encode("ascii")])
    except OSError as error:
        refused = Unwritable(
            f"cannot remember whose index this is in {path.parent}: {reason_of(error)}; "
            "GOSSAMER_HOME names another folder for settings. Nothing was changed"
        )
        refused.errno = error.errno
        raise refused from error


def _load(path: Path) -> dict[str, Json]:
    """Read a record; nothing is trusted by one that cannot be read."""
    try:
        with open(path, "rb") as file:
            record = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _claims_in(record: Mapping[str, Json]) -> list[dict[str, Json]]:
    accepted = record.get("accepted")
    listed = accepted if isinstance(accepted, list) else []
    return [claims for claims in listed if isinstance(claims, dict)]
