"""Models behind a server: JSON that is posted, and what is done while it cannot answer."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gossamer.errors import InvalidArgument, Unreachable
from gossamer.web import NoAnswer, Web, is_loopback, parse_json, retry_after, short

__all__ = ["ModelServer"]

_KEY, _HOST = "GOSSAMER_API_KEY", "GOSSAMER_API_HOST"
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_PASSING_STATUS = (408, 425, 429, 500, 502, 503, 504)


class ModelServer:
    """One address of a server that is asked for one thing, such as "embeddings of 'nomic'"."""

    def __init__(
        self,
        url: str,
        asked_for: str,
        *,
        api_key: str,
        timeout_s: float,
        attempts: int,
        most_bytes: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Without a key, that of the environment goes along if it was set for this server.

        An answer may have `most_bytes`, and is waited for up to `timeout_s`.
        """
        key = api_key or _key_for(url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._web = Web(url, timeout_s, headers)
        self._url = url
        self._asked_for = asked_for
        self._attempts = attempts
        self._most_bytes = most_bytes
        self._pause = pause

    def post(self, question: Mapping[str, Any]) -> Any:
        """Post a question; what may pass by itself is tried again, ever more slowly."""
        body = json.dumps(question).encode()
        for attempt in range(1, self._attempts + 1):
            try:
                return self._answer(body)
            except _Passing as passing:
                if attempt == self._attempts:
                    raise Unreachable(
                        f"asked {attempt} times for {self._asked_for}, "
                        f"{self._url} {passing.what}; check that the server runs"
                    ) from passing
                pause = max(passing.wait_s, _FIRST_PAUSE_S * 2 ** (attempt - 1))
                self._pause(min(pause, _LONGEST_PAUSE_S))
        raise AssertionError

    def refused(self, what: str) -> Unreachable:
        """Give the error that says what came in place of what was asked for."""
        return Unreachable(
            f"asked for {self._asked_for}, {self._url} answered with {what}; check address, "
            "model name and key"
        )

    def _answer(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json"}
        try:
            with self._web.send("POST", self._target, body, headers) as answer:
                data = answer.read_whole(self._most_bytes)
        except NoAnswer as error:
            if error.is_unknown_host:
                raise Unreachable(
                    f"there is no server {urlsplit(self._url).hostname!r} "
                    f"({error.__cause__}); check the address"
                ) from error
            raise _Passing(error.what) from error
        if answer.status in _PASSING_STATUS:
            what = f"answered with status {answer.status} ({short(data)})"
            raise _Passing(what, retry_after(answer))
        if answer.status != 200:
            raise self.refused(f"status {answer.status}: {short(data)}")
        try:
            return parse_json(data)
        except ValueError as error:
            raise self.refused(f"no JSON: {short(data[:200])}") from error

    @property
    def _target(self) -> str:
        """Path and query of the address."""
        parts = urlsplit(self._url)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path


class _Passing(Exception):  # noqa: N818 - never leaves this file
    """A failure that may be over soon."""

    def __init__(self, what: str, wait_s: float = 0.0) -> None:
        super().__init__(what)
        self.what = what
        self.wait_s = wait_s


def _key_for(url: str) -> str:
    """Give the key of the environment if it was set for the host of this address, and no other.

    The address may be one that an index names, so the key must say itself whose it is.
    """
    key, host = os.environ.get(_KEY, ""), os.environ.get(_HOST, "").lower()
    if not key:
        return ""
    parts = urlsplit(url)
    if not host:
        raise InvalidArgument(
            f"{_KEY} is set, but not for which server: set {_HOST}={parts.netloc} to send it to "
            "this one"
        )
    scheme, _, host = host.rpartition("://")
    own = (parts.hostname or "", f"{parts.hostname}:{parts.port}", parts.netloc.lower())
    if host.rstrip("/") not in own:
        return ""
    # Whoever made the index may have written http where the key was set for a service by https.
    if parts.scheme == "http" and scheme != "http" and not is_loopback(parts.hostname):
        raise InvalidArgument(
            f"{_KEY} would go to {parts.netloc} over plain http, where others can read it: use "
            f"https, or set {_HOST}=http://{parts.netloc} if it is meant so"
        )
    return key
