"""A server without HTTP: requests of an edge go straight to an `Offer`, and can be made to fail."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pytest
from copies import copy_index

from gossamer.errors import GossamerError, InvalidArgument, TooLarge, UnknownId, WrongState
from gossamer.index import Index
from gossamer.store import open_index
from gossamer.sync import remote_chunks
from gossamer.sync.follow import Edge, PullReport
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package, write_package
from gossamer.sync.records import Base, Building, Head, Mode, PushItem
from gossamer.sync.signing import NONCE, SIGNATURE, Answered, Asked, sign
from gossamer.web import Answer, NoAnswer

URL = "http://server.example"
TOKEN = "a-token-that-nobody-guesses"
QUESTIONS = ("whale in the sea", "lease of the harbour", "word7 word9")
FILES = {
    "a.md": "# Whales\n\nA whale swims in the sea.\n\n# Leases\n\nThe lease is due in May.\n",
    "b.txt": "The sea is deep and a lease is long.\n",
    "page.html": "<html><title>Page</title><body><h1>Harbour</h1><p>No whale.</p></body></html>",
}
Answers = list[tuple[int, str, str, float | None]]
STATUS = {UnknownId: 404, WrongState: 409, TooLarge: 413, InvalidArgument: 400}


class Reply:
    """As much of an `HTTPResponse` as an answer reads; it may break off."""

    def __init__(self, status: int, body: bytes = b"", cut_after: int | None = None, **headers):
        self.status = status
        self.length: int | None = len(body)
        self.until = float("inf")
        self.headers = {name.replace("_", "-").lower(): text for name, text in headers.items()}
        self.headers.setdefault("content-length", str(len(body)))
        self._body = body if cut_after is None else body[:cut_after]

    def sign(self, token: str, asked: Asked, *, is_file: bool = False) -> None:
        """Sign it as a server does."""
        body = None if is_file else self._body
        answered = Answered.of(self.status, lambda name: self.getheader(name, ""), body)
        self.headers[SIGNATURE.lower()] = sign(token, asked, answered)

    def getheader(self, name: str, default: str) -> str:
        return self.headers.get(name.lower(), default)

    def read(self, amt: int | None = None) -> bytes:
        block, self._body = self._body[:amt], self._body[amt or len(self._body) :]
        assert self.length is not None
        self.length -= len(block)
        return block


class OfferWire:
    """Carries requests to an offer. Public attributes say what goes wrong."""

    def __init__(self, offer: Offer, token: str = "") -> None:
        self.offer = offer
        self.token = token
        self.asked: list[tuple[str, str, Mapping[str, str]]] = []
        self.received: list[bytes] = []  # packages, and parts of them
        self.is_down = False
        self.refuses_token = False
        self.cut_after: int | None = None  # bytes of a package in each answer
        self.drops_answers = False  # of requests that change something
        self.change_package: Callable[[bytes], bytes] = lambda data: data
        self.change_info: Callable[[dict[str, object]], object] = lambda info: info
        self.before_package: Callable[[], None] = lambda: None

    @contextmanager
    def send(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Answer]:
        self.asked.append((method, target, dict(headers or {})))
        if self.is_down:
            raise NoAnswer("did not answer (down on purpose)")
        if self.refuses_token:
            refusal = {"error": "unauthorized", "message": "this server needs its token"}
            yield Answer(as_json(refusal, 401), float("inf"))
            return
        try:
            reply = self._reply(target, body or b"", headers or {})
        except GossamerError as error:
            status = next((s for kind, s in STATUS.items() if isinstance(error, kind)), 500)
            name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(error).__name__)
            reply = as_json({"error": name[1:], "message": str(error)}, status)
        if self.token and (nonce := (headers or {}).get(NONCE)):
            is_file = "/v1/sync/package" in target and reply.status in (200, 206)
            reply.sign(self.token, Asked.of(nonce, method, target, body), is_file=is_file)
        yield Answer(reply, float("inf"))

    def close(self) -> None:
        pass

    def _reply(self, target: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        given = json.loads(body) if body[:1] == b"{" else {}
        match parts.path.removeprefix("/v1/").split("/", 2):
            case ["sync"]:
                return as_json(self.change_info(self.offer.info()))
            case ["sync", "plan"]:
                budget = int(query["budget"]) if "budget" in query else None
                mode = Mode.parse(query["mode"])
                return as_json(asdict(self.offer.plan(mode, texts=query["texts"], budget=budget)))
            case ["sync", "package"]:
                return self._package(query, headers)
            case ["sync", "vectors"]:
                self._check_origin(given)
                mask, rows = self.offer.vectors(given["ids"])
                return Reply(200, mask.astype(np.uint8).tobytes() + rows.astype("<f2").tobytes())
            case ["sync", "chunks"]:
                self._check_origin(given)
                chunks = self.offer.chunks(given["ids"])
                return as_json({"chunks": [chunk and asdict(chunk) for chunk in chunks]})
            case ["sync", "push"]:
                items = [PushItem(**item) for item in given["items"]]
                return self._pushed([asdict(one) for one in self.offer.push(items)], "results")
            case ["sync", "files", name]:
                item = PushItem(query["op"], unquote(name), query.get("base", ""), file=body)
                return self._pushed(asdict(self.offer.push([item])[0]))
            case ["conflicts"]:
                found = self.offer.conflicts(int(query["after"]))
                return as_json({"conflicts": [asdict(one) for one in found]})
            case ["conflicts", number]:
                return as_json(asdict(self.offer.conflict(int(number))))
        raise AssertionError(target)

    def _check_origin(self, said: Mapping[str, str]) -> None:
        info = self.offer.info()
        if any(said[name] != info[name] for name in ("index", "epoch")):
            raise WrongState("there is another index here now")

    def _pushed(self, answer: object, name: str = "") -> Reply:
        if self.drops_answers:
            raise NoAnswer("broke off (dropped on purpose)")
        return as_json({name: answer} if name else answer)

    def _package(self, query: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        self.before_package()
        base = None
        if "state" in query:
            base = Base(query["epoch"], int(query["version"]), query["state"])
        mode = Mode.parse(query["mode"])
        found = self.offer.package(mode, texts=query["texts"], base=base)
        if found is None:
            return Reply(204)
        if isinstance(found, Building):
            return as_json(asdict(found), 202, retry_after="1")
        data = self.change_package(found.read_bytes())
        tag = f'"{data[-32:].hex()}"'
        start = 0
        if headers.get("If-Range") == tag and "Range" in headers:
            start = int(headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(data):
            return Reply(416, content_range=f"bytes */{len(data)}", etag=tag)
        self.received.append(data[start:][: self.cut_after])
        about = {"etag": tag, "content_range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
        return Reply(206 if start else 200, data[start:], self.cut_after, **about)


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), **headers)


class Server:
    """An index that is offered, and the wire to it."""

    def __init__(
        self, folder: Path, token: str = "", history_bytes: int = 64_000_000, **options: object
    ) -> None:
        self.index = Index.create(folder, model="tiny", **options)  # type: ignore[arg-type]
        self.token = token
        self._history_bytes = history_bytes
        self.offer = self._offer()
        self.wire = OfferWire(self.offer, token)

    def restart(self) -> None:
        """Offer the folder as it is now."""
        self.offer.close()
        self.index = Index.open(self.index.folder)
        self.wire.offer, self.wire.token = self._offer(), self.token
        self.offer = self.wire.offer

    def _offer(self) -> Offer:
        return Offer(
            self.index, token=self.token, history_bytes=self._history_bytes, patience_s=60.0
        )


def connect_to(monkeypatch: pytest.MonkeyPatch, servers: Mapping[str, Server]) -> None:
    """Let these addresses lead to these servers; no other leads anywhere."""

    def connect(url: str, token: str, *_: float) -> OfferWire:
        server = servers[url]
        is_right = token == server.token or server.wire.refuses_token
        assert is_right, "a token is sent to its own server only"
        return server.wire

    monkeypatch.setattr("gossamer.sync.client.connect", connect)


@contextmanager
def reachable() -> Iterator[dict[str, Server]]:
    """Let addresses lead to the servers that are put under them, for as long as it lasts."""
    known: dict[str, Server] = {}
    with pytest.MonkeyPatch.context() as monkeypatch:
        connect_to(monkeypatch, known)
        remote_chunks._known.clear()
        yield known
    remote_chunks._known.clear()
    for server in known.values():
        server.offer.close()


def filled_server(folder: Path) -> Server:
    """A server with a token, texts, and files in a folder beside it."""
    server = Server(folder, TOKEN)
    files = folder.with_name("files")
    files.mkdir()
    for name, text in FILES.items():
        (files / name).write_text(text, encoding="utf-8")
    server.index.add_paths([files])
    put(server, range(12))
    return server


def put(server: Server, numbers: Iterable[int], what: str = "whale") -> None:
    server.index.add_texts(
        [{"id": f"t{n}", "text": f"A {what} with word{n} and word{n % 7}."} for n in numbers]
    )


def pull(edge: Index | Path, **options: bool) -> PullReport:
    folder = edge if isinstance(edge, Path) else edge.folder
    return Edge.open(folder).pull(pause=lambda _: None, **options)


def answers(index: Index | Path) -> Answers:
    """Ask everything in every mode."""
    opened = Index.open(index) if isinstance(index, Path) else index
    found: Answers = []
    for mode in ("hybrid", "semantic", "lexical"):
        for question in QUESTIONS:
            hits = opened.search(question, 10, mode=mode)
            found += [(hit.id, hit.location, hit.text, hit.distance) for hit in hits]
    return found


def contents(folder: Path) -> tuple[bytes, bytes, list[bytes]]:
    """Everything that an edge holds: engine, catalogue, texts."""
    snapshot = open_index(folder)
    engines = [
        (folder / entry.name).read_bytes() for entry in snapshot.manifest.files_of("vectors")
    ]
    catalogue = snapshot.catalogue
    rows = sorted(range(catalogue.document_count), key=lambda row: catalogue.chunks_in(row).start)
    texts = [
        snapshot.texts.read(
            document.segment, document.offset, document.offset + document.text_length
        )
        for document in map(catalogue.document, rows)
    ]
    return b"".join(engines), catalogue.digest(), texts


def copy(edge: Index, name: str) -> Path:
    folder = edge.folder.with_name(name)
    shutil.rmtree(folder, ignore_errors=True)
    return copy_index(edge.folder, folder)


def rewrite(
    server: Server,
    change_head: Callable[[Head], Head] = lambda head: head,
    change: Callable[[str, bytes], bytes] = lambda _, data: data,
    token: str = TOKEN,
) -> None:
    """Let the server send packages of another content, signed with a token."""

    def changed(data: bytes) -> bytes:
        path = server.index.folder / "sync" / "rewritten"
        path.write_bytes(data)
        with Package.open(path, server.token) as package:
            head = change_head(package.head)
            sections = [
                (entry.name, [change(entry.name, package.read(entry.name, 1 << 30))])
                for entry in package.head.sections
            ]
        write_package(path, head, sections, token)
        return path.read_bytes()

    server.wire.change_package = changed
