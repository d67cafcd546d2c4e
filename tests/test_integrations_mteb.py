"""Gossamer as a search model of mteb; all but the last test run without mteb."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny_embedder import TinyEmbedder

from gossamer.errors import InvalidArgument, WrongState
from gossamer.integrations.mteb import GossamerSearch

CORPUS = [
    {"id": "rent", "title": "The flat", "text": "The lease is due on the first of March."},
    {"id": "bread", "title": "", "text": "The banana bread needs an hour in the oven."},
    {"id": "tide", "title": None, "text": "The tide comes in twice a day."},
    {"id": "name", "title": "Only a title about owls", "text": ""},
    {"id": "void", "title": "", "text": " "},
]
QUERIES = [
    {"id": "q1", "text": "when is the lease due"},
    {"id": "q2", "text": "banana bread in the oven", "instruction": None},
]
LONG = " ".join(f"Owl number {number} sleeps in tree {number}." for number in range(300))


@dataclass(frozen=True)
class Metadata:
    """As much of mteb's TaskMetadata as is read."""

    name: str = "Notes"


PLACE = {"task_metadata": Metadata(), "hf_split": "test", "hf_subset": "default"}
# What mteb gives besides, which Gossamer has no use for.
MORE = {"encode_kwargs": {"batch_size": 8}, "num_proc": None}


@pytest.fixture
def model(embedder: TinyEmbedder, tmp_path: Path) -> GossamerSearch:
    return GossamerSearch(tmp_path / "indexes")


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_each_query_finds_its_document(mode: str, embedder, tmp_path) -> None:
    model = GossamerSearch(tmp_path / "indexes", mode=mode)
    model.index(CORPUS, **PLACE, **MORE)

    found = model.search(QUERIES, top_k=2, top_ranked=None, **PLACE, **MORE)

    assert [next(iter(found[query])) for query in ("q1", "q2")] == ["rent", "bread"]


def test_a_ranking_is_as_long_as_asked_for_and_its_scores_fall(model) -> None:
    model.index(CORPUS, **PLACE)

    scores = list(model.search(QUERIES, top_k=3, **PLACE)["q1"].values())

    assert len(scores) == 3
    assert scores[0] > scores[1] > scores[2]


def test_depth_limits_what_mteb_asks_for(embedder, tmp_path) -> None:
    model = GossamerSearch(tmp_path, depth=2)
    model.index(CORPUS, **PLACE)

    assert len(model.search(QUERIES, top_k=1000, **PLACE)["q1"]) == 2


def test_without_a_depth_all_documents_are_ranked_where_mteb_asks_for_more(
    embedder, tmp_path
) -> None:
    model = GossamerSearch(tmp_path, depth=None, mode="semantic")
    model.index(CORPUS, **PLACE)

    assert len(model.search(QUERIES, top_k=1000, **PLACE)["q1"]) == 4


def test_a_document_of_many_chunks_counts_once(model) -> None:
    model.index([*CORPUS, {"id": "owls", "text": LONG}], **PLACE)

    found = model.search([{"id": "q", "text": "owl sleeps in tree 7"}], top_k=4, **PLACE)["q"]

    assert next(iter(found)) == "owls"
    assert len(found) == 4


def test_equal_documents_keep_their_order_by_score(model) -> None:
    model.index([{"id": str(number), "text": "The same words."} for number in range(5)], **PLACE)

    scores = list(model.search([{"id": "q", "text": "same words"}], top_k=5, **PLACE)["q"].values())

    assert len(set(scores)) == 5
    assert scores == sorted(scores, reverse=True)


def test_a_corpus_is_embedded_once(model, embedder, tmp_path) -> None:
    model.index(CORPUS, **PLACE)
    embedder.embedded.clear()

    GossamerSearch(tmp_path / "indexes").index(CORPUS, **PLACE)

    assert embedder.embedded == []


def test_a_document_with_a_title_alone_is_found_by_it(model) -> None:
    model.index(CORPUS, **PLACE)

    found = model.search([{"id": "q", "text": "title about owls"}], top_k=1, **PLACE)

    assert list(found["q"]) == ["name"]


def test_an_instruction_is_part_of_the_question(model) -> None:
    model.index(CORPUS, **PLACE)
    query = {"id": "q", "text": "when", "instruction": "find what says the tide comes in"}

    assert list(model.search([query], top_k=1, **PLACE)["q"]) == ["tide"]


def test_a_query_without_words_finds_nothing(model) -> None:
    model.index(CORPUS, **PLACE)

    assert model.search([{"id": "q", "text": "?!"}], top_k=3, **PLACE) == {"q": {}}


def test_each_task_has_an_index_of_its_own(model) -> None:
    other = PLACE | {"task_metadata": Metadata("Others")}
    model.index(CORPUS, **PLACE)
    model.index([{"id": "sea", "text": "The lease of a ship at sea."}], **other)

    assert list(model.search(QUERIES[:1], top_k=1, **PLACE)["q1"]) == ["rent"]
    assert list(model.search(QUERIES[:1], top_k=1, **other)["q1"]) == ["sea"]


def test_a_folder_of_another_corpus_is_refused(model, tmp_path) -> None:
    model.index(CORPUS, **PLACE)

    with pytest.raises(WrongState, match="another corpus"):
        GossamerSearch(tmp_path / "indexes").index(CORPUS[:2], **PLACE)


def test_search_comes_after_index(model) -> None:
    with pytest.raises(WrongState, match="index"):
        model.search(QUERIES, top_k=1, **PLACE)


def test_tasks_that_give_the_documents_are_refused(model) -> None:
    model.index(CORPUS, **PLACE)

    with pytest.raises(InvalidArgument, match="Retrieval"):
        model.search(QUERIES, top_k=1, top_ranked={"q1": ["rent"]}, **PLACE)


def test_documents_that_are_no_texts_are_refused(model) -> None:
    with pytest.raises(InvalidArgument, match="'d' is no text"):
        model.index([{"id": "d", "text": ["a", "b"]}], **PLACE)


def test_queries_that_are_no_texts_are_refused(model) -> None:
    model.index(CORPUS, **PLACE)

    with pytest.raises(InvalidArgument, match="'q' must be a string"):
        model.search([{"id": "q", "text": ["a", "b"]}], top_k=1, **PLACE)


@pytest.mark.parametrize("options", [{"mode": "fuzzy"}, {"depth": 0}])
def test_wrong_options_are_refused_at_once(options: dict, tmp_path) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        GossamerSearch(tmp_path, **options)


def test_importing_it_does_not_import_mteb() -> None:
    code = "import sys, gossamer.integrations.mteb; sys.exit('mteb' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_mteb_takes_it_for_a_search_model(model) -> None:
    protocols = pytest.importorskip("mteb.models.models_protocols", reason="mteb is not installed")

    assert isinstance(model, protocols.SearchProtocol)
    assert model.mteb_model_meta.name == "gossamer/minilm-hybrid"
