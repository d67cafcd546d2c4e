"""What `gossamer serve` can be told, and which of it may go together."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from dataclasses import dataclass

from gossamer.errors import InvalidArgument

__all__ = [
    "MOST_ITEMS",
    "ServeOptions",
    "check_bind",
    "is_loopback",
    "make_token",
]

MOST_ITEMS = 10_000  # texts, names or ids in one request
_LEAST_TOKEN = 16
_TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a server behaves, and how much of everything it takes."""

    token: str = ""  # "" lets everybody in: for loopback alone
    host: str = "127.0.0.1"  # the name or address that it is bound to
    read_only: bool = False
    allow_hosts: tuple[str, ...] = ()  # further names in the Host header
    allow_origins: tuple[str, ...] = ()  # pages elsewhere that may ask, such as https://a.example
    history_bytes: int = 64_000_000  # of the log that edges catch up from
    reranker: str | None = None  # where a reranking model is that all searches use
    base_url: str = ""  # where people read what is indexed; "": as the index says
    url_style: str = ""
    threads: int = 0  # of the model and of a search; 0: one on each core
    memory_bytes: int = 128_000_000  # of vectors that searches asked for lately
    searches_at_once: int = 8
    searches_waiting: int = 256
    changes_waiting: int = 256
    most_hits: int = 100  # in one answer
    most_question: int = 10_000  # characters
    most_items: int = MOST_ITEMS  # in one request; it cannot be more
    body_bytes: int = 32 << 20  # of texts; a question of any kind has 1 MiB
    file_bytes: int = 256 << 20
    # For how long a change waits for those before it, and for other processes that change.
    change_wait_s: float = 120.0
    lock_wait_s: float = 10.0


def check_bind(options: ServeOptions) -> None:
    """Refuse a server that others can reach without a token, and a token that can be guessed."""
    if options.token and (len(options.token) < _LEAST_TOKEN or not _is_sendable(options.token)):
        raise InvalidArgument(
            f"a token needs at least {_LEAST_TOKEN} characters, all of them ASCII without spaces; "
            "--token auto makes a good one"
        )
    if not options.token and not is_loopback(options.host):
        raise InvalidArgument(
            f"others can reach {options.host}, so a token is needed: give --token auto (it is "
            "shown once), --token TOKEN or GOSSAMER_TOKEN; or bind to 127.0.0.1"
        )


def make_token() -> str:
    """Give a token that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a server that is bound to this name."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InvalidArgument(f"there is no address {host!r} to bind to") from None
    addresses = [ipaddress.ip_address(str(address[0]).partition("%")[0]) for *_, address in found]
    return bool(addresses) and all(address.is_loopback for address in addresses)


def _is_sendable(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token
