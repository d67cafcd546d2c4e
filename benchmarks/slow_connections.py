"""Connections to a server on this machine whose requests never come to an end.

`python -m benchmarks.slow_connections PORT COUNT` holds them until its input ends, and then says in
a line of JSON what became of them.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

HOST = "127.0.0.1"  # and nothing else, ever
DRIP_S = 5.0  # between two bytes of a body
AGAIN_S = 5.0  # until one that was closed comes again
# They come one after the other: so many seconds for all of them.
COME_WITHIN_S = 2.0
LENGTH = 100_000
TARGETS = ("POST /v1/search", "POST /v1/texts", "PUT /v1/files/slow.txt")
MOST_S = 600.0  # whatever happens, it ends then
SPARE_FILES = 64


@dataclass
class Counts:
    """What became of the connections."""

    open: int = 0
    most_open: int = 0
    opened: int = 0
    answers: Counter[str] = field(default_factory=Counter)  # by status; "" if there was none
    failed: int = 0  # to come in at all


class Slow:
    """Slow connections in a process of their own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def stop(self) -> dict[str, Any]:
        """End them, and give what became of them."""
        said, _ = self._process.communicate("", timeout=60)
        found: dict[str, Any] = json.loads(said)
        return found


@contextmanager
def slow_connections(port: int, count: int) -> Iterator[Slow]:
    """Hold so many slow connections to a server; they are gone afterwards in any case."""
    command = [sys.executable, "-m", "benchmarks.slow_connections", str(port), str(count)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        yield Slow(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def main() -> int:
    """Hold connections until there is no more input."""
    port, count = (int(given) for given in sys.argv[1:])
    allow_files(count + SPARE_FILES)
    counts = asyncio.run(_hold(port, count))
    answers = dict(counts.answers)
    print(
        json.dumps(
            {
                "count": count,
                "drip_s": DRIP_S,
                "most_open": counts.most_open,
                "opened": counts.opened,
                "closed": sum(answers.values()),
                "answers": answers,
                "failed": counts.failed,
            }
        )
    )
    return 0


def allow_files(least: int) -> None:
    """Let this process open so many files; OSError if its machine does not."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < least:
        if hard != resource.RLIM_INFINITY and hard < least:
            raise OSError(f"this needs {least} open files; `ulimit -Hn` says {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, hard))


async def _hold(port: int, count: int) -> Counts:
    counts = Counts()
    loop = asyncio.get_running_loop()
    over = loop.run_in_executor(None, sys.stdin.read)
    held = [
        asyncio.create_task(_come_again(port, number, COME_WITHIN_S * number / count, counts))
        for number in range(count)
    ]
    await asyncio.wait([over], timeout=MOST_S)
    for one in held:
        one.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    return counts


async def _come_again(port: int, number: int, begin_s: float, counts: Counts) -> None:
    await asyncio.sleep(begin_s)
    while True:
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
        except OSError:
            counts.failed += 1
        else:
            counts.opened += 1
            counts.open += 1
            counts.most_open = max(counts.most_open, counts.open)
            try:
                counts.answers[await _drip(reader, writer, number)] += 1
            finally:
                counts.open -= 1
                writer.close()
        await asyncio.sleep(AGAIN_S)


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> str:
    """Send a body byte by byte until the connection is closed; give the status of the answer."""
    target = TARGETS[number % len(TARGETS)]
    head = (
        f"{target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {LENGTH}\r\n\r\n"
    )
    writer.write(head.encode("ascii"))
    closed = asyncio.ensure_future(reader.read())
    try:
        while not closed.done():
            writer.write(b"{")
            await asyncio.wait([closed], timeout=DRIP_S)
        return closed.result()[9:12].decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        closed.cancel()


if __name__ == "__main__":
    sys.exit(main())
