"""An edge: an index that follows a server's, by packages, and sends changes back to it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from gossamer.errors import (
    Damaged,
    GossamerError,
    Locked,
    NoIndex,
    NotGossamer,
    TooLarge,
    Truncated,
    UnknownVersion,
    Unreachable,
    Untrusted,
    WrongState,
)
from gossamer.files import make_folder, make_private_folder
from gossamer.io_errors import explaining
from gossamer.progress import ProgressCallback
from gossamer.store import open_index
from gossamer.store.folder import read_manifest
from gossamer.store.hot import HOT
from gossamer.store.lock import hold_lock
from gossamer.store.manifest import Manifest
from gossamer.store.trust import (
    accepted_servers,
    is_trusted,
    name_server,
    named_servers,
    refuse,
)
from gossamer.store.vacant import check_is_free
from gossamer.sync.apply import Applied, apply_package, rename
from gossamer.sync.client import Client, clean_url
from gossamer.sync.download import PART, PART_FACTS, Wanted, download, forget_download
from gossamer.sync.edge_vectors import ENGINE, graph_bytes
from gossamer.sync.following import (
    FOLLOW,
    SYNC,
    TOKEN,
    UNANSWERED,
    Following,
    base_of,
    following_of,
    read_following,
)
from gossamer.sync.outbox import OUTBOX
from gossamer.sync.package import Package
from gossamer.sync.records import PROTOCOL, Base, Conflict, Mode, check_texts
from gossamer.web import is_loopback

__all__ = ["Edge", "PullReport", "Wish", "follow"]

_NOT_FOLLOWED = "its server is not asked"
_OWN_NAMES = {FOLLOW, PART, PART_FACTS, ENGINE, OUTBOX, SYNC}
# What a package is that was damaged on its way, or was never what it should be.
_UNFIT = (Damaged, Truncated, NotGossamer, TooLarge)


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull did."""

    kind: str  # "delta", "snapshot", or "current": there was nothing to do
    from_version: int  # 0 if there was nothing before
    version: int
    bytes_received: int = 0
    bytes_by_section: Mapping[str, int] = field(default_factory=dict)  # as they were sent
    documents_changed: int = 0
    documents_removed: int = 0
    conflicts: tuple[Conflict, ...] = ()  # that came since the last pull
    fell_back: str = ""  # why a snapshot was taken where a delta was asked for
    # Bytes by part, of an edge with a budget: what was expected, and what it is.
    estimate: Mapping[str, int] = field(default_factory=dict)
    actual: Mapping[str, int] = field(default_factory=dict)
    over_budget: int = 0  # bytes that it has grown beyond its budget
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of `follow`; None leaves what was chosen before, or the usual."""

    mode: str | None = None
    texts: str | None = None
    budget: int | None = None
    token: str = ""
    model: str = ""


def follow(url: str, folder: Path, wish: Wish) -> Edge:
    """Let a folder follow a server: a new or empty one, or one that follows this index already.

    Nothing is pulled yet. WrongState for a folder that holds anything else, Untrusted for an edge
    that was neither made nor accepted here.
    """
    url = clean_url(url)
    manifest = _manifest_of(folder)
    if manifest is not None and not is_trusted(folder, manifest):
        raise refuse(folder, manifest, _NOT_FOLLOWED)
    known = following_of(folder, manifest)
    remembered = _remembered_token(folder, url)
    token = wish.token or remembered or os.environ.get(TOKEN, "")
    with Client(url, token) as client:
        _check_folder(folder, manifest, client)
        if wish.model:
            from gossamer.embed import load_embedder

            load_embedder(wish.model)  # MissingModel before anything is pulled
        chosen = _choose(url, wish, known)
        if chosen.budget is not None:
            plan = client.plan(Mode.parse(chosen.mode), chosen.texts, chosen.budget)
            chosen = replace(chosen, mode=str(Mode.parse(plan.mode)), texts=check_texts(plan.texts))
    with explaining(folder):
        make_private_folder(folder)
    name_server(folder, url)
    # What the environment says is not written down.
    replace(chosen, token=wish.token or remembered).save(folder)
    return Edge(folder, replace(chosen, token=token))


class Edge:
    """A folder that follows a server."""

    def __init__(self, folder: Path, following: Following, new_token: str = "") -> None:
        self.folder = folder
        self.following = following
        self._new_token = new_token  # to be written down once the server has taken it

    @classmethod
    def open(cls, folder: Path, token: str = "", *, trust: bool = False) -> Edge:
        """Open an edge; NoIndex if there is no index, WrongState if it follows no server.

        A token that is given takes the place of the one that was written down, once the server
        has taken it. Untrusted if nobody here said that it follows that server, unless it is to
        be trusted.
        """
        manifest = _manifest_of(folder)
        following = following_of(folder, manifest)
        if following is None:
            read_manifest(folder)  # NoIndex if there is none at all
            raise WrongState(
                f"the index in {folder} follows no server; `gossamer pull URL FOLDER` makes one "
                "that does"
            )
        if not trust:
            _check_trust(folder, manifest, following)
        if token and token != following.token:
            return cls(folder, replace(following, token=token), token)
        return cls(folder, following)

    def remember_token(self) -> None:
        """Write a new token down: the server has taken it."""
        if self._new_token:
            self.following.save(self.folder)
            self._new_token = ""

    @property
    def is_overheard(self) -> bool:
        """Whether the token is sent where others may read it."""
        parts = urlsplit(self.following.url)
        is_local = is_loopback(parts.hostname)
        return bool(self.following.token) and parts.scheme == "http" and not is_local

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Speak with the server."""
        with Client(self.following.url, self.following.token) as client:
            yield client

    def pull(
        self,
        progress: ProgressCallback | None = None,
        *,
        again: bool = False,
        pause: Callable[[float], None] = time.sleep,
        wait_s: float = 0.0,
    ) -> PullReport:
        """Bring the edge up to date, by a delta where that is possible; `again`: from nothing.

        Unreachable if the server does not answer; the edge stays as it was, and what came of a
        package is kept for the next time. Locked if another process pulls and is not done within
        `wait_s`.
        """
        start = time.perf_counter()
        with self._locked(wait_s), self.client() as client:
            base = None if again else self._base()
            epoch = _check_server(client, self._origin(), base)
            self.remember_token()
            with suppress(OSError):  # it answers: searches may ask it again
                (self.folder / SYNC / UNANSWERED).unlink(missing_ok=True)
            pulling = _Pulling(self, client, progress, pause, again, epoch)
            try:
                report = pulling.run(base)
            except _UNFIT as error:
                forget_download(self.folder)
                self._check_own()
                if base is None:
                    raise _given_up(client, error) from error
                report = pulling.fall_back(error)
        return replace(report, seconds=time.perf_counter() - start)

    def _base(self) -> Base | None:
        """Give the state that a delta may begin from; None where a snapshot is needed."""
        manifest, wanted = _manifest_of(self.folder), self.following
        if manifest is None:
            return None
        origin = manifest.origin
        is_same = (origin.get("mode"), origin.get("texts")) == (wanted.mode, wanted.texts)
        return base_of(manifest) if is_same else None

    def _check_own(self) -> None:
        """Raise Damaged if it is the edge itself that does not fit together."""
        with suppress(NoIndex):
            open_index(self.folder)

    def _origin(self) -> Mapping[str, object]:
        manifest = _manifest_of(self.folder)
        return {} if manifest is None else manifest.origin

    @contextmanager
    def _locked(self, wait_s: float) -> Iterator[None]:
        """Let one process pull at a time; others may search meanwhile."""
        with ExitStack() as stack:
            with explaining(self.folder):
                make_folder(self.folder / SYNC)
                stack.enter_context(hold_lock(self.folder / SYNC, "pull", wait_s))
                for left_behind in (self.folder / ENGINE, *self.folder.glob(".package.*.part")):
                    left_behind.unlink(missing_ok=True)
            yield


@dataclass(frozen=True, slots=True)
class _Pulling:
    """One pull: a package fetched, verified and applied."""

    edge: Edge
    client: Client
    progress: ProgressCallback | None
    pause: Callable[[float], None]
    again: bool
    epoch: str  # that the server is in

    def run(self, base: Base | None) -> PullReport:
        """Fetch and apply what leads from a base to the newest version."""
        following, folder = self.edge.following, self.edge.folder
        own = _base_of_folder(folder)
        from_version = 0 if own is None else own.version
        wanted = Wanted(following.mode, following.texts, base)
        path = download(self.client, folder, wanted, self.progress, self.pause)
        if path is None:
            rename(folder, following, self.epoch)
            return PullReport("current", from_version, from_version)
        try:
            with Package.open(path, following.token) as package:
                applied = apply_package(folder, package, wanted, following, may_go_back=self.again)
                report = _report_of(package, applied, own, path.stat().st_size)
        except GossamerError as error:
            if not isinstance(error, Locked):
                forget_download(folder)
            raise
        forget_download(folder)
        return self._with_sizes(report, applied)

    def fall_back(self, reason: GossamerError) -> PullReport:
        """Take a snapshot because a delta did not do; once."""
        try:
            return replace(self.run(None), fell_back=str(reason))
        except _UNFIT as error:
            forget_download(self.edge.folder)
            raise _given_up(self.client, error) from error

    def _with_sizes(self, report: PullReport, applied: Applied) -> PullReport:
        following = self.edge.following
        if following.budget is None:
            return report
        actual = _sizes_of(applied)
        over = max(actual["total"] - following.budget, 0)
        report = replace(report, actual=actual, over_budget=over)
        if report.kind != "snapshot":
            return report
        # What was pulled is here, whether or not the server still says what it had expected.
        with suppress(Unreachable):
            plan = self.client.plan(Mode.parse(following.mode), following.texts, None)
            report = replace(report, estimate=plan.estimate)
        return report


def _report_of(package: Package, applied: Applied, own: Base | None, size: int) -> PullReport:
    head = package.head
    return PullReport(
        kind=head.kind,
        from_version=0 if own is None else own.version,
        version=head.version,
        bytes_received=size,
        bytes_by_section={entry.name: entry.size for entry in head.sections},
        documents_changed=applied.documents_changed,
        documents_removed=applied.documents_removed,
        # A snapshot brings all that ever were; those of others' pasts are no news.
        conflicts=tuple(
            conflict
            for conflict in applied.conflicts
            if head.base is not None or (own is not None and conflict.version > own.version)
        ),
    )


def _check_trust(folder: Path, manifest: Manifest | None, following: Following) -> None:
    """Refuse to ask a server that the folder names, and nobody on this machine did."""
    if manifest is not None and not is_trusted(folder, manifest):
        raise refuse(folder, manifest, _NOT_FOLLOWED)
    if following.url not in accepted_servers(folder):
        raise Untrusted(
            f"{folder} says that it follows {following.url}, which nobody said on this machine; "
            f"if that is right: `gossamer pull {following.url} {folder}`"
        )


def _remembered_token(folder: Path, url: str) -> str:
    """Give the token that was written down: for the server that it was given for, no other."""
    with suppress(Damaged):
        known = read_following(folder)
        return known.token if known is not None and known.url == url else ""
    return ""


def _choose(url: str, wish: Wish, known: Following | None) -> Following:
    """Put what is asked for to what was chosen before, and the usual to that."""
    budget = wish.budget
    if budget is None and known is not None and wish.mode is None:
        budget = known.budget
    usual = "codes" if wish.budget is None else "slim"
    mode = wish.mode or (known.mode if known is not None and wish.budget is None else usual)
    texts = check_texts(wish.texts or ("kept" if known is None else known.texts))
    model = wish.model or ("" if known is None else known.model)
    return Following(url, "", str(Mode.parse(mode)), texts, budget, model)


def _check_folder(folder: Path, manifest: Manifest | None, client: Client) -> None:
    """Refuse a folder that holds something else than an edge of this server's index."""
    info = client.info()
    _check_protocol(info["protocol"])
    if manifest is None:
        # What waits there for a first pull is ours only if somebody here began it.
        check_is_free(folder, _OWN_NAMES if named_servers(folder) else ())
    elif not manifest.origin:
        raise WrongState(
            f"there is an index in {folder} that follows no server; choose a new or empty folder"
        )
    elif manifest.origin.get("index") != info["index"]:
        raise WrongState(
            f"{folder} follows another index ({manifest.origin.get('url')}) than the one at "
            f"{client.url}; choose a new or empty folder, or delete this one"
        )


def _check_server(client: Client, origin: Mapping[str, object], base: Base | None) -> str:
    """Refuse a server that has another index now, speaks otherwise, or has gone back in time.

    Give the epoch that it is in.
    """
    info = client.info()
    _check_protocol(info["protocol"])
    if origin and info["index"] != origin.get("index"):
        raise WrongState(
            f"there is another index at {client.url} now ({info['index']}) than the one that was "
            f"followed ({origin.get('index')}); pull it into a new or empty folder"
        )
    if base is not None and info["version"] < base.version:
        raise WrongState(
            f"the server at {client.url} is at version {info['version']} and this edge at "
            f"{base.version}: the server was put back to an older state. `gossamer pull --again` "
            "takes that state, and what came later is gone from here too"
        )
    return str(info["epoch"])


def _check_protocol(protocol: int) -> None:
    if protocol != PROTOCOL:
        raise UnknownVersion(
            f"the server speaks version {protocol} of the protocol, and this release {PROTOCOL}; "
            "bring the older of the two up to date"
        )


def _given_up(client: Client, error: GossamerError) -> Damaged:
    return Damaged(
        f"what {client.url} sent does not fit together ({error}). The index here is as it was; "
        "try again later, and if it stays so, restart the server, or pull into a new folder"
    )


def _sizes_of(applied: Applied) -> dict[str, int]:
    """Add up what an edge takes on the disk, by the parts of an estimate."""
    folder, manifest = applied.snapshot.folder, applied.snapshot.manifest
    sizes = applied.snapshot.part_bytes()
    graph = sum(graph_bytes(folder / entry.name) for entry in manifest.files_of("vectors"))
    hot = (folder / HOT).stat().st_size if (folder / HOT).is_file() else 0
    sizes |= {"vectors": sizes["vectors"] - graph + hot, "graph": graph}
    return {**sizes, "total": sum(sizes.values())}


def _manifest_of(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except NoIndex:
        return None


def _base_of_folder(folder: Path) -> Base | None:
    manifest = _manifest_of(folder)
    return None if manifest is None else base_of(manifest)
