"""Routes that change the index, and the queue in which changes wait."""

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from served import lines_of, make_index, problem, serve
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import Cancelled, Locked
from gossamer.server import changes
from gossamer.server.changes import ChangeQueue
from gossamer.store import begin, lock
from gossamer.update.report import UpdateProgress, Watcher


class TestChanges:
    def test_texts_that_are_put_in_are_found(self, client: TestClient) -> None:
        given = {"id": "n1", "text": "Otters sleep in kelp.", "metadata": {"year": 2024}}

        report = client.post("/v1/texts", json={"texts": [given]}).json()

        assert (report["added"], report["chunks_embedded"]) == (1, 1)
        hit = client.get("/v1/search", params={"q": "otters"}).json()["hits"][0]
        assert (hit["path"], hit["metadata"]) == ("n1", {"year": 2024})

    def test_a_stream_says_how_far_it_is_and_ends_with_the_report(self, client: TestClient) -> None:
        texts = [{"id": str(n), "text": f"Otter number {n} sleeps."} for n in range(200)]

        answer = client.post("/v1/texts?stream=true", json={"texts": texts})

        *steps, last = lines_of(answer)
        assert {"phase", "files_done", "files_total", "chunks_embedded"} <= set(steps[0])
        assert steps[-1]["phase"] in ("embedding", "writing")
        assert last["report"]["added"] == 200

    def test_an_error_in_mid_stream_is_its_last_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(texts: Sequence[str]) -> None:
            if any("poison" in text for text in texts):
                raise RuntimeError("secret details of the machine")

        use_tiny(monkeypatch, with_codes=True, embedder=TinyEmbedder(fail))
        make_index(tmp_path)
        with serve(tmp_path) as client:
            texts = [{"id": "p", "text": "poison"}]
            streamed = lines_of(client.post("/v1/texts?stream=true", json={"texts": texts}))
            plain = client.post("/v1/texts", json={"texts": texts})

        assert streamed[-1]["error"] == "internal"
        assert "secret" not in problem(plain, 500, "internal")
        assert "secret details" in caplog.text

    def test_all_folders_are_brought_up_to_date(self, client: TestClient, folder: Path) -> None:
        (folder / "files" / "new.txt").write_text("Herons fish.", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": None}).json()

        assert (report["added"], report["unchanged"]) == (1, 2)

    def test_a_path_brings_the_folder_that_holds_it_up_to_date(
        self, client: TestClient, folder: Path
    ) -> None:
        (folder / "files" / "new.txt").write_text("Herons fish.", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": [str(folder / "files" / "new.txt")]})

        assert report.json()["added"] == 1
        assert client.get("/v1/status").json()["roots"] == [(folder / "files").as_posix()]

    def test_what_the_owner_excluded_stays_excluded(self, client: TestClient, folder: Path) -> None:
        hidden = folder / "files" / ".hidden"
        hidden.mkdir()
        (hidden / "key.txt").write_text("hush", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": [str(hidden)]}).json()

        assert report["added"] == 0
        assert client.get("/v1/search?q=hush&mode=lexical").json()["hits"] == []

    def test_a_name_is_taken_out(self, client: TestClient, folder: Path) -> None:
        name = str(folder / "files" / "garden.txt")

        report = client.post("/v1/remove", json={"names": [name, "nothing of this name"]}).json()

        assert report["removed"] == 1
        assert (folder / "files" / "garden.txt").exists()

    def test_another_process_that_changes_the_index_is_409(self, folder: Path) -> None:
        with serve(folder, lock_wait_s=0.0) as client, begin(folder / "index", "another"):
            answer = client.post("/v1/texts", json={"texts": [{"id": "a", "text": "b"}]})

        assert "another" in problem(answer, 409, "locked")

    def test_more_items_than_the_server_takes_are_413(self, folder: Path) -> None:
        with serve(folder, most_items=2) as client:
            names = client.post("/v1/remove", json={"names": ["a", "b", "c"]})

        problem(names, 413, "too_large")

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/v1/remove", {"names": [1] * 20_000}, 422),
            ("/v1/remove", {"names": ["a"] * 10_001}, 413),
            ("/v1/remove", {f"name {n}": 1 for n in range(20_000)}, 422),
            ("/v1/sync/vectors", {"ids": [1] * 513}, 413),
            ("/v1/sync/chunks", {"ids": [1] * 10_001}, 413),
            ("/v1/texts", {"texts": [{}] * 9000}, 422),
            ("/v1/texts", {"texts": [{f"{n}": 1 for n in range(50)}] * 900}, 422),
            (
                "/v1/texts",
                {"texts": [{"id": "a", "text": "b", "metadata": {"a": [], "b": []}}] * 900},
                422,
            ),
            (
                "/v1/texts",
                {"texts": [{"id": "a", "text": "b", "metadata": {str(n): n for n in range(1001)}}]},
                413,
            ),
        ],
    )
    def test_of_a_bad_body_only_the_first_faults_are_looked_at(
        self, client: TestClient, path: str, body: dict[str, Any], status: int
    ) -> None:
        answer = client.post(path, json=body)

        assert answer.status_code == status
        # Each fault that is looked at takes time, and a body may hold millions.
        further = re.search(r"and (\d+) more$", answer.json()["message"])
        assert further is None or int(further[1]) < 10

    def test_bodies_that_hold_no_texts_are_small(self, client: TestClient) -> None:
        names = {"names": ["x" * 1000] * 1100}
        brackets = {"texts": [{"id": "a", "text": "[" * 1_000_001}]}

        problem(client.post("/v1/remove", json=names), 413, "too_large")
        problem(client.post("/v1/texts", json=brackets), 413, "too_large")

    def test_metadata_that_cannot_be_kept_is_400(self, client: TestClient) -> None:
        body = '{"texts": [{"id": "a", "text": "b", "metadata": {"n": NaN}}]}'

        answer = client.post(
            "/v1/texts", content=body, headers={"Content-Type": "application/json"}
        )

        problem(answer, 400, "invalid_argument")


class TestChangeQueue:
    def test_changes_run_one_at_a_time_and_in_order(self) -> None:
        running, order = [0], []

        def work(number: int) -> Callable[[Watcher], int]:
            def run(_: Watcher) -> int:
                running[0] += 1
                assert running[0] == 1
                order.append(number)
                running[0] -= 1
                return number

            return run

        async def run_all() -> list[int]:
            return await asyncio.gather(*(queue.run(work(n)) for n in range(20)))

        queue = ChangeQueue(100, 10)
        assert asyncio.run(run_all()) == order == list(range(20))
        queue.close(10)

    def test_a_change_goes_on_when_its_client_goes_away(self) -> None:
        has_begun, may_go_on, is_done = threading.Event(), threading.Event(), threading.Event()

        def work(_: Watcher) -> None:
            has_begun.set()
            assert may_go_on.wait(10)
            is_done.set()

        async def leave() -> None:
            waiting = asyncio.create_task(queue.run(work))
            await asyncio.to_thread(has_begun.wait, 10)
            waiting.cancel()

        queue = ChangeQueue(10, 10)
        asyncio.run(leave())
        may_go_on.set()
        assert is_done.wait(10)
        queue.close(10)

    def test_a_change_that_fails_after_its_client_went_is_in_the_log(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        has_begun, may_go_on = threading.Event(), threading.Event()

        def work(_: Watcher) -> None:
            has_begun.set()
            assert may_go_on.wait(10)
            raise RuntimeError("the disk burns")

        async def leave() -> None:
            waiting = asyncio.create_task(queue.run(work))
            await asyncio.to_thread(has_begun.wait, 10)
            waiting.cancel()

        queue = ChangeQueue(10, 10)
        asyncio.run(leave())
        may_go_on.set()
        queue.close(10)

        assert "the disk burns" in caplog.text

    def test_a_change_whose_turn_does_not_come_is_locked_and_never_begun(self) -> None:
        may_go_on, begun = threading.Event(), []

        async def ask() -> None:
            first = asyncio.create_task(queue.run(lambda _: may_go_on.wait(10)))
            await asyncio.sleep(0)
            with pytest.raises(Locked, match="in hand for long"):
                await queue.run(lambda _: begun.append(1))
            may_go_on.set()
            await first

        queue = ChangeQueue(10, 0.05)
        asyncio.run(ask())
        queue.close(10)
        assert begun == []

    def test_closing_ends_the_change_in_hand_at_its_next_step(self) -> None:
        has_begun = threading.Event()

        def work(watch: Watcher) -> None:
            while True:
                has_begun.set()
                watch(UpdateProgress("embedding"))

        async def ask() -> None:
            in_hand = asyncio.create_task(queue.run(work))
            waiting = asyncio.create_task(queue.run(lambda _: None))
            await asyncio.to_thread(has_begun.wait, 10)
            await asyncio.to_thread(queue.close, 10)
            for change in (in_hand, waiting):
                with pytest.raises(Cancelled, match="shutting down"):
                    await change

        queue = ChangeQueue(10, 10)
        asyncio.run(ask())

    def test_between_changes_is_a_gap_in_which_other_processes_can_begin(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gaps: list[float] = []
        monkeypatch.setattr(changes, "_GAP_EVERY_S", 0.0)
        monkeypatch.setattr(changes.time, "sleep", gaps.append)

        async def run_all() -> None:
            await asyncio.gather(*(queue.run(lambda _: None) for _ in range(5)))

        queue = ChangeQueue(10, 10)
        asyncio.run(run_all())
        queue.close(10)

        assert gaps
        assert min(gaps) > lock._POLL_S
