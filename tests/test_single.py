"""An index as one file: written, read back, and never believed when it is damaged."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from copies import copy_index
from segment_format import BLOCKS, DIRECTORY, GROUPS, STRINGS, read_segment, write_segment
from tiny_embedder import use_tiny
from words_format import WordsReader

from gossamer import _core, errors
from gossamer.cli import cli
from gossamer.files import map_file, write_file
from gossamer.index import Index
from gossamer.single import site
from gossamer.single.container import Container, Section, container_parts, crc32c, sections_of
from gossamer.single.kinds import CODEBOOK, MANIFEST, ORDER, SEGMENT, WORDS
from gossamer.store.codecs import BLOCK_BYTES, QUICK, USUAL
from gossamer.store.segments import NO_CODES, SegmentCatalogue, SegmentTexts

NO_NUMBERS = np.zeros(0, np.uint32)
NOTES = {
    "lease.md": "# Lease\n\nThe lease is due for renewal on the third of March.\n\n"
    "## Rent\n\nRent is 900 a month, and rent rises with the lease.\n",
    "deep/garden.txt": "Tomatoes want sun and much water.\n" * 60,
    "deep/code.py": 'def grow(tomatoes):\n    """Water them."""\n    return tomatoes + 1\n',
    "page.html": "<html><title>Otters</title><body><p>Otters sleep in kelp.</p></body>",
}
QUESTIONS = ("when is the lease due", "tomatoes and water", "otters", "rent", "return")
BROKEN = (errors.Damaged, errors.NotGossamer, errors.Truncated, errors.UnknownVersion)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    use_tiny(monkeypatch, with_codes=True)
    return make(tmp_path)


def make(folder: Path, **options: object) -> Index:
    """An index of files of several kinds, and of two texts with metadata."""
    for name, text in NOTES.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    index = Index.create(folder / "index", **options)  # type: ignore[arg-type]
    index.add_paths([folder / "files"])
    index.add_texts(
        [
            {"id": "kelp", "text": "Kelp is no plant.", "metadata": {"lang": "en", "year": 2021}},
            {"id": "algue", "text": "Le varech flotte.", "metadata": {"lang": "fr"}},
        ]
    )
    return index


def answers(index: Index, **options: object) -> list[tuple[object, ...]]:
    """All that a search says, but for where the files are."""
    return [
        (
            *(hit.id, hit.source.rpartition("files/")[2], hit.key, hit.kind, hit.title, hit.unit),
            *(hit.first, hit.last, hit.start, hit.end, hit.text),
            *(hit.score, hit.distance, tuple(hit.metadata.items())),
        )
        for question in QUESTIONS
        for hit in index.search(question, 4, **options).hits  # type: ignore[arg-type]
    ]


def rewritten(path: Path, change: Callable[[dict[int, bytes]], None]) -> Path:
    """The file with other sections, all checksums being right."""
    container = Container(map_file(path))
    sections = {kind: container.section(kind).tobytes() for kind in container.lengths}
    change(sections)
    target = path.with_name("changed.gossamer")
    parts = [Section(kind, np.frombuffer(data, np.uint8)) for kind, data in sections.items()]
    write_file(target, container_parts(parts))
    return target


def with_values(**values: object) -> Callable[[dict[int, bytes]], None]:
    """Another manifest."""

    def change(sections: dict[int, bytes]) -> None:
        sections[MANIFEST] = json.dumps(json.loads(sections[MANIFEST]) | values).encode()

    return change


class TestRoundTrip:
    @pytest.mark.parametrize("options", [{}, {"keep": "all"}, {"keep": "hot:1MB"}])
    def test_an_imported_index_answers_as_the_exported_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object]
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        index = make(tmp_path, **options)

        index.export(tmp_path / "one.gossamer")
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        assert answers(again) == answers(index)
        assert answers(again, mode="lexical") == answers(index, mode="lexical")
        assert answers(again, where='lang == "fr"') == answers(index, where='lang == "fr"') != []
        assert answers(again, types=["python"]) == answers(index, types=["python"]) != []
        assert again.check() == []

    def test_a_model_without_a_codebook_gives_one_of_its_own_along(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch)
        index = make(tmp_path)

        index.export(tmp_path / "one.gossamer")
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        assert answers(again) == answers(index)

    @pytest.mark.parametrize("graph", ["none", "slim", "full"])
    @pytest.mark.parametrize("scalar", ["f16", "int8"])
    def test_all_vectors_and_a_graph_can_be_put_in(
        self, index: Index, tmp_path: Path, scalar: str, graph: str
    ) -> None:
        report = index.export(tmp_path / "one.gossamer", vectors=scalar, graph=graph)
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        width = {"f16": 2, "int8": 1}[scalar]
        assert report.bytes_by_section["vectors"] == report.chunks * 32 * width
        assert ("graph" in report.bytes_by_section) == (graph != "none")
        assert ("codes" in report.bytes_by_section) == (graph == "none")
        assert {hit[1] for hit in answers(again)} == {hit[1] for hit in answers(index)}
        again.add_texts([{"id": "new", "text": "A walrus has tusks."}])
        assert again.search("walrus tusks", 1).hits[0].source == "new"

    def test_an_empty_index_comes_through(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch)

        Index.create(tmp_path / "index").export(tmp_path / "one.gossamer")
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        assert again.search("anything").hits == ()

    def test_an_imported_index_takes_changes_and_is_fresh(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        assert again.status().is_fresh
        again.remove(["kelp"])
        again.add_texts([{"id": "new", "text": "A walrus has tusks."}])
        assert again.search("walrus tusks", 1).hits[0].source == "new"
        assert again.check() == []


class TestExport:
    def test_the_same_index_gives_the_same_bytes(self, index: Index, tmp_path: Path) -> None:
        index.export(tmp_path / "one.gossamer")
        Index.open(index.folder).export(tmp_path / "two.gossamer")

        assert (tmp_path / "one.gossamer").read_bytes() == (tmp_path / "two.gossamer").read_bytes()

    def test_sections_stand_in_the_order_that_opening_reads_them(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")

        kinds = list(Container(map_file(tmp_path / "one.gossamer")).lengths)
        assert kinds == [kind for kind in ORDER if kind in kinds]
        assert {MANIFEST, STRINGS, GROUPS, BLOCKS, WORDS, CODEBOOK, 1, 3} <= set(kinds)

    def test_no_path_of_this_machine_is_in_the_file(self, index: Index, tmp_path: Path) -> None:
        index.export(tmp_path / "one.gossamer")

        catalogue = SegmentCatalogue([segment_of(tmp_path / "one.gossamer")], ())
        assert catalogue.paths == sorted(["algue", "kelp", *(f"files/{name}" for name in NOTES)])
        assert str(tmp_path).encode() not in (tmp_path / "one.gossamer").read_bytes()

    def test_folders_of_one_name_stay_apart_and_can_be_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        index = Index.create(tmp_path / "index")
        for name in ("a/notes", "b/notes"):
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "one.txt").write_text(f"Words of {name}.", encoding="utf-8")
        index.add_paths([tmp_path / "a/notes", tmp_path / "b/notes"])

        def sources(root_name: str) -> list[str]:
            index.export(tmp_path / "one.gossamer", root_name=root_name)
            return SegmentCatalogue([segment_of(tmp_path / "one.gossamer")], ()).paths

        assert sources("") == ["notes-2/one.txt", "notes/one.txt"]
        assert sources("site") == ["site/notes-2/one.txt", "site/notes/one.txt"]
        with pytest.raises(errors.InvalidArgument, match="relative"):
            sources("/etc")

    def test_what_changed_or_is_gone_is_left_out_and_named(
        self, index: Index, tmp_path: Path
    ) -> None:
        (tmp_path / "files/lease.md").write_text("Other words.", encoding="utf-8")
        (tmp_path / "files/deep/code.py").unlink()

        report = index.export(tmp_path / "one.gossamer")
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        gone = [str(tmp_path / "files" / name) for name in ("deep/code.py", "lease.md")]
        assert list(report.left_out) == gone
        assert b"Other words" not in (tmp_path / "one.gossamer").read_bytes()
        assert not any("lease" in hit.text for hit in again.search("lease", 10).hits)
        assert again.search("tomatoes", 1).hits[0].source == "files/deep/garden.txt"
        assert again.check() == []

    def test_an_index_of_which_nothing_can_be_read_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch)
        (tmp_path / "files").mkdir()
        (tmp_path / "files/a.txt").write_text("Some words.", encoding="utf-8")
        index = Index.create(tmp_path / "index")
        index.add_paths([tmp_path / "files"])
        (tmp_path / "files/a.txt").unlink()

        with pytest.raises(errors.WrongState, match="not one of 1"):
            index.export(tmp_path / "one.gossamer")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "index"]

    @pytest.mark.parametrize("options", [{"vectors": "f64"}, {"graph": "slim"}])
    def test_what_cannot_be_is_refused(
        self, index: Index, tmp_path: Path, options: dict[str, str]
    ) -> None:
        with pytest.raises(errors.InvalidArgument):
            index.export(tmp_path / "one.gossamer", **options)  # type: ignore[arg-type]


class TestWords:
    def test_words_say_what_the_lexical_pass_counts(self, index: Index, tmp_path: Path) -> None:
        index.export(tmp_path / "one.gossamer")
        container = Container(map_file(tmp_path / "one.gossamer"))
        segment = segment_of(tmp_path / "one.gossamer")
        catalogue, texts = SegmentCatalogue([segment], ()), SegmentTexts([segment])
        _, offsets = catalogue.text_places
        counted: dict[str, Counter[int]] = {}
        for number, id in enumerate(catalogue.chunk_ids.tolist()):
            row = int(catalogue.document_rows([id])[0])
            title = catalogue.document(row).title_span or (0, 0)
            for start, end in (title, *zip(*catalogue.spans([id]), strict=True)):
                text = texts.read(1, int(offsets[row] + start), int(offsets[row] + end))
                for term in _core.spaced_terms(text).split():
                    counted.setdefault(term, Counter())[number] += 1

        words = WordsReader(container.section(WORDS).tobytes())

        assert words.chunks == catalogue.chunk_count
        assert list(words) == sorted(counted, key=str.encode)
        assert {term: words.find(term) for term in words} == counted
        assert words.find("unheard") == words.find("") == {}

    def test_many_terms_and_large_numbers_come_through(self) -> None:
        writer = _core.PostingsWriter()
        expected: dict[str, dict[int, int]] = {}
        for chunk in (70_000, 3, 2, 20_000, 0):
            text = " ".join([f"term{n:05d}" for n in range(chunk % 1000, 700)] + ["all"] * 300)
            writer.add(chunk, text.encode())
            writer.add(chunk, b"zebra")
            terms = _core.spaced_terms(text.encode()).split()
            for term, times in Counter([*terms, "zebra"]).items():
                expected.setdefault(term, {})[chunk] = times

        words = WordsReader(writer.finish(70_001, NO_NUMBERS))

        assert words.terms == len(expected)
        assert {term: words.find(term) for term in expected} == expected

    def test_no_words_are_words_too(self) -> None:
        words = WordsReader(_core.PostingsWriter().finish(0, NO_NUMBERS))

        assert list(words) == []
        assert words.find("any") == {}

    def test_damage_is_found_wherever_it_is(self) -> None:
        writer = _core.PostingsWriter()
        writer.add(0, b"cat dog kelp")
        data = writer.finish(1, NO_NUMBERS)

        for place in range(len(data)):
            hurt = bytearray(data)
            hurt[place] ^= 0x55
            try:
                words = WordsReader(bytes(hurt))
                found = {term: words.find(term) for term in ("cat", "dog", "kelp")}
            except BROKEN:
                continue
            # The numbers of chunks and terms are all that only the file's own checksum covers.
            assert 12 <= place < 20
            assert set(map(str, found.values())) == {"{0: 1}"}


class TestImport:
    def test_an_index_that_is_there_stays_unless_it_is_to_be_replaced(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        other = Index.create(tmp_path / "other", keep="hot:1MB")
        other.add_texts([{"id": "mine", "text": "Mine alone."}])
        before = other.status()

        with pytest.raises(errors.InvalidArgument, match="already"):
            Index.import_file(tmp_path / "one.gossamer", tmp_path / "other")
        assert other.status() == before

        replaced = Index.import_file(tmp_path / "one.gossamer", tmp_path / "other", replace=True)
        assert answers(replaced) == answers(index)
        assert replaced.check() == []

    def test_a_folder_with_other_things_in_it_is_no_place_for_an_index(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")

        with pytest.raises(errors.InvalidArgument):
            Index.import_file(tmp_path / "one.gossamer", tmp_path / "files")
        assert sorted(path.name for path in (tmp_path / "files").iterdir()) == [
            *("deep", "lease.md", "page.html")
        ]

    def test_a_file_that_is_not_there_is_said_to_be(self, tmp_path: Path) -> None:
        with pytest.raises(errors.InvalidArgument, match="no file"):
            Index.import_file(tmp_path / "none.gossamer", tmp_path / "again")

    def test_a_file_that_is_cut_off_anywhere_leaves_nothing(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        whole = (tmp_path / "one.gossamer").read_bytes()

        for length in (0, 1, 7, 8, 40, 63, 64, 200, len(whole) // 2, len(whole) - 1):
            (tmp_path / "cut.gossamer").write_bytes(whole[:length])
            with pytest.raises(BROKEN):
                Index.import_file(tmp_path / "cut.gossamer", tmp_path / "again")
            assert not (tmp_path / "again").exists()

    def test_a_flipped_byte_in_any_section_leaves_nothing(
        self, index: Index, tmp_path: Path
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        whole = (tmp_path / "one.gossamer").read_bytes()
        container = Container(map_file(tmp_path / "one.gossamer"))

        for kind in set(container.lengths) - {WORDS}:
            section = container.section(kind).tobytes()
            hurt = section[:-1] + bytes([section[-1] ^ 1])
            (tmp_path / "hurt.gossamer").write_bytes(whole.replace(section, hurt))
            with pytest.raises(errors.Damaged, match="checksum"):
                Index.import_file(tmp_path / "hurt.gossamer", tmp_path / "again")
            assert not (tmp_path / "again").exists()

    @pytest.mark.parametrize(
        ("values", "error"),
        [
            ({"single": 3}, errors.UnknownVersion),
            ({"version": 1, "single": 2}, errors.UnknownVersion),
            ({"format": "other"}, errors.Damaged),
            ({"next_chunk_id": 1}, errors.Damaged),
            ({"settings": {"code_bytes": 9}}, errors.Damaged),
            ({"settings": None}, errors.Damaged),
            ({"model": {"name": "tiny"}}, errors.Damaged),
            ({"counts": 3}, errors.Damaged),
        ],
    )
    def test_a_manifest_that_does_not_fit_leaves_nothing(
        self, index: Index, tmp_path: Path, values: dict[str, object], error: type[Exception]
    ) -> None:
        index.export(tmp_path / "one.gossamer")

        with pytest.raises(error):
            Index.import_file(
                rewritten(tmp_path / "one.gossamer", with_values(**values)), tmp_path / "again"
            )
        assert not (tmp_path / "again").exists()

    @pytest.mark.parametrize("kind", [1, 3, MANIFEST, STRINGS, DIRECTORY, GROUPS, 52, BLOCKS])
    def test_a_section_that_is_missing_leaves_nothing(
        self, index: Index, tmp_path: Path, kind: int
    ) -> None:
        index.export(tmp_path / "one.gossamer")

        with pytest.raises(errors.GossamerError):
            Index.import_file(
                rewritten(tmp_path / "one.gossamer", lambda sections: sections.pop(kind) and None),
                tmp_path / "again",
            )
        assert not (tmp_path / "again").exists()

    @pytest.mark.parametrize("kind", [1, 3, STRINGS, DIRECTORY, GROUPS, 52, BLOCKS])
    def test_sections_of_another_index_do_not_fit(
        self, index: Index, tmp_path: Path, kind: int
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        other = Index.create(tmp_path / "other")
        other.add_texts([{"id": "mine", "text": "Mine alone."}])
        other.export(tmp_path / "other.gossamer")
        given = Container(map_file(tmp_path / "other.gossamer")).section(kind).tobytes()

        with pytest.raises(errors.GossamerError):
            Index.import_file(
                rewritten(
                    tmp_path / "one.gossamer", lambda sections: sections.update({kind: given})
                ),
                tmp_path / "again",
            )
        assert not (tmp_path / "again").exists()

    def test_texts_that_would_fill_the_disk_are_refused(self, index: Index, tmp_path: Path) -> None:
        index.export(tmp_path / "one.gossamer")
        draft = _core.SegmentDraft(NO_CODES, BLOCK_BYTES, QUICK)
        for _ in range(80):
            draft.add_text(bytes(1 << 20))
        bomb = Container(np.concatenate(draft.finish().parts()))
        given = {kind: bomb.section(kind).tobytes() for kind in (52, BLOCKS)}

        with pytest.raises(errors.Damaged, match="may hold"):
            Index.import_file(
                rewritten(tmp_path / "one.gossamer", lambda sections: sections.update(given)),
                tmp_path / "again",
            )

    def test_blocks_that_are_not_compressed_are_read_too(
        self, index: Index, tmp_path: Path
    ) -> None:
        """As a page writes them."""
        raw = _core.Codecs(
            lambda _: b"",
            lambda *_: None,
            lambda *_: b"",
            lambda *_: None,
            *[lambda *_: None] * 3,
            0,
        )
        index.export(tmp_path / "one.gossamer")
        catalogue = _core.Catalogue([segment_of(tmp_path / "one.gossamer")])
        merged = Container(
            np.concatenate(catalogue.merge([0], NO_CODES, None, True, 100, raw).parts())
        )
        given = {kind: merged.section(kind).tobytes() for kind in SEGMENT if merged.has(kind)}

        again = Index.import_file(
            rewritten(tmp_path / "one.gossamer", lambda sections: sections.update(given)),
            tmp_path / "again",
        )

        assert answers(again) == answers(index)

    def test_absolute_folders_in_a_file_become_names(self, index: Index, tmp_path: Path) -> None:
        index.remove(["algue", "kelp"])  # which would stand elsewhere in the order of names
        index.export(tmp_path / "one.gossamer")

        def change(sections: dict[int, bytes]) -> None:
            words, tables = read_segment(sections)
            words = [b"/etc/files" if word == b"files" else word for word in words]
            write_segment(sections, words, tables)

        again = Index.import_file(rewritten(tmp_path / "one.gossamer", change), tmp_path / "again")

        assert again.search("much sun", 1).hits[0].source == "files/deep/garden.txt"

    def test_an_engine_file_alone_is_no_index(self, index: Index, tmp_path: Path) -> None:
        index.snapshot.vectors.save(tmp_path / "vectors")

        with pytest.raises(errors.NotGossamer, match="export"):
            Index.import_file(tmp_path / "vectors", tmp_path / "again")


def segment_of(path: Path) -> _core.Segment:
    """The segment of a single file."""
    sections = sections_of(Container(map_file(path)), SEGMENT)
    return _core.Segment(1, np.concatenate(container_parts(sections)), True, USUAL)


class TestVersion1:
    def test_a_file_of_an_earlier_release_is_imported(self, tmp_path: Path) -> None:
        old = Path(__file__).parent / "data" / "single-v1" / "notes.gossamer"

        index = Index.import_file(old, tmp_path / "index")

        (hit,) = index.search("what do whales eat", 1)
        assert (hit.source, hit.first) == ("notes/whales.md", 1)
        (memo,) = index.search("boiler", 1, where="year == 2024")
        assert memo.text.startswith("The boiler was serviced in March")
        assert index.check() == []


class TestCommands:
    def test_a_file_is_written_and_read_from_the_command_line(
        self, index: Index, tmp_path: Path
    ) -> None:
        run = CliRunner()
        made = run.invoke(
            cli, ["export", str(index.folder), str(tmp_path / "one.gossamer"), "--json"]
        )
        read = run.invoke(
            cli, ["import", str(tmp_path / "one.gossamer"), str(tmp_path / "again"), "--json"]
        )
        twice = run.invoke(cli, ["import", str(tmp_path / "one.gossamer"), str(tmp_path / "again")])

        assert json.loads(made.stdout)["left_out"] == []
        assert json.loads(read.stdout)["chunks"] == json.loads(made.stdout)["chunks"]
        assert twice.exit_code != 0
        assert "already" in twice.output

    def test_a_table_says_what_takes_the_bytes(self, index: Index, tmp_path: Path) -> None:
        made = CliRunner().invoke(
            cli, ["-i", str(index.folder), "export", str(tmp_path / "one.gossamer")]
        )

        assert made.exit_code == 0
        assert "catalogue" in made.stdout
        assert "in all" in made.stdout

    def test_a_site_has_the_page_and_the_index(
        self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = tmp_path / "built"
        (page / "parts").mkdir(parents=True)
        (page / "index.html").write_text("<!doctype html>", encoding="utf-8")
        (page / "parts/gossamer.wasm").write_bytes(b"\0asm")
        monkeypatch.setattr(site, "page_folder", lambda: page)
        run = CliRunner()

        made = run.invoke(cli, ["export", str(index.folder), "--site", str(tmp_path / "site")])

        assert made.exit_code == 0
        assert (tmp_path / "site/parts/gossamer.wasm").read_bytes() == b"\0asm"
        again = Index.import_file(tmp_path / "site/index.gossamer", tmp_path / "again")
        assert answers(again) == answers(index)

    def test_a_model_that_pages_load_lies_beside_and_has_the_codebook(self, tmp_path: Path) -> None:
        index = Index.create(tmp_path / "index", model="pocket")
        index.add_texts([{"id": "kelp", "text": "Kelp is no plant."}])
        run = CliRunner()

        made = run.invoke(
            cli,
            ["export", str(index.folder), str(tmp_path / "one.gossamer"), "--model-file", "--json"],
        )
        again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

        assert json.loads(made.stdout)["files"][-1] == str(tmp_path / "pocket.model.gossamer")
        assert not Container(map_file(tmp_path / "one.gossamer")).has(CODEBOOK)
        assert Container(map_file(tmp_path / "pocket.model.gossamer")).has(CODEBOOK)
        assert answers(again) == answers(index) != []

    def test_a_page_that_was_not_built_is_said_to_be_missing(
        self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(site, "page_folder", lambda: None)

        made = CliRunner().invoke(
            cli, ["export", str(index.folder), "--site", str(tmp_path / "site")]
        )

        assert made.exit_code != 0
        assert "make web" in made.output
        assert not (tmp_path / "site").exists()

    def test_a_file_of_someone_else_stays_unless_it_is_to_be_replaced(
        self, index: Index, tmp_path: Path
    ) -> None:
        file = tmp_path / "precious.md"
        file.write_text("# Precious", encoding="utf-8")
        run = CliRunner()

        refused = run.invoke(cli, ["-i", str(index.folder), "export", str(file)])
        stayed = file.read_text(encoding="utf-8")
        replaced = run.invoke(cli, ["export", str(index.folder), str(file), "--replace"])
        again = run.invoke(cli, ["export", str(index.folder), str(file)])

        assert refused.exit_code != 0
        assert "no Gossamer file" in refused.output
        assert stayed == "# Precious"
        assert (replaced.exit_code, again.exit_code) == (0, 0)
        assert file.read_bytes().startswith(b"GOSSAMER")

    def test_the_name_of_an_index_is_not_taken_for_a_file(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(index.folder.parent)

        made = CliRunner().invoke(cli, ["export", "index"])

        assert made.exit_code != 0
        assert "gossamer export index FILE" in made.output

    def test_what_cannot_be_written_or_read_is_named(self, index: Index, tmp_path: Path) -> None:
        run = CliRunner()
        wrong = {
            "is a folder; name": ["export", str(index.folder), str(tmp_path)],
            "there is no folder": ["export", str(index.folder), str(tmp_path / "nope/x")],
            "is a folder; give": ["import", str(tmp_path), str(tmp_path / "again")],
        }

        said = {message: run.invoke(cli, command) for message, command in wrong.items()}

        assert all(message in " ".join(made.output.split()) for message, made in said.items())
        assert all(made.exit_code != 0 for made in said.values())

    @pytest.mark.parametrize("names", [[], ["a", "b", "c"], ["a", "--site", "b", "c"]])
    def test_where_to_write_must_be_clear(self, names: list[str]) -> None:
        made = CliRunner().invoke(cli, ["export", *names])

        assert made.exit_code != 0
        assert "FILE" in made.output


class TestContainer:
    def test_the_checksum_is_crc32c(self) -> None:
        assert crc32c(b"123456789") == 0xE3069283

    def test_what_is_written_is_read(self, tmp_path: Path) -> None:
        sections = [Section(40, np.arange(100, dtype=np.uint8)), Section(33, np.zeros(0, np.uint8))]
        write_file(tmp_path / "file", container_parts(sections))

        container = Container(map_file(tmp_path / "file"))

        assert dict(container.lengths) == {40: 100, 33: 0}
        assert container.section(40).tolist() == list(range(100))

    def test_an_engine_file_is_written_as_the_engine_writes_it(
        self, index: Index, tmp_path: Path
    ) -> None:
        vectors = tmp_path / "vectors"
        index.snapshot.vectors.save(vectors)
        container = Container(map_file(vectors))

        parts = [Section(kind, container.section(kind)) for kind in container.lengths]
        write_file(tmp_path / "file", container_parts(parts))

        assert (tmp_path / "file").read_bytes() == vectors.read_bytes()


def test_a_copy_of_a_folder_exports_the_same_bytes(index: Index, tmp_path: Path) -> None:
    copy_index(index.folder, tmp_path / "copy")

    index.export(tmp_path / "one.gossamer")
    Index.open(tmp_path / "copy").export(tmp_path / "two.gossamer")

    assert (tmp_path / "one.gossamer").read_bytes() == (tmp_path / "two.gossamer").read_bytes()
