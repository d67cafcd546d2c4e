"""What an edge remembers of the server it follows: `follow.json`, which only its owner can read."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from gossamer.errors import Damaged
from gossamer.files import read_small, write_file
from gossamer.io_errors import explaining
from gossamer.models.registry import names_place
from gossamer.store import Manifest
from gossamer.store.trust import named_servers
from gossamer.sync.records import Base
from gossamer.web import parse_json

__all__ = [
    "FOLLOW",
    "SYNC",
    "TOKEN",
    "UNANSWERED",
    "Following",
    "base_of",
    "following_of",
    "read_following",
]

FOLLOW = "follow.json"
SYNC = "sync"  # a folder of an edge for locks and notes
UNANSWERED = "unanswered"  # a file there: the server did not answer a search lately
TOKEN = "GOSSAMER_TOKEN"  # the variable that a token is taken from where none was given
_MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Following:
    """Where a server is, and what an edge wants of it."""

    url: str
    token: str = ""
    mode: str = "codes"
    texts: str = "kept"
    budget: int | None = None
    model: str = ""  # where the model is on this machine; "" for the server's name of it

    def save(self, folder: Path) -> None:
        """Write it down, for its owner alone."""
        with explaining(folder):
            for left_behind in folder.glob(f".{FOLLOW}.*.part"):
                left_behind.unlink(missing_ok=True)
            data = json.dumps(asdict(self), indent=1).encode("ascii")
            write_file(folder / FOLLOW, [data], is_secret=True)


def read_following(folder: Path) -> Following | None:
    """Read what was written down; None if nothing was."""
    try:
        values = parse_json(read_small(folder / FOLLOW, _MOST_BYTES))
        names = {item.name for item in fields(Following)}
        following = Following(**{name: values[name] for name in values if name in names})
        _check_types(following)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, AttributeError):
        raise Damaged(
            f"{folder / FOLLOW} does not say which server is followed; `gossamer pull URL` with "
            "the server's address writes it anew"
        ) from None
    return following


def following_of(folder: Path, manifest: Manifest | None) -> Following | None:
    """Say whom an index follows, by its manifest if `follow.json` is of no use; None if nobody.

    An edge has no manifest before its first pull. A token that was not written down comes from
    the environment, for a server that was named on this machine.
    """
    following = None
    if manifest is None or manifest.origin:
        with suppress(Damaged):
            following = read_following(folder)
    if following is None and manifest is not None and manifest.origin:
        origin = manifest.origin
        url, mode, texts = (str(origin.get(name, "")) for name in ("url", "mode", "texts"))
        following = Following(url, "", mode, texts)
    if following is None:
        return None
    if (
        manifest is not None
        and names_place(following.model)
        and (following.model != manifest.model.name)
    ):
        # Nobody was shown that one: only what the manifest names is accepted.
        following = replace(following, model="")
    # Who set a token in the environment named the server here too, or it is another's.
    if following.token or following.url not in named_servers(folder):
        return following
    return replace(following, token=os.environ.get(TOKEN, ""))


def base_of(manifest: Manifest) -> Base | None:
    """Give the state that an edge is in; None if it is no edge."""
    epoch, version, state = (manifest.origin.get(name) for name in ("epoch", "version", "state"))
    if isinstance(epoch, str) and isinstance(version, int) and isinstance(state, str):
        return Base(epoch, version, state)
    return None


def _check_types(following: Following) -> None:
    budget = following.budget
    texts = (
        following.url,
        following.token,
        following.mode,
        following.texts,
        following.model,
    )
    if not all(isinstance(text, str) for text in texts) or not isinstance(budget, int | None):
        raise TypeError
