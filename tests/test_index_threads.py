"""One `Index` asked by many threads while another one, on the same folder, changes it."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.embed.shared import SharedEmbedder
from gossamer.index import Index
from gossamer.model import Embedders
from gossamer.once import once
from gossamer.query.results import Results

ANIMALS = ("whale", "otter", "heron", "badger", "lynx", "raven", "newt", "stoat")
THREADS = 8


def text_of(number: int) -> str:
    animal = ANIMALS[number % len(ANIMALS)]
    return f"The {animal} number{number} lives at place{number % 17}.\n"


def write_files(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.txt").write_text(text_of(number), encoding="utf-8")


def check(results: Results, number: int) -> None:
    """A hit says what its chunk says, and the one that was asked for is among them."""
    assert len(results) == 5
    assert any(f"number{number} " in hit.text for hit in results)
    for hit in results:
        assert hit.text.strip() in text_of(int(hit.text.split("number")[1].split()[0]))


@pytest.mark.parametrize(
    ("keep", "lexical"),
    [("none", "scan"), ("hot:200KB", "scan"), ("hot:200KB", "fts5"), ("all", "fts5")],
)
def test_searches_are_right_while_another_object_adds_and_removes(
    tmp_path: Path, embedder: TinyEmbedder, keep: str, lexical: str
) -> None:
    write_files(tmp_path / "files", 40)
    Index.create(tmp_path / "index", keep=keep, lexical=lexical).add_paths([tmp_path / "files"])
    index, writer = Index.open(tmp_path / "index"), Index.open(tmp_path / "index")
    is_over = threading.Event()

    def ask(thread: int) -> int:
        asked = 0
        while not is_over.is_set() or asked < 3:
            number = (thread * 7 + asked) % 40
            question = f"{ANIMALS[number % len(ANIMALS)]} number{number}"
            check(index.search(question, paths=["*.txt"] if asked % 2 else ()), number)
            index.status()
            asked += 1
        return asked

    with ThreadPoolExecutor(THREADS) as pool:
        asking = [pool.submit(ask, thread) for thread in range(THREADS)]
        try:
            for batch in range(6):
                texts = [
                    {"id": f"{batch}-{n}", "text": text_of(100 + 10 * batch + n)} for n in range(3)
                ]
                writer.add_texts(texts)
                writer.remove([f"{batch - 1}-{n}" for n in range(2)])
        finally:
            is_over.set()
        assert min(asked.result() for asked in asking) >= 3

    assert index.status().generation == writer.status().generation > 10
    assert index.check() == []


def test_files_of_states_that_are_over_are_let_go_at_once(
    tmp_path: Path, embedder: TinyEmbedder
) -> None:
    index = Index.create(tmp_path / "index")
    index.add_texts([{"id": "first", "text": text_of(1)}])
    index.search("whale")
    handles = Path("/proc/self/fd")
    if not handles.is_dir():
        pytest.skip("only Linux lists the open files of a process")
    before = len(os.listdir(handles))

    gc.disable()
    try:
        for number in range(30):
            index.add_texts([{"id": "again", "text": text_of(number)}])
            index.search("whale")
        after = len(os.listdir(handles))
    finally:
        gc.enable()

    # Each state maps several files; if they waited for the garbage collector this would be many.
    assert after <= before + 6


def test_a_value_is_made_once_though_many_threads_ask_first() -> None:
    class Holder:
        made = 0

        @once
        def value(self) -> object:
            self.made += 1
            threading.Event().wait(0.01)
            return object()

    holder = Holder()
    gate = threading.Barrier(THREADS)

    def ask() -> object:
        gate.wait()
        return holder.value

    with ThreadPoolExecutor(THREADS) as pool:
        found = {id(one.result()) for one in [pool.submit(ask) for _ in range(THREADS)]}

    assert len(found) == 1
    assert holder.made == 1


def test_what_failed_is_tried_again() -> None:
    class Holder:
        tries = 0

        @once
        def value(self) -> int:
            self.tries += 1
            if self.tries == 1:
                raise OSError("not yet")
            return 7

    holder = Holder()

    with pytest.raises(OSError, match="not yet"):
        _ = holder.value
    assert holder.value == holder.value == 7
    assert holder.tries == 2


def test_the_model_is_loaded_once_and_shared_by_searches_and_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_tiny(monkeypatch, with_codes=True)
    Index.create(tmp_path / "index").add_texts([{"id": "a", "text": text_of(3)}])
    loaded: list[SharedEmbedder] = []

    def share(model: TinyEmbedder) -> Embedders:
        loaded.append(SharedEmbedder(model))
        return Embedders(loaded[-1], loaded[-1].in_background)

    index = Index.open(tmp_path / "index", share=share)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda n: index.search(f"badger {n}"), range(THREADS)))
    index.add_texts([{"id": "b", "text": text_of(4)}])
    loaded[0].close()

    assert len(loaded) == 1
    assert {results[0].source for results in found} == {"a"}


def test_sharing_the_model_changes_no_answer(tmp_path: Path, embedder: TinyEmbedder) -> None:
    write_files(tmp_path / "files", 40)
    Index.create(tmp_path / "index").add_paths([tmp_path / "files"])
    shared = SharedEmbedder(embedder)
    index = Index.open(tmp_path / "index", share=lambda _: Embedders(shared, shared.in_background))
    questions = [f"{animal} place{n}" for n, animal in enumerate(ANIMALS * 3)]

    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(index.search, questions))
    shared.close()

    alone = Index.open(tmp_path / "index")
    for question, results in zip(questions, together, strict=True):
        expected = alone.search(question)
        assert [hit.id for hit in results] == [hit.id for hit in expected]
        distances = [np.float32(hit.distance or 0) for hit in results]
        assert distances == [np.float32(hit.distance or 0) for hit in expected]
