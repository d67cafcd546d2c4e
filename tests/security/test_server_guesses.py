"""Who guesses the token of a server waits, and who has it does not."""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import Message

from gossamer.server import guesses
from gossamer.server.app import create_app
from gossamer.server.guesses import Guesses
from gossamer.server.options import ServeOptions

TOKEN = "0123456789abcdef-token"
ADDRESS = "192.0.2.7"


class Time:
    """A clock that goes on when somebody sleeps, and a sleep that can be kept from ending."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.may_wake: asyncio.Event | None = None

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.may_wake is not None:
            await self.may_wake.wait()
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def found(time: Time) -> Guesses:
    return Guesses(time.clock, time.sleep)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def guess(found: Guesses, count: int, address: str = ADDRESS) -> None:
    for _ in range(count):
        assert await found.wait(address, is_right=False)


def test_wrong_tokens_wait_longer_and_longer_up_to_a_bound(found: Guesses, time: Time) -> None:
    run(guess(found, 14))

    assert time.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0]


def test_each_address_waits_for_itself(found: Guesses, time: Time) -> None:
    async def work() -> None:
        await guess(found, 20)
        time.slept.clear()
        await guess(found, 5, "192.0.2.8")

    run(work())

    assert time.slept == []


@pytest.mark.parametrize(
    ("first", "second"),
    [("2001:db8::1", "2001:db8::ffff:2"), ("192.0.2.7", "::ffff:192.0.2.7"), ("", "")],
)
def test_one_machine_has_one_account(found: Guesses, time: Time, first: str, second: str) -> None:
    async def work() -> None:
        await guess(found, 5, first)
        await guess(found, 1, second)

    run(work())

    assert time.slept == [0.25]


def test_what_was_wrong_is_forgotten_after_a_while(found: Guesses, time: Time) -> None:
    async def work() -> None:
        await guess(found, 20)
        time.now += guesses._FORGET_S + 1
        time.slept.clear()
        await guess(found, 5)

    run(work())

    assert time.slept == []


def test_asking_at_once_gains_nothing(found: Guesses, time: Time) -> None:
    async def work() -> None:
        await guess(found, 20)
        time.slept.clear()
        time.may_wake = asyncio.Event()
        asked = [asyncio.create_task(found.wait(ADDRESS, is_right=False)) for _ in range(100)]
        # The right one among them is not judged either: an answer would show it.
        asked.append(asyncio.create_task(found.wait(ADDRESS, is_right=True)))
        await asyncio.sleep(0)
        assert [task.result() for task in asked if task.done()] == [False] * 97
        time.may_wake.set()
        assert await asyncio.gather(*asked) == [True] * 4 + [False] * 97

    run(work())

    assert time.slept == [4.0] * 4


def test_the_right_one_waits_where_wrong_ones_came_from(found: Guesses, time: Time) -> None:
    async def work() -> None:
        await guess(found, 20)
        time.slept.clear()
        assert await found.wait(ADDRESS, is_right=True)

    run(work())

    assert time.slept == [4.0]


def test_who_showed_the_right_one_is_not_kept_out_by_others_of_its_address(
    found: Guesses, time: Time
) -> None:
    async def work() -> None:
        assert await found.wait(ADDRESS, is_right=True)
        await guess(found, 20)
        time.may_wake = asyncio.Event()
        asked = [asyncio.create_task(found.wait(ADDRESS, is_right=False)) for _ in range(100)]
        await asyncio.sleep(0)
        time.slept.clear()
        assert await found.wait(ADDRESS, is_right=True)
        assert time.slept == []
        time.may_wake.set()
        await asyncio.gather(*asked)

    run(work())


def test_however_many_addresses_there_are_few_wait_and_few_are_remembered(
    found: Guesses, time: Time
) -> None:
    async def work() -> None:
        addresses = [f"10.0.{n // 256}.{n % 256}" for n in range(guesses._MOST_ADDRESSES + 100)]
        for address in addresses:
            await guess(found, 5, address)
        time.may_wake = asyncio.Event()
        asked = [asyncio.create_task(found.wait(one, is_right=False)) for one in addresses[-200:]]
        await asyncio.sleep(0)
        time.may_wake.set()
        assert sum(await asyncio.gather(*asked)) == guesses._ALL_AT_ONCE

    run(work())

    assert len(found._tries) == guesses._MOST_ADDRESSES


async def ask(app: FastAPI, token: str) -> tuple[int, dict[str, str]]:
    """Ask with a header of this token; give the status and the headers of the answer."""
    found: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        found.append(message)

    given = [(b"host", b"localhost"), *([(b"authorization", token.encode())] if token else [])]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/status",
        "query_string": b"",
        "headers": given,
        "client": (ADDRESS, 1234),
    }
    await app(scope, receive, send)
    return found[0]["status"], {key.decode(): value.decode() for key, value in found[0]["headers"]}


def ask_at_once(folder: Path, tokens: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Ask a server that has a token, with all of these at once."""

    async def ask_all() -> list[tuple[int, dict[str, str]]]:
        return await asyncio.gather(*(ask(app, token) for token in tokens))

    app = create_app(folder / "index", ServeOptions(token=TOKEN))
    try:
        return asyncio.run(ask_all())
    finally:
        app.state.service.close()


def test_a_server_refuses_to_judge_many_tokens_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "_FREE", 0)
    monkeypatch.setattr(guesses, "_FIRST_S", 2.0)
    wrong = [f"Bearer {number:016}" for number in range(20)]

    answers = ask_at_once(folder, [*wrong, f"Bearer {TOKEN}"])

    assert [status for status, _ in answers] == [401] * 4 + [429] * 17
    assert int(answers[-1][1]["retry-after"]) > 0


def test_the_right_token_is_let_in_beside_wrong_ones_if_it_was_shown_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "_FREE", 1)
    monkeypatch.setattr(guesses, "_FIRST_S", 2.0)
    right, wrong = f"Bearer {TOKEN}", f"Bearer {TOKEN}x"

    answers = ask_at_once(folder, [right, *[wrong] * 10, right])

    assert [status for status, _ in answers] == [200, *[401] * 5, *[429] * 5, 200]


def test_who_sends_no_token_guesses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "_FREE", 0)
    monkeypatch.setattr(guesses, "_AT_ONCE", 0)

    answers = ask_at_once(folder, ["", "Bearer ", "Basic YTpi"] * 5)

    assert {status for status, _ in answers} == {401}
