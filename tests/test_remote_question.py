"""A file on a static host is searched where it is: as if it were here, whatever its host does."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from static_site import StaticSite
from tiny_embedder import use_tiny

from gossamer import errors
from gossamer.cli import cli
from gossamer.index import Index
from gossamer.query.results import Results
from gossamer.remote import cache, ranges
from gossamer.remote.source import RemoteBytes
from gossamer.remote.sparse import BLOCK, DATA, MAP, SparseFile, taken_by
from gossamer.single.container import Container, Section, container_parts
from gossamer.single.export import ExportOptions, write_single_file
from gossamer.single.kinds import BLOCKS, MANIFEST
from gossamer.single.kinds import WORDS as WORDS_KIND

WORDS = ("lease", "otter", "kelp", "tomato", "water", "rent", "garden", "code", "march", "sun")
QUESTIONS = ("when is the lease due", "tomato and water", "otter kelp sleep")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """Many texts, so that a question touches few of them."""
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(ranges, "_PAUSE_S", 0.0)
    use_tiny(monkeypatch, with_codes=True)
    (tmp_path / "site").mkdir()
    made = Index.create(tmp_path / "index")
    made.add_texts(texts(600))
    made.export(tmp_path / "site/one.gossamer")
    return made


@pytest.fixture
def site(index: Index, tmp_path: Path) -> Iterator[StaticSite]:
    with StaticSite(tmp_path / "site") as served:
        yield served


def texts(count: int, seed: int = 7) -> list[dict[str, object]]:
    random = np.random.default_rng(seed)
    named = [f"{word}{number}" for word in WORDS for number in range(60)]
    return [
        {
            "id": f"text-{number}",
            "text": "\n".join(
                " ".join([*random.choice(WORDS, 2), *random.choice(named, 8)]) for _ in range(24)
            ),
            "metadata": {"year": 2000 + number % 30},
        }
        for number in range(count)
    ]


def url_of(site: StaticSite) -> str:
    return f"{site.url}one.gossamer"


def hits_of(results: Results) -> list[tuple[object, ...]]:
    return [(hit.id, hit.source, hit.text, hit.first, hit.score, hit.distance) for hit in results]


def answers(index: Index, **options: object) -> list[tuple[object, ...]]:
    return [
        hit
        for question in QUESTIONS
        for hit in hits_of(index.search(question, 4, **options))  # type: ignore[arg-type]
    ]


def kept(site: StaticSite) -> Path:
    """The one folder of what is kept."""
    (folder,) = (Path(os.environ["GOSSAMER_HOME"]) / "cache/remote").iterdir()
    return folder


def rewrite(path: Path, change: Callable[[dict[int, bytes]], object], least: int = 0) -> None:
    """Give the file other sections, with right checksums, and at least so many bytes."""
    container = Container(np.fromfile(path, np.uint8))
    sections = {kind: container.section(kind).tobytes() for kind in container.lengths}
    change(sections)
    parts = [Section(kind, np.frombuffer(data, np.uint8)) for kind, data in sections.items()]
    path.write_bytes(b"".join(part.tobytes() for part in container_parts(parts, least)))


class TestAnswers:
    @pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
    def test_they_are_those_of_the_index_that_was_exported(
        self, index: Index, site: StaticSite, mode: str
    ) -> None:
        far = Index.open(url_of(site))

        assert answers(far, mode=mode) == answers(index, mode=mode) != []
        where = "year >= 2010 and year < 2012"
        assert answers(far, mode=mode, where=where) == answers(index, mode=mode, where=where) != []
        assert not far.is_trusted

    def test_a_chunk_what_stands_around_it_and_what_is_like_it(
        self, index: Index, site: StaticSite
    ) -> None:
        far = Index.open(url_of(site))
        id = index.search(QUESTIONS[0])[0].id

        assert far.get(id) == index.get(id)
        assert far.context(id) == index.context(id)
        assert hits_of(far.similar(id)) == hits_of(index.similar(id)) != []
        with pytest.raises(errors.UnknownId):
            far.get(10**6)

    @pytest.mark.parametrize("graph", ["none", "slim"])
    def test_vectors_that_the_file_keeps_are_used(
        self, index: Index, site: StaticSite, tmp_path: Path, graph: str
    ) -> None:
        index.export(tmp_path / "site/one.gossamer", vectors="f16", graph=graph)
        near = Index.import_file(tmp_path / "site/one.gossamer", tmp_path / "near")

        results = Index.open(url_of(site)).search(QUESTIONS[0], mode="semantic")

        assert hits_of(results) == hits_of(near.search(QUESTIONS[0], mode="semantic")) != []
        assert results.explanation.chunks_embedded == 0

    def test_a_file_without_words_is_scanned_if_it_is_small_and_says_so_if_not(
        self, index: Index, site: StaticSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options = ExportOptions(with_words=False, replaces=True)
        write_single_file(*index.now(), tmp_path / "site/one.gossamer", options)

        assert answers(Index.open(url_of(site)), mode="lexical") == answers(index, mode="lexical")
        monkeypatch.setattr("gossamer.remote.snapshot._MOST_SCANNED", 100)
        results = Index.open(url_of(site)).search(QUESTIONS[0])
        assert results.hits
        assert results.notes == ("words were not looked for: all texts would have to be fetched",)

    def test_an_index_of_nothing_answers_with_nothing(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        Index.create(tmp_path / "empty").export(tmp_path / "site/one.gossamer", replace=True)

        assert not Index.open(url_of(site)).search("otter").hits


class TestCost:
    def test_only_a_small_share_of_the_file_is_fetched(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        size = (tmp_path / "site/one.gossamer").stat().st_size

        Index.open(url_of(site)).search("otter17 kelp3 sun5", k=2, mode="lexical")

        assert 0 < site.bytes_sent < size / 2
        assert cache._taken(kept(site)) < size / 2

    def test_the_next_process_asks_for_the_head_alone(self, site: StaticSite) -> None:
        first = answers(Index.open(url_of(site)))
        site.reset_counters()

        assert answers(Index.open(url_of(site))) == first
        assert site.requests == ["GET /one.gossamer 206"]
        assert site.bytes_sent < 4096

    def test_what_lies_near_each_other_is_one_request_and_what_is_long_is_several(
        self, tmp_path: Path
    ) -> None:
        size = (3 << 20) + 10
        file = SparseFile(tmp_path / "kept", size)

        assert file.missing([(5, 0)]) == []
        assert file.missing([(5, 9), (20 * BLOCK, 1)]) == [(0, 21 * BLOCK)]
        assert file.missing([(5, 9), (40 * BLOCK, 1)]) == [(0, BLOCK), (40 * BLOCK, BLOCK)]
        assert file.missing([(0, size)]) == [
            *((part << 20, 1 << 20) for part in range(3)),
            (3 << 20, 10),
        ]
        file.put(BLOCK, bytes(BLOCK))
        file.put(100 * BLOCK, bytes(100 * BLOCK))
        assert file.missing([(0, 300 * BLOCK)]) == [(0, 100 * BLOCK), (200 * BLOCK, 100 * BLOCK)]

    def test_small_parts_count_as_the_pages_that_they_take_on_a_disk(self) -> None:
        assert taken_by([]) == 0
        assert taken_by([(BLOCK, BLOCK)]) == 4096
        assert taken_by([(0, BLOCK), (4096 + 3 * BLOCK, 2 * BLOCK)]) == 3 * 4096

    def test_status_says_address_and_bytes(self, site: StaticSite) -> None:
        far = Index.open(url_of(site))
        far.search("otter")

        status = far.status()

        assert (status.name, status.folder) == ("one.gossamer", url_of(site))
        assert status.remote["url"] == url_of(site)
        assert status.remote["fetched"] == site.bytes_sent
        assert status.remote["requests"] == len(site.requests)
        assert 0 < int(str(status.remote["cached"])) <= int(str(status.remote["bytes"]))
        assert status.indexed == 600


class TestHosts:
    def test_one_without_ranges_gives_all_of_a_small_file(
        self, index: Index, site: StaticSite
    ) -> None:
        site.behave(ranges=False)

        results = Index.open(url_of(site)).search(QUESTIONS[0])

        assert hits_of(results) == hits_of(index.search(QUESTIONS[0]))
        assert "no byte ranges" in results.notes[0]

    def test_one_without_ranges_is_told_of_where_the_file_is_large(
        self, site: StaticSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ranges, "_MOST_WHOLE", 1000)
        site.behave(ranges=False)

        with pytest.raises(errors.TooLarge, match=r"no byte ranges.*import"):
            Index.open(url_of(site))

    def test_one_that_stops_to_give_ranges_is_no_other_file(self, site: StaticSite) -> None:
        far = Index.open(url_of(site))
        site.behave(ranges=False)

        assert far.search("otter").hits

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (404, errors.NoIndex),
            (403, errors.WrongState),
            (302, errors.Unreachable),
            (500, errors.Unreachable),
            (204, errors.Unreachable),
        ],
    )
    def test_what_is_no_file_is_said_in_words(
        self, site: StaticSite, status: int, error: type[Exception]
    ) -> None:
        site.behave(status=status)

        with pytest.raises(error, match=r"one\.gossamer"):
            Index.open(url_of(site))

    def test_where_an_address_leads_is_said_and_not_followed(self, site: StaticSite) -> None:
        site.headers = {"Location": "http://127.0.0.1:9/secret"}
        site.behave(status=302)

        with pytest.raises(errors.Unreachable, match=r"leads to 'http://127.0.0.1:9/secret'"):
            Index.open(url_of(site))

    def test_an_answer_that_breaks_off_is_asked_for_again(
        self, index: Index, site: StaticSite
    ) -> None:
        far = Index.open(url_of(site))
        site.behave(cut_after=100, times=2)

        assert answers(far) == answers(index)

    def test_a_host_that_always_breaks_off_is_an_error(self, site: StaticSite) -> None:
        far = Index.open(url_of(site))
        site.behave(cut_after=100)

        with pytest.raises(errors.Unreachable, match="broke off"):
            far.search("otter")

    def test_a_host_that_was_busy_is_asked_again(self, site: StaticSite) -> None:
        site.behave(status=503, times=2)

        assert Index.open(url_of(site)).search("otter").hits

    def test_a_silent_host_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ranges, "_TIMEOUT_S", 0.2)
        monkeypatch.setattr(ranges, "_TRIES", 1)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            begin = time.monotonic()
            with pytest.raises(errors.Unreachable, match="timed out"):
                Index.open(f"http://127.0.0.1:{silent.getsockname()[1]}/a.gossamer")
        assert time.monotonic() - begin < 5

    def test_a_compressed_file_is_refused(self, site: StaticSite) -> None:
        site.behave(gzip=True)

        with pytest.raises(errors.Unreachable, match="compresses"):
            Index.open(url_of(site))

    def test_hosts_that_each_call_the_file_otherwise_are_one(
        self, index: Index, site: StaticSite
    ) -> None:
        far = Index.open(url_of(site))
        site.behave(etag='"of another machine"')

        assert answers(far) == answers(index)

    @pytest.mark.parametrize(
        "url",
        [
            "http://example.org/one.gossamer",
            "https://name:password@example.org/one.gossamer",
            "https://example.org/",
            "https:///one.gossamer",
        ],
    )
    def test_an_address_that_is_not_asked_is_refused(self, url: str) -> None:
        with pytest.raises(errors.InvalidArgument):
            Index.open(url)

    def test_a_key_in_an_address_is_not_shown(self, site: StaticSite) -> None:
        site.behave(status=404)

        with pytest.raises(errors.NoIndex) as raised:
            Index.open(f"{url_of(site)}?key=secret")

        assert "secret" not in str(raised.value)


class TestChange:
    def replace(self, index: Index, tmp_path: Path) -> None:
        index.remove([f"text-{number}" for number in range(0, 600, 2)])
        index.add_texts([{"id": "new", "text": "The lease is due on the third of March."}])
        index.export(tmp_path / "site/one.gossamer")

    def test_a_file_that_was_replaced_is_noticed_while_it_is_open(
        self, index: Index, site: StaticSite, tmp_path: Path
    ) -> None:
        far = Index.open(url_of(site))
        self.replace(index, tmp_path)

        assert answers(far) == answers(index)

    def test_and_in_the_midst_of_a_question(
        self, index: Index, site: StaticSite, tmp_path: Path
    ) -> None:
        far = Index.open(url_of(site))
        far.search(QUESTIONS[0], mode="lexical", k=1)
        self.replace(index, tmp_path)

        assert answers(far) == answers(index)

    @pytest.mark.parametrize("etag", [None, ""])
    def test_and_by_the_next_process(
        self, index: Index, site: StaticSite, tmp_path: Path, etag: str | None
    ) -> None:
        site.behave(etag=etag)
        answers(Index.open(url_of(site)))
        old = kept(site)
        self.replace(index, tmp_path)

        assert answers(Index.open(url_of(site))) == answers(index)
        assert kept(site) != old

    def test_nothing_of_another_file_is_kept_with_the_first(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        bytes = RemoteBytes(url_of(site))
        path = tmp_path / "site/one.gossamer"
        rewrite(path, lambda sections: sections.pop(WORDS_KIND), least=bytes.size)
        here = bytes.bytes_here

        with pytest.raises(ranges.Changed):
            bytes.bring([(0, bytes.size)])

        assert (path.stat().st_size, bytes.bytes_here) == (bytes.size, here)

    def test_without_a_version_the_checksums_tell(self, site: StaticSite, tmp_path: Path) -> None:
        site.behave(etag="")
        far = Index.open(url_of(site))
        path = tmp_path / "site/one.gossamer"
        rewrite(path, lambda sections: sections.pop(WORDS_KIND), least=path.stat().st_size)

        assert answers(far) == answers(Index.open(url_of(site))) != []

    def test_one_that_is_gone_is_an_error(self, site: StaticSite, tmp_path: Path) -> None:
        far = Index.open(url_of(site))
        (tmp_path / "site/one.gossamer").unlink()

        with pytest.raises(errors.NoIndex):
            far.search("otter")


class TestDamage:
    def test_what_is_kept_and_damaged_is_fetched_again(
        self, index: Index, site: StaticSite
    ) -> None:
        answers(Index.open(url_of(site)))
        data = kept(site) / DATA
        data.write_bytes(bytes(data.stat().st_size))  # as after a loss of power

        assert answers(Index.open(url_of(site))) == answers(index)

    def test_so_are_texts_under_an_index_that_is_open(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        expected = answers(Index.open(url_of(site)))
        far = Index.open(url_of(site))  # which has no text in memory yet
        whole = np.fromfile(tmp_path / "site/one.gossamer", np.uint8)
        place = Container(whole).offsets[BLOCKS]
        with open(kept(site) / DATA, "r+b") as data:
            data.seek(place)
            data.write(os.urandom(len(whole) - place))
        site.reset_counters()

        assert answers(far) == expected
        assert site.bytes_sent > 4096

    def test_a_file_that_is_damaged_at_its_host_is_an_error_that_says_where(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        path = tmp_path / "site/one.gossamer"
        data = bytearray(path.read_bytes())
        container = Container(np.frombuffer(bytes(data), np.uint8))
        place, length = container.offsets[BLOCKS], container.lengths[BLOCKS]
        data[place : place + length] = os.urandom(length)
        path.write_bytes(data)

        with pytest.raises(errors.Damaged, match=r"one\.gossamer.*damaged"):
            Index.open(url_of(site)).search("otter")

    @pytest.mark.parametrize("content", [b"", b"GOSS", b"<!doctype html>" * 9, b"GOSSAMER" * 99])
    def test_what_is_no_index_is_refused(
        self, site: StaticSite, tmp_path: Path, content: bytes
    ) -> None:
        (tmp_path / "site/one.gossamer").write_bytes(content)

        with pytest.raises((errors.NotGossamer, errors.UnknownVersion)):
            Index.open(url_of(site))

    def test_a_process_that_was_killed_leaves_nothing_that_is_believed(
        self, tmp_path: Path
    ) -> None:
        data = os.urandom(5 * BLOCK + 10)
        first = SparseFile(tmp_path / "kept", len(data))
        first._data.write(data[:BLOCK])  # and was killed before it could say so
        first.put(2 * BLOCK, data[2 * BLOCK : 3 * BLOCK])

        again = SparseFile(tmp_path / "kept", len(data))

        assert again.missing([(0, BLOCK)]) == [(0, BLOCK)]
        assert again.missing([(2 * BLOCK + 5, 10)]) == []
        assert again.missing([(5 * BLOCK, 10)]) == [(5 * BLOCK, 10)]
        assert again.bytes[2 * BLOCK : 3 * BLOCK].tobytes() == data[2 * BLOCK : 3 * BLOCK]


class TestStrangers:
    def test_its_model_is_one_that_is_known_here_by_name(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        def change(sections: dict[int, bytes]) -> None:
            values = json.loads(sections[MANIFEST])
            values["model"]["name"] = "http://127.0.0.1:9/v1#theirs"
            sections[MANIFEST] = json.dumps(values).encode()

        rewrite(tmp_path / "site/one.gossamer", change)
        far = Index.open(url_of(site))

        with pytest.raises(errors.Untrusted, match="--model"):
            far.search("otter")
        assert far.search("otter", mode="lexical").hits
        assert Index.open(url_of(site), model="tiny").search("otter").hits

    def test_folders_and_servers_that_it_names_are_nobodys(
        self, site: StaticSite, tmp_path: Path
    ) -> None:
        def change(sections: dict[int, bytes]) -> None:
            values = json.loads(sections[MANIFEST])
            values |= {"roots": ["/etc"], "origin": {"url": "http://127.0.0.1:9"}}
            sections[MANIFEST] = json.dumps(values).encode()

        rewrite(tmp_path / "site/one.gossamer", change)
        status = Index.open(url_of(site)).status()

        assert (status.roots, status.follows) == ((), {})

    @pytest.mark.parametrize(
        ("claim", "error"),
        [
            ("bytes 0-65535/999999999999999", errors.TooLarge),
            ("bytes 0-65535/60000000000", (errors.Damaged, errors.Unreachable)),
            ("bytes 0-65535/65536", errors.Truncated),
            ("bytes 0-65535/9", errors.Unreachable),
            ("bytes 5-65540/700000", errors.Unreachable),
            ("bytes 0-65535/*", errors.Unreachable),
        ],
    )
    def test_sizes_that_its_host_claims_fill_neither_disk_nor_memory(
        self, site: StaticSite, claim: str, error: type[Exception]
    ) -> None:
        site.headers = {"Content-Range": claim}

        with pytest.raises(error):
            Index.open(url_of(site))

        assert sum(map(cache._taken, cache._kept())) <= 1 << 16

    def test_a_catalogue_larger_than_the_cache_is_not_fetched(
        self, site: StaticSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(cache.LIMIT, "66KB")
        site.reset_counters()

        with pytest.raises(errors.TooLarge, match=cache.LIMIT):
            Index.open(url_of(site)).search("otter", mode="semantic")

        assert site.bytes_sent < 200_000

    def test_it_is_not_trusted(self, site: StaticSite) -> None:
        with pytest.raises(errors.InvalidArgument, match="not trusted"):
            Index.open(url_of(site), trust=True)

    def test_what_is_kept_is_its_owners_alone(self, site: StaticSite) -> None:
        Index.open(url_of(site))

        assert kept(site).stat().st_mode & 0o077 == 0
        assert (kept(site) / DATA).stat().st_mode & 0o077 == 0


class TestBound:
    def test_what_was_used_longest_ago_goes_first(
        self, site: StaticSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = (tmp_path / "site/one.gossamer").read_bytes()
        for number in range(3):
            (tmp_path / f"site/{number}.gossamer").write_bytes(whole)
        monkeypatch.setenv(cache.LIMIT, str(int(2.2 * len(whole))))
        far = [Index.open(f"{site.url}{number}.gossamer") for number in range(3)]
        for number, one in enumerate(far[:2]):
            one.snapshot.bytes.bring([(0, len(whole))])  # type: ignore[attr-defined]
            os.utime(one.snapshot.folder / MAP, (number, number))

        far[2].snapshot.bytes.bring([(0, len(whole))])  # type: ignore[attr-defined]

        folders = [one.snapshot.folder.is_dir() for one in far]
        assert folders == [False, True, True]
        assert sum(map(cache._taken, cache._kept())) <= cache.limit()
        assert far[0].search("otter").hits  # with what it has open

    def test_a_file_that_outgrows_the_bound_begins_anew(
        self, index: Index, site: StaticSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        size = (tmp_path / "site/one.gossamer").stat().st_size
        monkeypatch.setenv(cache.LIMIT, str(int(size * 0.8)))
        far = Index.open(url_of(site))

        questions = [str(text["text"])[:60] for text in texts(600)[::40]]

        found = [hits_of(far.search(question, 3)) for question in questions]

        assert found == [hits_of(index.search(question, 3)) for question in questions]
        assert site.bytes_sent > size
        assert sum(map(cache._taken, cache._kept())) <= cache.limit()


class TestNothingElse:
    @pytest.mark.parametrize(
        "change",
        [
            lambda far, _: far.add_paths(["."]),
            lambda far, _: far.add_texts([{"id": "a", "text": "b"}]),
            lambda far, _: far.remove(["a"]),
            lambda far, _: far.compact(),
            lambda far, folder: far.adopt(folder / "index"),
            lambda far, folder: far.export(folder / "copy.gossamer"),
            lambda far, _: far.pull(),
            lambda far, _: far.push(),
            lambda far, _: far.conflicts(),
            lambda far, _: far.check(),
            lambda far, _: far.accept(),
            lambda far, _: far.folder,
        ],
    )
    def test_it_can_be_searched_and_nothing_else(
        self, site: StaticSite, tmp_path: Path, change: Callable[[Index, Path], object]
    ) -> None:
        far = Index.open(url_of(site))

        with pytest.raises(errors.WrongState, match=f"a file at {url_of(site)}"):
            change(far, tmp_path)


class TestCommands:
    def run(self, *arguments: str) -> str:
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    def test_search_similar_show_and_status(self, index: Index, site: StaticSite) -> None:
        asked = ("--index", url_of(site), "--json")
        (hit, *_) = json.loads(self.run("search", "otter and kelp", *asked))["hits"]

        assert hit["id"] == index.search("otter and kelp")[0].id
        assert json.loads(self.run("show", str(hit["id"]), *asked))["id"] == hit["id"]
        assert json.loads(self.run("similar", str(hit["id"]), *asked))["hits"]
        assert json.loads(self.run("status", *asked))["remote"]["url"] == url_of(site)
        said = self.run("status", "--index", url_of(site))
        assert "are kept here" in said
        assert "gossamer trust" not in said

    def test_an_address_is_not_served(self, site: StaticSite) -> None:
        result = CliRunner().invoke(cli, ["serve", url_of(site)])

        assert result.exit_code != 0
        assert f"{url_of(site)} is an address" in result.output

    @pytest.mark.parametrize(
        "command", [("add", "."), ("remove", "a"), ("compact",), ("check",), ("watch",), ("pull",)]
    )
    def test_other_commands_refuse_an_address(
        self, site: StaticSite, command: tuple[str, ...]
    ) -> None:
        result = CliRunner().invoke(cli, [*command, "--index", url_of(site)])

        assert result.exit_code != 0
        assert "address" in result.output or "a file at" in result.output
        assert "Traceback" not in result.output


_ASK = """
import sys
from gossamer.index import Index
for question in sys.argv[2:]:
    for hit in Index.open(sys.argv[1]).search(question, 4, mode="lexical"):
        print(hit.id, hit.source, hit.first)
"""


def test_two_processes_fill_one_cache(index: Index, site: StaticSite) -> None:
    questions = [str(text["text"])[:40] for text in texts(600)[::60]]
    expected = [
        f"{hit.id} {hit.source} {hit.first}"
        for question in questions
        for hit in index.search(question, 4, mode="lexical")
    ]

    command = [sys.executable, "-c", _ASK, url_of(site)]
    asked = [
        subprocess.Popen([*command, *order], stdout=subprocess.PIPE, text=True)
        for order in (questions, questions)
    ]

    for process in asked:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert output.split("\n")[:-1] == expected
    assert answers(Index.open(url_of(site))) == answers(index)
