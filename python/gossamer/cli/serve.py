"""`gossamer serve`: the index over HTTP, and a page to search it with."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli.output import Output
from gossamer.cli.session import (
    Session,
    common_options,
    pass_session,
    reranker_option,
    site_options,
)
from gossamer.errors import GossamerError, InvalidArgument
from gossamer.places import is_address

if TYPE_CHECKING:
    from fastapi import FastAPI

    from gossamer.server.options import ServeOptions

__all__ = ["command"]

_PORT = 8321
_AUTO = "auto"
_LOGS = ("gossamer.server", "gossamer.embed", "uvicorn.error", "asyncio")
_ACCESS_FIELDS = ("method", "path", "status", "seconds")


@click.command("serve", short_help="Serve the index over HTTP, with a page to search it.")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Name or address to bind to.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port to bind to; 0 for any that is free.",
)
@click.option(
    "--token",
    envvar="GOSSAMER_TOKEN",
    default="",
    metavar="TOKEN|auto",
    help="What clients must send; 'auto' makes one and shows it. Needed unless only this "
    "machine can ask. Better in GOSSAMER_TOKEN, where other users do not see it.",
)
@click.option("--read-only", is_flag=True, help="Refuse every change.")
@click.option(
    "--allow-host", "allow_hosts", metavar="NAME", multiple=True, help="Answer to this name too."
)
@click.option(
    "--allow-origin",
    "allow_origins",
    metavar="ORIGIN",
    multiple=True,
    help="Let pages of this origin ask, such as https://app.example.",
)
@click.option(
    "--history-budget",
    default="64MB",
    show_default=True,
    metavar="BYTES",
    help="How much to remember for edges that catch up.",
)
@reranker_option
@site_options
@click.option("--access-log", is_flag=True, help="Log every request.")
@click.option("--json", "as_json", is_flag=True, help="Log lines of JSON.")
@common_options()
@pass_session
def command(
    session: Session,
    /,
    folder: str | None,
    port: int,
    access_log: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Serve the index of --index, or in the folder DIR, until Ctrl-C.

    Needs the extra packages of `pip install "gossamer[server]"`. The page is at /, the list of
    routes at /docs.
    """
    if folder is not None:
        session.index = folder if is_address(folder) else str(Path(folder).absolute())
    token_was_made = chosen["token"] == _AUTO
    options = _options(session, chosen)
    app = _create(session, options)
    _set_up_logs(access_log, as_json)
    with _bind(options.host, port) as bound:
        _say(session.output, options, bound.getsockname()[:2], token_was_made)
        _run(app, bound)
    session.output.note("stopped serving")
    _leave(app)


def _options(session: Session, chosen: dict[str, Any]) -> ServeOptions:
    from gossamer.server.options import ServeOptions, make_token
    from gossamer.vectors.options import parse_bytes

    token, style = chosen.pop("token"), chosen.pop("url_style")
    return ServeOptions(
        token=make_token() if token == _AUTO else token,
        history_bytes=parse_bytes(chosen.pop("history_budget")),
        threads=session.threads,
        url_style=style or "",
        **chosen,
    )


def _create(session: Session, options: ServeOptions) -> FastAPI:
    try:
        import uvicorn  # noqa: F401 - so that nothing is begun without it

        from gossamer.server.app import create_app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("gossamer"):
            raise
        raise GossamerError(
            f'the server needs {error.name}, which is not installed: pip install "gossamer[server]"'
        ) from None
    session.settle_trust(session.folder)
    return create_app(session.folder, options)


def _bind(host: str, port: int) -> socket.socket:
    """Give a socket that listens; InvalidArgument says why there is none to be had."""
    from gossamer.server.run import BACKLOG

    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidArgument(
            f"cannot listen at {host}:{port}: {error.strerror or error}; is another server "
            "running there? --port 0 takes any port that is free"
        ) from None


def _say(
    output: Output, options: ServeOptions, address: tuple[str, int], token_was_made: bool
) -> None:
    host, port = address
    addresses = _addresses(host)
    hint = ""
    if token_was_made:
        hint = f" with token {options.token} (shown only now)"
    elif options.token:
        hint = " with the token that was given"
    urls = [
        f"http://[{one}]:{port}/" if ":" in one else f"http://{one}:{port}/" for one in addresses
    ]
    others = "".join(f" and {url}" for url in urls[1:])
    output.line("serving at ", (urls[0], "path"), others, hint, " · Ctrl-C stops")
    # Whoever started this may read it through a pipe, to learn the port.
    sys.stdout.flush()


def _addresses(host: str) -> list[str]:
    """Give the addresses to ask a server by that is bound to one, or to all, of this machine."""
    if host not in ("0.0.0.0", "::"):
        return [host]
    local, family = ("127.0.0.1", socket.AF_INET) if host == "0.0.0.0" else ("::1", socket.AF_INET6)
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        # Nothing is sent: this asks which address leads out. It is one kept for documents.
        probe.connect(("192.0.2.1" if host == "0.0.0.0" else "2001:db8::1", 9))
        return [local, str(probe.getsockname()[0])]
    return [local]


def _run(app: FastAPI, bound: socket.socket) -> None:
    """Serve until a signal comes."""
    from gossamer.server.run import run

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    # Before it has begun a signal ends it here. It raises the signal again once it has ended;
    # that this was asked for is no failure.
    signal.signal(signal.SIGTERM, stop)
    try:
        run(app, bound)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(app: FastAPI) -> None:
    """End the process if something is left in it that has no end: it would be waited for."""
    if not app.state.service.has_ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _set_up_logs(with_access: bool, as_json: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(asctime)s  %(message)s"))
    for name in _LOGS:
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.WARNING)
    logging.getLogger("gossamer.server.access").setLevel(
        logging.INFO if with_access else logging.WARNING
    )


class _JsonLines(logging.Formatter):
    """A line of JSON for each entry of the log."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= {name: vars(record)[name] for name in _ACCESS_FIELDS if name in vars(record)}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)
