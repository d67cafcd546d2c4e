"""Clients of a server, each with a connection that stays open, which search and add for a while."""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from benchmarks import folders
from benchmarks.retrieval import data_folder, records
from benchmarks.server_process import Client, Server

PAGE_CHARACTERS = 1200


@dataclass
class Load:
    """What some clients saw."""

    seconds: float = 0.0
    searches: list[float] = field(default_factory=list)
    adds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    added: list[str] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Answered requests a second."""
        return (len(self.searches) + len(self.adds)) / self.seconds


def load_server(
    server: Server, clients: int, seconds: float, add_every: int | None, prefix: str = "note"
) -> Load:
    """Let clients ask one request after the other until time is up.

    What they add is named by a prefix, which must be another one for each load that adds.
    """
    load = Load()
    lock = threading.Lock()
    asked_of_all, pages = questions(), page_beginnings()
    start = time.perf_counter()

    def work(number: int) -> None:
        client = Client(server.port)
        asked = islice(cycle(asked_of_all), number * len(asked_of_all) // clients, None)
        for count in range(1, 1 << 30):
            if time.perf_counter() - start > seconds:
                break
            is_add = add_every is not None and (count + number) % add_every == 0
            name = f"{prefix}-{number}-{count}"
            page = pages[(number * 1009 + count) % len(pages)]
            request = add_request(name, page) if is_add else search_request(next(asked))
            outcome, took = _ask(client, request)
            with lock:
                if outcome:
                    load.errors[outcome] += 1
                    continue
                (load.adds if is_add else load.searches).append(took)
                if is_add:
                    load.added.append(name)
        client.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    load.seconds = time.perf_counter() - start
    return load


def _ask(client: Client, request: tuple[str, str, dict[str, object]]) -> tuple[str, float]:
    """Give what went wrong ("" if nothing) and the seconds it took."""
    try:
        answer = client.ask(*request)
    except (OSError, http.client.HTTPException) as error:
        client.close()
        return f"{type(error).__name__}: {error}", 0.0
    if answer.status != 200:
        return f"{answer.status}: {answer.body[:200].decode(errors='replace')}", 0.0
    json.loads(answer.body)
    return "", answer.seconds


def search_request(question: str) -> tuple[str, str, dict[str, object]]:
    """Method, path and body of a search."""
    return "POST", "/v1/search", {"question": question, "k": 10}


def add_request(name: str, text: str) -> tuple[str, str, dict[str, object]]:
    """Method, path and body of a change that puts one text in."""
    return "POST", "/v1/texts", {"texts": [{"id": name, "text": text}]}


def questions() -> list[str]:
    """The queries of MDN."""
    return [query["text"] for query in records(data_folder() / "mdn" / "queries.jsonl.zst")]


def page_beginnings() -> list[str]:
    """Beginnings of pages."""
    files = folders.text_files(folders.mdn())
    return [path.read_text(encoding="utf-8")[:PAGE_CHARACTERS] for path in files[:2000]]


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median and what all but one in a hundred stay below; nothing of nothing."""
    if not seconds:
        return {}
    return {f"p{share}": float(np.percentile(seconds, share)) for share in (50, 99)}


def describe(load: Load) -> dict[str, object]:
    """What a result keeps of a load."""
    return {
        "seconds": load.seconds,
        "search_s": percentiles(load.searches),
        "add_s": percentiles(load.adds),
        "searches": len(load.searches),
        "adds": len(load.adds),
        "errors": dict(load.errors),
    }
