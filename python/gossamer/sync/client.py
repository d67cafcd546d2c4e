"""The edge's side of HTTP: one method for each thing that a server can be asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import quote, urlencode

import numpy as np
from numpy.typing import NDArray

from gossamer import errors
from gossamer.errors import GossamerError, InvalidArgument, TooLarge, Unreachable, WrongState
from gossamer.records import RemoteChunk
from gossamer.sync.following import TOKEN
from gossamer.sync.records import (
    PROTOCOL,
    Base,
    Conflict,
    Mode,
    Plan,
    PushItem,
    PushResult,
)
from gossamer.sync.signing import NONCE, SIGNATURE, Answered, Asked, is_signed, new_nonce
from gossamer.web import Answer, NoAnswer, Web, parse_json, short, split_address

__all__ = ["MOST_VECTORS", "Client", "Origin", "Wire", "clean_url", "connect"]

_TIMEOUT_S, _CONNECT_S = 30.0, 10.0
_MOST_JSON_BYTES = 1 << 26
_MOST_SAID_BYTES = 1 << 16  # of what is no answer to the question
_MOST_SHOWN = 2000  # characters of a server's message
MOST_VECTORS = 512  # in one request: a server may have to embed each of them
# What a status means where the body does not say it.
_BY_STATUS: Mapping[int, type[GossamerError]] = {
    401: WrongState,
    403: WrongState,
    408: Unreachable,
    409: WrongState,
    413: TooLarge,
    429: Unreachable,
}
# What a server says before it has seen the right token, and so cannot sign.
_BEFORE_TOKEN = frozenset({401, 403})
_FILE = frozenset({200, 206})
_TYPES: Mapping[str, tuple[type, ...]] = {"str": (str,), "int": (int,)}

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Ids = NDArray[np.int64]
# Which index chunks are asked of, by `index` and `epoch`: ids mean nothing in another one.
Origin = Mapping[str, str]
T = TypeVar("T")

_ANY: Origin = {}


class Wire(Protocol):
    """What carries requests: HTTP, or a test."""

    def send(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Answer]:
        """Ask for a target, which is a path and a query; NoAnswer if no answer came."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def connect(url: str, token: str, timeout_s: float, connect_s: float) -> Wire:
    """Give what speaks HTTP with a server; nothing is sent yet."""
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return Web(url, timeout_s, headers, connect_s)


def clean_url(url: str) -> str:
    """Give a server's address in one form; InvalidArgument if it is none."""
    given = url if "://" in url else f"http://{url}"
    parts = split_address(given)
    if parts is None or parts.query or parts.fragment:
        raise InvalidArgument(
            f"a server's address is like https://host or http://host:8080, got {url!r}"
        )
    netloc = parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
    return f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}"


class Client:
    """A server of an index. Unreachable if it does not answer, else what it says itself.

    With a token, what is not signed with it is no answer.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout_s: float = _TIMEOUT_S,
        connect_s: float = _CONNECT_S,
    ) -> None:
        self.url = clean_url(url)
        if not token.isascii() or not token.isprintable() or " " in token:
            raise InvalidArgument("a token is of ASCII characters without spaces")
        parts = split_address(self.url)
        assert parts is not None
        self._path = parts.path
        self._token = token
        self._wire = connect(self.url, token, timeout_s, connect_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections; the next request opens a new one."""
        self._wire.close()

    def info(self) -> dict[str, Any]:
        """Say which index the server has: index, epoch, version, protocol, model, modes."""
        found = self._json("GET", "/v1/sync")
        with self._expecting():
            _check_types(found, index=str, epoch=str, version=int, protocol=int)
        return dict(found)

    def plan(self, mode: Mode, texts: str, budget: int | None) -> Plan:
        """Ask what an edge of this kind would take, or what fits a budget."""
        query = {"mode": str(mode), "texts": texts}
        if budget is not None:
            query["budget"] = str(budget)
        found = self._json("GET", "/v1/sync/plan", query)
        with self._expecting():
            plan = _record(Plan, found)
            if not all(isinstance(size, int) for size in dict(plan.estimate).values()):
                raise TypeError("an estimate that is no number")
        return plan

    @contextmanager
    def package(
        self,
        mode: str,
        texts: str,
        base: Base | None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[Answer, bytes]]:
        """Ask for what leads from a state to the newest: status 200 or 206, 202, 204 or 416.

        The first two are to be read from the answer, which is signed but for its content. The
        others were read: beside the answer comes what they say.
        """
        query = {"mode": mode, "texts": texts, "protocol": str(PROTOCOL)}
        if base is not None:
            query |= {"epoch": base.epoch, "version": str(base.version), "state": base.state}
        target = _target("/v1/sync/package", query)
        with self._send("GET", target, None, headers, (*_FILE, 202, 204, 416)) as (answer, asked):
            is_file = answer.status in _FILE
            said = b"" if is_file else answer.read_whole(_MOST_SAID_BYTES)
            self._check_signature(asked, answer, None if is_file else said)
            yield answer, said

    def vectors(self, ids: Ids, dim: int, origin: Origin = _ANY) -> tuple[Mask, Floats]:
        """Ask for the vectors of chunks: which there are, and a row for each of those.

        WrongState if the server has another index now than that of the `origin`, so that its
        chunks with these ids may be others; so for `chunks` and `context`.
        """
        count = len(ids)
        if count > MOST_VECTORS:
            raise TooLarge(f"{MOST_VECTORS} vectors can be asked for at once, not {count}")
        body = json.dumps({"ids": ids.tolist(), **origin}).encode("ascii")
        headers = {"Content-Type": "application/json"}
        data = self._ask("POST", "/v1/sync/vectors", body, headers, count + 2 * count * dim)
        mask = np.frombuffer(data[:count], np.uint8) == 1
        rows = np.frombuffer(data[count:], np.uint8)
        if len(mask) != count or rows.size != 2 * dim * int(mask.sum()):
            raise self._strange(f"{len(data)} bytes for the vectors of {count} chunks")
        vectors = rows.view("<f2").reshape(-1, dim).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise self._strange("a vector that is not finite")
        return mask, vectors

    def chunks(self, ids: Sequence[int], origin: Origin = _ANY) -> list[RemoteChunk | None]:
        """Ask for the texts of chunks; None for those that the server cannot read."""
        found = self._json("POST", "/v1/sync/chunks", body={"ids": list(ids), **origin})
        with self._expecting():
            given = _list_of(found, "chunks")
            chunks = [None if one is None else _record(RemoteChunk, one) for one in given]
            known = [chunk is None or chunk.id == id for chunk, id in zip(chunks, ids, strict=True)]
            if not all(known):
                raise ValueError("other chunks than were asked for")
        return chunks

    def context(self, id: int, margin: int, origin: Origin = _ANY) -> tuple[str, str]:
        """Ask for the text before and after a chunk."""
        query = {"margin": str(margin), **origin}
        found = self._json("GET", f"/v1/chunks/{int(id)}/context", query)
        with self._expecting():
            _check_types(found, before=str, after=str)
        return found["before"], found["after"]

    def push(self, items: Sequence[PushItem]) -> list[PushResult]:
        """Send texts and removals; what became of each."""
        records = [
            {
                "op": item.op,
                "id": item.id,
                "base": item.base,
                "text": item.text,
                "is_file": item.is_file,
            }
            for item in items
        ]
        found = self._json("POST", "/v1/sync/push", body={"items": records})
        with self._expecting():
            results = [_record(PushResult, one) for one in _list_of(found, "results")]
            if [result.op for result in results] != [item.op for item in items]:
                raise ValueError("results of other changes than were sent")
        return results

    def push_file(self, item: PushItem) -> PushResult:
        """Send a file; what became of it."""
        assert item.file is not None
        target = _target(f"/v1/sync/files/{quote(item.id)}", {"op": item.op, "base": item.base})
        headers = {"Content-Type": "application/octet-stream"}
        data = self._ask("PUT", target, item.file, headers, _MOST_JSON_BYTES)
        with self._expecting():
            result = _record(PushResult, parse_json(data))
            if result.op != item.op:
                raise ValueError("the result of another change than was sent")
        return result

    def conflicts(self, after: int = 0) -> list[Conflict]:
        """Ask for the conflicts behind a number, without the texts that lost."""
        found = self._json("GET", "/v1/conflicts", {"after": str(after)})
        with self._expecting():
            return [_record(Conflict, one) for one in _list_of(found, "conflicts")]

    def conflict(self, number: int) -> Conflict:
        """Ask for one conflict, with the text that lost; UnknownId if there is none."""
        found = self._json("GET", f"/v1/conflicts/{int(number)}")
        with self._expecting():
            return _record(Conflict, found)

    def unreachable(self, what: str) -> Unreachable:
        """Say that the server did not answer."""
        return Unreachable(
            f"the server at {self.url} {what}; check the address and the connection, and try again"
        )

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Any:
        data = None if body is None else json.dumps(body).encode("ascii")
        headers = None if body is None else {"Content-Type": "application/json"}
        said = self._ask(method, _target(path, query), data, headers, _MOST_JSON_BYTES)
        try:
            return parse_json(said)
        except ValueError:
            raise self._strange(f"no JSON: {short(said)}") from None

    def _ask(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str] | None,
        most: int,
    ) -> bytes:
        """Give a whole answer, once its signature is verified."""
        with self._send(method, target, body, headers) as (answer, asked):
            data = answer.read_whole(most)
            self._check_signature(asked, answer, data)
        return data

    @contextmanager
    def _send(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str] | None,
        fine: Sequence[int] = (200,),
    ) -> Iterator[tuple[Answer, Asked | None]]:
        """Send a request; an answer with another status than the fine ones is raised.

        Beside the answer comes what it has to be signed for; None without a token.
        """
        asked = Asked.of(new_nonce(), method, target, body) if self._token else None
        sent = {**(headers or {}), **({NONCE: asked.nonce} if asked else {})}
        try:
            with self._wire.send(method, self._path + target, body, sent) as answer:
                if answer.status not in fine:
                    raise self._error_of(answer, asked)
                yield answer, asked
        except NoAnswer as error:
            raise self.unreachable(error.what) from error

    def _check_signature(self, asked: Asked | None, answer: Answer, body: bytes | None) -> None:
        """Raise Unreachable for an answer that the server has not signed for this request."""
        if not self._is_signed(asked, answer, body):
            raise Unreachable(
                f"what came from {self.url} is not signed with the token, and was not used: the "
                "server is of an older release (bring it up to date), has no token, or somebody "
                "stands between. Here everything is as it was"
            )

    def _is_signed(self, asked: Asked | None, answer: Answer, body: bytes | None) -> bool:
        """Whether an answer is the server's own to this request; also if nothing is signed."""
        if asked is None:
            return True
        answered = Answered.of(answer.status, answer.header, body)
        # What is refused need not have been read.
        possible = (asked, replace(asked, body="")) if answer.status >= 400 else (asked,)
        signature = answer.header(SIGNATURE)
        return any(is_signed(self._token, one, answered, signature) for one in possible)

    def _error_of(self, answer: Answer, asked: Asked | None) -> GossamerError:
        """Give the error that the server names, in its own words.

        What is not signed may be of anybody: it says no more than that there is no answer.
        """
        if 300 <= answer.status < 400:
            where = answer.header("Location")
            return self._strange(f"a redirect to {short(where)}; give that address if it is right")
        said = answer.read_whole(_MOST_SAID_BYTES)
        try:
            found = parse_json(said)
            _check_types(found, error=str, message=str)
            name, message = found["error"], found["message"]
        except (TypeError, ValueError):
            name, message = "", f"status {answer.status}: {short(said)}"
        if answer.status == 404 and name != "unknown_id":
            return self._strange(message)
        said_there = f"the server at {self.url} says: {message[:_MOST_SHOWN]}"
        if answer.status == 401:
            is_wrong = "the one it was given is not its own" if self._token else "none was given"
            said_there += f" ({is_wrong}: pass --token or set {TOKEN})"
        if not self._is_signed(asked, answer, said):
            if answer.status in _BEFORE_TOKEN:
                return WrongState(said_there)
            return Unreachable(
                f"{said_there} (this is not signed with the token: the server is of an older "
                "release, or somebody between said it)"
            )
        if answer.status >= 500:  # what went wrong there is not wrong here
            return Unreachable(said_there)
        kind = _class_named(name) or _BY_STATUS.get(answer.status, InvalidArgument)
        return kind(said_there)

    @contextmanager
    def _expecting(self) -> Iterator[None]:
        """Raise Unreachable in place of what is raised where an answer is not as it should be."""
        try:
            yield
        except (TypeError, ValueError) as error:
            raise self._strange(error) from None

    def _strange(self, what: object) -> Unreachable:
        return Unreachable(
            f"{self.url} answered with something else than was asked for ({what}); check that "
            "it is the address of a gossamer server, and that both are of like versions"
        )


def _target(path: str, query: Mapping[str, str] | None = None) -> str:
    """Give what is asked for, below the server's address."""
    return path + (f"?{urlencode(query)}" if query else "")


def _class_named(reason: str) -> type[GossamerError] | None:
    """Find the class of a reason in snake case; None if there is none."""
    name = "".join(word.capitalize() for word in reason.split("_"))
    kind = getattr(errors, name, None) if name in errors.__all__ else None
    return kind if isinstance(kind, type) and issubclass(kind, GossamerError) else None


def _check_types(found: Any, **types: type) -> None:
    """Raise TypeError unless this is an object whose fields are of these types."""
    if not isinstance(found, dict):
        raise TypeError(f"an object was expected, got {short(found)}")
    for name, kind in types.items():
        value = found.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{name} = {short(value)}")


def _list_of(found: Any, name: str) -> list[Any]:
    _check_types(found, **{name: list})
    given: list[Any] = found[name]
    return given


def _record(cls: type[T], found: Any) -> T:
    """Make a record of an object; fields that this release does not know are passed over."""
    names = {item.name: str(item.type) for item in fields(cls)}  # type: ignore[arg-type]
    _check_types(found)
    values = {name: value for name, value in found.items() if name in names}
    for name, value in values.items():
        expected = _TYPES.get(names[name], (dict,))
        if not isinstance(value, expected) or isinstance(value, bool):
            raise TypeError(f"{name} = {short(value)}")
    return cls(**values)
