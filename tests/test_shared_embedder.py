"""One model for many threads: shared rounds, priorities, and errors that hurt nobody else."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_embedder import TinyEmbedder

from gossamer.embed.shared import Round, SharedEmbedder
from gossamer.errors import GossamerError, InvalidArgument, WrongState

Floats = NDArray[np.float32]

TOO_LONG = "whale " * 300


class Gated(TinyEmbedder):
    """A model whose calls wait until they are let through, and which notes them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []
        self.questions: list[str] = []
        self.threads: set[str] = set()
        self.is_in_call = threading.Semaphore(0)
        self.may_go_on = threading.Semaphore(0)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        self.calls.append(list(texts))
        self._wait()
        return super().embed(texts, progress)

    def embed_question(self, text: str) -> Floats:
        self.questions.append(text)
        self._wait()
        return super().embed_question(text)

    def _wait(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.is_in_call.release()
        assert self.may_go_on.acquire(timeout=10)

    def let_through(self, calls: int) -> None:
        self.may_go_on.release(calls)


@pytest.fixture
def model() -> Gated:
    return Gated()


@pytest.fixture
def shared(model: Gated) -> Iterator[SharedEmbedder]:
    shared = SharedEmbedder(model)
    yield shared
    model.let_through(1000)
    shared.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as pool:
        yield pool


def wait_for(shared: SharedEmbedder, waiting: int) -> None:
    """Wait until so many calls wait; a bounded wait, not a sleep."""
    for _ in range(100_000):
        if shared.waiting == waiting:
            return
        threading.Event().wait(0.0001)
    raise AssertionError(f"{shared.waiting} calls wait, not {waiting}")


def test_calls_that_wait_at_the_same_time_are_one_round(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    first = pool.submit(shared.embed, ["busy"])
    model.is_in_call.acquire()
    others = [pool.submit(shared.embed, [f"text {n}", "same"]) for n in range(5)]
    wait_for(shared, 5)

    model.let_through(2)
    for other in (first, *others):
        other.result(10)

    assert len(model.calls) == 2
    assert sorted(model.calls[1]) == ["same", *(f"text {n}" for n in range(5))]


def test_every_call_gets_its_own_rows_in_its_own_order(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    model.let_through(1000)
    asked = [[f"word{(n * 7 + i) % 30}" for i in range(n % 9)] for n in range(60)]

    given = list(pool.map(shared.embed, asked))

    alone = TinyEmbedder()
    for texts, rows in zip(asked, given, strict=True):
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, alone.embed(texts))


def test_a_question_is_embedded_once_for_all_that_ask_it(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    first = pool.submit(shared.embed, ["busy"])
    model.is_in_call.acquire()
    asked = [pool.submit(shared.embed_question, "when") for _ in range(4)]
    wait_for(shared, 4)

    model.let_through(2)
    first.result(10)

    for answer in asked:
        np.testing.assert_array_equal(answer.result(10), TinyEmbedder().embed_question("when"))
    assert model.questions == ["when"]


def test_only_the_call_with_the_bad_text_fails(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    first = pool.submit(shared.embed, ["busy"])
    model.is_in_call.acquire()
    bad = pool.submit(shared.embed, ["good", TOO_LONG])
    good = pool.submit(shared.embed, ["good", "better"])
    question = pool.submit(shared.embed_question, "when")
    wait_for(shared, 3)

    model.let_through(1000)
    first.result(10)

    with pytest.raises(InvalidArgument, match="tokens"):
        bad.result(10)
    np.testing.assert_array_equal(good.result(10), TinyEmbedder().embed(["good", "better"]))
    assert question.result(10).shape == (model.dim,)


def test_a_search_goes_before_an_update_and_waits_for_one_piece_at_most(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    update = pool.submit(shared.in_background.embed, [f"chunk {n}" for n in range(40)])
    model.is_in_call.acquire()
    search = pool.submit(shared.embed, ["searched"])
    wait_for(shared, 1)

    model.let_through(2)

    assert search.result(10).shape == (1, model.dim)
    assert len(model.calls[0]) <= 8
    assert model.calls[1] == ["searched"]
    model.let_through(1000)
    rows = update.result(10)
    np.testing.assert_array_equal(rows, TinyEmbedder().embed([f"chunk {n}" for n in range(40)]))


def test_an_update_has_its_turn_though_a_search_always_waits(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    pool.submit(shared.embed, ["search 0"])
    model.is_in_call.acquire()
    update = pool.submit(shared.in_background.embed, ["chunk"])
    wait_for(shared, 1)

    for number in range(1, 8):
        pool.submit(shared.embed, [f"search {number}"])
        # The update waits too, until its turn has come.
        wait_for(shared, 2 if ["chunk"] not in model.calls else 1)
        model.let_through(1)
        model.is_in_call.acquire()
        if ["chunk"] in model.calls:
            break

    searches = [[f"search {number}"] for number in range(5)]
    assert model.calls == [*searches, ["chunk"]]
    model.let_through(100)
    assert update.result(10).shape == (1, model.dim)


def test_the_model_is_called_from_one_thread_alone(
    model: Gated, shared: SharedEmbedder, pool: ThreadPoolExecutor
) -> None:
    model.let_through(1000)

    list(pool.map(shared.embed_question, [f"question {n}" for n in range(50)]))
    list(pool.map(shared.embed, [[f"text {n}"] for n in range(50)]))

    assert len(model.threads) == 1


def test_progress_is_told_from_the_calling_thread(model: Gated, shared: SharedEmbedder) -> None:
    model.let_through(1000)
    told: list[tuple[int, str]] = []

    def note(done: int) -> None:
        told.append((done, threading.current_thread().name))

    shared.in_background.embed([f"chunk {n}" for n in range(20)], note)

    assert [done for done, _ in told] == [8, 16, 20]
    assert {name for _, name in told} == {threading.current_thread().name}


def test_no_texts_give_no_rows(shared: SharedEmbedder) -> None:
    assert shared.embed([]).shape == (0, 32)


def test_closing_finishes_what_was_asked_for_and_refuses_more(
    model: Gated, pool: ThreadPoolExecutor
) -> None:
    shared = SharedEmbedder(model)
    first = pool.submit(shared.embed, ["busy"])
    model.is_in_call.acquire()
    waiting = pool.submit(shared.embed, ["waiting"])
    wait_for(shared, 1)

    closing = pool.submit(shared.close)
    model.let_through(2)
    closing.result(10)

    assert first.result(10).shape == waiting.result(10).shape == (1, model.dim)
    with pytest.raises(WrongState, match="closed"):
        shared.embed(["late"])


def test_what_searches_asked_for_is_remembered_within_a_budget(model: Gated) -> None:
    model.let_through(1000)
    shared = SharedEmbedder(model, memory_bytes=10 * 400)

    first = shared.embed(["otter", "heron"])
    again = shared.embed(["heron", "newt", "otter", "newt"])
    for number in range(50):
        shared.embed([f"other {number}"])
    shared.embed(["otter"])
    shared.close()

    assert model.calls[:2] == [["otter", "heron"], ["newt"]]
    assert model.calls[-1] == ["otter"]
    np.testing.assert_array_equal(again[[2, 0]], first)
    np.testing.assert_array_equal(again, TinyEmbedder().embed(["heron", "newt", "otter", "newt"]))


def test_a_round_that_cannot_be_noted_hurts_nobody(
    model: Gated, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Round) -> None:
        raise RuntimeError("no number of this name")

    model.let_through(1000)
    shared = SharedEmbedder(model, on_round=fail)

    for text in ("otter", "heron"):
        assert shared.embed([text]).shape == (1, model.dim)
    shared.close()

    assert "no number of this name" in caplog.text


def test_a_model_that_gives_too_few_rows_fails_the_call_and_not_the_next() -> None:
    class Short(TinyEmbedder):
        def embed(
            self, texts: Sequence[str], progress: Callable[[int], None] | None = None
        ) -> Floats:
            return super().embed(texts, progress)[: 1 if "bad" in texts else None]

    shared = SharedEmbedder(Short())

    with pytest.raises(GossamerError, match=r"rows of shape \(1, 32\) for 2 texts"):
        shared.embed(["bad", "otter"])
    assert shared.embed(["otter", "heron"]).shape == (2, 32)
    shared.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_thread_that_has_ended(
    model: Gated, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise SystemExit  # which ends a thread in silence

    shared = SharedEmbedder(model)
    first = pool.submit(shared.embed, ["busy"])
    model.is_in_call.acquire()
    waiting = pool.submit(shared.embed, ["waiting"])
    wait_for(shared, 1)
    monkeypatch.setattr(shared, "_run", die)

    model.let_through(1)

    assert first.result(10).shape == (1, model.dim)
    with pytest.raises(WrongState, match="closed"):
        waiting.result(10)
    with pytest.raises(WrongState, match="closed"):
        shared.embed_question("late")
    shared.close()


def test_a_row_that_was_given_can_be_changed_without_harm(model: Gated) -> None:
    model.let_through(1000)
    shared = SharedEmbedder(model, memory_bytes=10_000)

    shared.embed(["otter"])[:] = 0
    shared.embed(["otter"])[:] = 0

    np.testing.assert_array_equal(shared.embed(["otter"]), TinyEmbedder().embed(["otter"]))
    shared.close()


def test_rounds_are_told_by_what_they_were_for(model: Gated) -> None:
    model.let_through(1000)
    rounds: list[Round] = []
    shared = SharedEmbedder(model, on_round=rounds.append)

    shared.embed(["otter", "heron", "otter"])
    shared.embed_question("when")
    shared.in_background.embed(["newt"])
    shared.close()

    assert rounds == [Round(2, 0), Round(0, 1), Round(1, 0, is_update=True)]


def test_it_says_of_the_model_what_the_model_says(model: Gated, shared: SharedEmbedder) -> None:
    for one in (shared, shared.in_background):
        assert (one.name, one.fingerprint) == (model.name, model.fingerprint)
        assert (one.dim, one.max_tokens) == (model.dim, model.max_tokens)
        assert one.tokenizer is model.tokenizer
