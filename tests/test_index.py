"""The product through its Python door: files and texts in, cited hits out."""

import os
from pathlib import Path

import pytest
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import InvalidArgument, Locked, ModelMismatch, NoIndex, UnknownId
from gossamer.index import Index
from gossamer.sources.folder import WalkOptions
from gossamer.store import begin
from gossamer.update import run as update_run

LEASE = """# The flat

Some words about the kitchen and the two rooms.

## Rent

The lease is due on the first of March, and again in autumn.
"""
BREAD = "Flour, water, salt and yeast.\n\nThe banana bread needs an hour in the oven.\n"
CODE = '''"""Counting."""


def count_words(text):
    """Count the words of a text."""
    return len(text.split())
'''


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "home").mkdir(parents=True)
    (folder / "home/flat.md").write_text(LEASE, encoding="utf-8")
    (folder / "bread.txt").write_text(BREAD, encoding="utf-8")
    (folder / "words.py").write_text(CODE, encoding="utf-8")
    return folder


@pytest.fixture
def index(embedder: TinyEmbedder, notes: Path, tmp_path: Path) -> Index:
    made = Index.create(tmp_path / "index")
    made.add_paths([notes])
    return made


def locations(results) -> list[str]:
    return [hit.location for hit in results]


def test_a_question_finds_the_file_and_the_line(index, notes):
    (hit,) = index.search("when is the lease due", k=1)

    assert hit.source == (notes / "home/flat.md").as_posix()
    assert "first of March" in hit.text
    assert LEASE.splitlines()[hit.first - 1 :][0].startswith(hit.text.splitlines()[0])
    assert hit.last == len(LEASE.splitlines())


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_every_mode_finds_what_only_one_file_says(index, notes, mode):
    (hit,) = index.search("banana bread oven", k=1, mode=mode)

    assert hit.location == f"{(notes / 'bread.txt').as_posix()}:3"


def test_a_mode_that_does_not_exist_is_refused(index):
    with pytest.raises(InvalidArgument, match="hybrid, semantic, lexical"):
        index.search("x", mode="magic")


def test_asking_for_more_hits_than_chunks_gives_every_chunk(index):
    assert len(index.search("bread", k=100, mode="semantic")) == index.status().chunks


def test_adding_again_changes_nothing(index, embedder, notes):
    before = list(embedder.embedded)
    generation = index.status().generation
    old = (notes / "bread.txt").stat()
    for path in notes.rglob("*.*"):
        os.utime(path, ns=(old.st_mtime_ns - 10**10, old.st_mtime_ns - 10**10))
    index.add_paths()  # times have changed, contents have not

    report = index.add_paths()

    assert report.unchanged == 3
    assert report.is_nothing
    assert embedder.embedded == before
    assert index.status().generation == generation + 1


def test_only_changed_chunks_of_a_changed_file_are_embedded(index, embedder, notes):
    paragraphs = [f"Paragraph {i} speaks of topic{i} and " + "more " * 120 for i in range(8)]
    (notes / "long.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    index.add_paths()
    first = len(embedder.embedded)
    paragraphs[-1] = "Paragraph 7 speaks of whales and " + "more " * 120
    (notes / "long.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")

    report = index.add_paths()

    assert report.updated == 1
    assert report.chunks_reused > 0
    assert len(embedder.embedded) - first == report.chunks_embedded == 1
    assert "whales" in index.search("whales", k=1)[0].text


def test_a_file_with_a_title_can_move_without_being_embedded_again(index, embedder, notes):
    before = list(embedder.embedded)
    (notes / "home/flat.md").rename(notes / "moved.md")

    report = index.add_paths()

    assert (report.added, report.removed) == (1, 1)
    assert embedder.embedded == before
    assert index.search("lease due", k=1)[0].source == (notes / "moved.md").as_posix()


def test_a_changed_file_is_never_cited_until_it_is_added_again(index, notes):
    path = notes / "bread.txt"
    status = path.stat()
    path.write_bytes(BREAD.replace("banana", "cheese").encode())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # as if nothing had happened

    for mode in ("hybrid", "semantic", "lexical"):
        results = index.search("banana bread in the oven", k=3, mode=mode)
        assert path.as_posix() not in [hit.source for hit in results]
    assert results.stale == (path.as_posix(),)

    index.add_paths()

    assert "cheese" in index.search("cheese bread in the oven", k=1)[0].text
    assert index.search("cheese", k=1).stale == ()


def test_a_deleted_file_leaves_the_index_with_the_next_add(index, notes):
    (notes / "bread.txt").unlink()

    assert all("bread" not in place for place in locations(index.search("bread oven", k=3)))
    assert index.status().missing_files == 1
    assert index.add_paths().removed == 1
    assert index.status().indexed == 2


def test_a_file_that_became_a_pipe_is_stale_and_nothing_waits_for_it(index, notes):
    (notes / "bread.txt").unlink()
    os.mkfifo(notes / "bread.txt")

    assert all("bread" not in place for place in locations(index.search("bread oven", k=3)))


def test_stored_text_answers_without_the_files(embedder, notes, tmp_path):
    index = Index.create(tmp_path / "stored", store_text=True)
    index.add_paths([notes])
    for path in notes.rglob("*.*"):
        path.unlink()

    (hit,) = index.search("banana bread", k=1)

    assert (hit.location, hit.first, hit.last) == (f"{(notes / 'bread.txt').as_posix()}:3", 1, 3)


def test_a_root_that_is_not_there_does_not_empty_the_index(index, notes):
    notes.rename(notes.parent / "unmounted")

    with pytest.raises(InvalidArgument, match="nothing was changed"):
        index.add_paths([notes])
    assert index.status().indexed == 3


def test_texts_of_programs_are_found_by_their_id_and_replaced_by_it(embedder, tmp_path):
    index = Index.create(tmp_path / "texts")
    index.add_texts(
        [
            {"id": "a", "text": "whales sing in the sea", "title": "Oceans"},
            {"id": "b", "text": "trees stand in the wood", "metadata": {"year": 2020}},
        ]
    )
    index.add_texts([{"id": "b", "text": "stones lie in the field", "metadata": {"year": 2021}}])

    assert index.search("stones", k=1)[0].source == "b"
    assert [hit.source for hit in index.search("trees wood", k=5, mode="lexical")] == []
    assert index.search("oceans", k=1, mode="lexical")[0].title == "Oceans"
    assert index.search("stones", k=5, where="year == 2021")[0].metadata == {"year": 2021}
    assert index.remove(["a"]).removed == 1
    assert index.status().indexed == 1


@pytest.mark.parametrize("text", [{}, {"id": "a"}, {"id": "", "text": "x"}, {"id": 1, "text": "x"}])
def test_a_text_without_id_or_text_is_refused(embedder, tmp_path, text):
    index = Index.create(tmp_path / "texts")

    with pytest.raises(InvalidArgument, match="needs"):
        index.add_texts([text])


def test_filters_leave_as_many_hits_as_match(index, notes):
    assert {hit.kind for hit in index.search("words", k=50, types=["python"])} == {"python"}
    assert {hit.source for hit in index.search("words", k=50, paths=["home/**"])} == {
        (notes / "home/flat.md").as_posix()
    }
    assert len(index.search("bread", k=50, where="type == 'nothing'")) == 0
    assert len(index.search("lease", k=1, types=["text"])) == 1


def test_chunks_like_a_place_do_not_include_it(index, notes):
    place = f"{notes / 'bread.txt'}:3"

    results = index.similar(place, k=50)

    assert len(results) == index.status().chunks - 1
    assert all(hit.source != (notes / "bread.txt").as_posix() for hit in results)
    with pytest.raises(UnknownId, match="not in the index"):
        index.similar("nowhere.txt:1")
    with pytest.raises(InvalidArgument, match="PATH:LINE"):
        index.similar("bread")


def test_a_chunk_can_be_fetched_with_what_stands_around_it(index):
    hit = index.search("lease due", k=1)[0]

    before, same, _ = index.context(hit.id)

    assert same.text == index.get(hit.id).text == hit.text
    assert LEASE.startswith(before + hit.text)
    with pytest.raises(UnknownId):
        index.get(10**9)


def test_a_question_that_was_asked_before_embeds_nothing(embedder, notes, tmp_path):
    Index.create(tmp_path / "hot", keep="hot:1MB").add_paths([notes])
    (tmp_path / "hot/hot.gsh").unlink()  # the vectors of hubs, which are all of so few
    first = Index.open(tmp_path / "hot").search("when is the lease due")

    again = Index.open(tmp_path / "hot").search("when is the lease due")

    assert first.explanation.chunks_embedded > 0
    assert again.explanation.chunks_embedded == 0
    assert again.explanation.chunks_cached == first.explanation.chunks_embedded
    assert "embed question" not in again.explanation.stages
    assert locations(again) == locations(first)


def test_vectors_of_hubs_are_hot_before_anything_is_asked(embedder, notes, tmp_path):
    Index.create(tmp_path / "hot", keep="hot:1MB").add_paths([notes])

    results = Index.open(tmp_path / "hot").search("when is the lease due")

    assert results.explanation.chunks_embedded == 0


@pytest.mark.parametrize("lexical", ["scan", "fts5"])
@pytest.mark.parametrize("keep", ["none", "all"])
def test_choices_of_storage_do_not_change_the_answers(
    index, embedder, notes, tmp_path, lexical, keep
):
    other = Index.create(tmp_path / "other", lexical=lexical, keep=keep)
    other.add_paths([notes])
    (notes / "bread.txt").write_text("Cheese and wine.\n", encoding="utf-8")
    (notes / "home/flat.md").unlink()
    other.add_paths()
    index.add_paths()

    for question in ("cheese wine", "count words", "lease due"):
        assert locations(other.search(question)) == locations(index.search(question))
    assert other.check() == []


def test_a_model_without_a_codebook_trains_one_when_there_is_enough(monkeypatch, tmp_path):
    use_tiny(monkeypatch, with_codes=False)
    index = Index.create(tmp_path / "own", code_bytes=8)
    words = [
        "red",
        "green",
        "blue",
        "round",
        "square",
        "heavy",
        "light",
        "old",
        "new",
        "warm",
        "cold",
    ]
    texts = [
        {"id": str(i), "text": f"thing{i} is {words[i % 10]} and {words[i // 10 % 10]}"}
        for i in range(2200)
    ]
    index.add_texts(texts[:100])
    assert index.search("thing7", k=1)[0].source == "7"  # its vectors are kept until then

    index.add_texts(texts)
    index.add_texts([{"id": "late", "text": "whales sing in the sea"}])

    assert index.status().bytes_by_part["vectors"] < 2200 * 32
    assert Index.open(tmp_path / "own").search("whales sing", k=1)[0].source == "late"
    assert index.check() == []


def test_a_long_update_commits_on_the_way(index, notes, monkeypatch):
    monkeypatch.setattr(update_run, "_COMMIT_EVERY_S", -1.0)
    monkeypatch.setattr(update_run, "_CHUNKS_AT_ONCE", 1)
    generation = index.status().generation
    for number in range(5):
        (notes / f"{number}.txt").write_text(f"note number{number} on whales", encoding="utf-8")
    (notes / "home/flat.md").rename(notes / "moved.md")

    index.add_paths()

    assert index.status().generation > generation + 4
    assert index.status().indexed == 8
    assert index.search("number3", k=1)[0].source == (notes / "3.txt").as_posix()
    assert index.check() == []


def test_an_open_index_sees_what_another_one_commits(index, notes):
    other = Index.open(index.folder)
    (notes / "new.txt").write_text("whales sing in the sea", encoding="utf-8")

    index.add_paths()

    assert other.search("whales", k=1)[0].source == (notes / "new.txt").as_posix()


def test_a_second_writer_is_told_who_holds_the_lock(index):
    with begin(index.folder, "gossamer watch"), pytest.raises(Locked, match="gossamer watch"):
        index.add_paths()


def test_another_model_is_refused(index, monkeypatch, tmp_path):
    other = TinyEmbedder()
    other.fingerprint = "ffff" * 8
    use_tiny(monkeypatch, with_codes=True, embedder=other)

    with pytest.raises(ModelMismatch, match="built with 'tiny'"):
        Index.open(index.folder).search("bread")


def test_there_is_no_index_where_none_was_made(tmp_path):
    with pytest.raises(NoIndex, match="gossamer add"):
        Index.open(tmp_path / "nothing")


def test_an_index_is_not_made_twice_in_one_folder(index):
    with pytest.raises(InvalidArgument, match="already"):
        Index.create(index.folder)


@pytest.mark.parametrize(
    "options",
    [{"keep": "some"}, {"lexical": "magic"}, {"chunk_tokens": 5}, {"chunk_tokens": 9999}],
)
def test_settings_that_make_no_sense_are_refused(embedder, tmp_path, options):
    with pytest.raises(InvalidArgument):
        Index.create(tmp_path / "index", **options)


def test_removing_a_folder_forgets_it_and_gives_its_space_back(index, notes):
    before = index.status().total_bytes
    assert index.remove([notes]).removed == 3

    index.compact()

    assert index.status().roots == ()
    assert index.status().chunks == 0
    assert index.status().total_bytes < before
    assert len(index.search("bread")) == 0
    assert index.check() == []


def test_options_are_remembered_with_the_folder_they_came_with(index, notes, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("whales", encoding="utf-8")
    (other / "b.log").write_text("whales", encoding="utf-8")
    index.add_paths([other], options=WalkOptions(exclude=["*.log"]))

    assert index.add_paths().is_nothing
    assert index.status().indexed == 4

    index.add_paths([other], reset_options=True)

    assert index.status().indexed == 5


def test_what_a_walk_cannot_take_is_in_the_status(index, notes, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (notes / "loop").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(notes / "pipe")

    index.add_paths()

    assert index.status().skipped == 2
    assert index.add_paths().is_nothing
    (notes / "loop").unlink()
    index.add_paths()
    assert index.status().skipped == 1


def test_a_page_whose_text_is_stored_is_not_cited_once_its_file_is_gone(index, notes):
    page = notes / "page.html"
    page.write_text("<h1>Sea</h1><p>Whales sing in the sea.</p>", encoding="utf-8")
    index.add_paths()
    assert index.search("whales sing", k=1)[0].source == page.as_posix()
    os.utime(page, ns=(0, 0))
    assert index.search("whales sing", k=1)[0].source == page.as_posix()  # the same content

    page.unlink()
    results = Index.open(index.folder).search("whales sing", k=1)

    assert results[0].source != page.as_posix()
    assert (results.stale, results.gone) == ((), (page.as_posix(),))


def test_a_file_that_became_shorter_is_stale_by_words_alone(index, notes):
    (notes / "bread.txt").write_text("x", encoding="utf-8")

    results = index.search("banana bread", mode="lexical")

    assert results.stale == ((notes / "bread.txt").as_posix(),)
