"""The best of both rankings, ranked again by what they say."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_embedder import TinyEmbedder

import gossamer
from gossamer.embed import load_embedder
from gossamer.embed.sessions import open_session
from gossamer.embed.shared import SharedEmbedder
from gossamer.embed.tokens import TokenEmbedder, token_embedder
from gossamer.errors import InvalidArgument
from gossamer.model import Embedders
from gossamer.models.graph import TOKENS, add_tokens

TEXTS = ["The lease of the flat is due in March.", "A whale", "def parse_date(text): return 1"]
FILLER = "Nothing of interest happens in the month number {}, and nobody minds."


@pytest.fixture(scope="module", params=["minilm", "pocket"])
def model(request: pytest.FixtureRequest) -> TokenEmbedder:
    embedder = token_embedder(load_embedder(request.param, threads=2))
    assert embedder is not None
    return embedder


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., gossamer.Index]:
    def make(**options: str) -> gossamer.Index:
        index = gossamer.Index.create(tmp_path / "index", model="pocket", **options)
        texts = [{"id": f"filler{i}", "text": FILLER.format(i)} for i in range(60)]
        index.add_texts(
            [
                *texts,
                {"id": "answer", "text": "The rent of the apartment has to be paid by the tenant."},
                {"id": "words", "text": "Apartment doors, apartment keys, apartment windows."},
            ]
        )
        return index

    return make


def test_vectors_come_out_the_same_with_those_of_their_tokens(model: TokenEmbedder):
    made = model.embed_tokens(TEXTS)

    assert np.array_equal(made.rows, model.embed(TEXTS))
    counts = [model.tokenizer.token_starts(text.encode()).size for text in TEXTS]
    assert made.counts.tolist() == counts
    assert made.tokens.shape == (sum(counts), model.dim)


@pytest.mark.parametrize("times", [1, 200])
def test_every_token_of_a_question_has_a_vector_and_a_place(model: TokenEmbedder, times: int):
    question = "when is the Straße-lease due? " * times

    made = model.embed_question_tokens(question)

    assert np.array_equal(made.row, model.embed_question(question))
    assert len(made.tokens) == len(made.starts)
    assert made.starts[0] == 0
    assert (np.diff(made.starts.astype(np.int64)) >= 0).all()
    assert made.starts[-1] < len(question.encode())


def test_a_graph_gives_the_same_bits_when_it_gives_tokens_too():
    model = load_embedder("minilm")
    graph = model._model.graph.path.read_bytes()
    feed = {"input_ids": model.tokenizer.encode(TEXTS[:1])[0][None]}

    plain = open_session(model._model, graph).run(None, feed)[0]
    vectors, tokens = open_session(model._model, add_tokens(graph)).run(
        ["sentence_embedding", TOKENS], feed
    )

    assert np.array_equal(plain, vectors)
    assert np.allclose(tokens.mean(axis=1), vectors, atol=1e-6)


def test_a_shared_model_gives_what_the_model_gives(model: TokenEmbedder):
    shared = SharedEmbedder(model, memory_bytes=1 << 22)
    alone = model.embed_tokens(TEXTS)

    shared.embed(TEXTS)  # what is remembered of it has no tokens
    made = shared.embed_tokens([*TEXTS, TEXTS[0]])
    question = shared.embed_question_tokens(TEXTS[0])
    shared.close()

    assert np.array_equal(made.rows[:3], alone.rows)
    assert made.counts.tolist() == [*alone.counts, alone.counts[0]]
    assert np.array_equal(made.tokens[: len(alone.tokens)], alone.tokens)
    assert np.array_equal(question.tokens, model.embed_question_tokens(TEXTS[0]).tokens)
    assert np.array_equal(question.starts, model.embed_question_tokens(TEXTS[0]).starts)


def test_hits_say_what_speaks_for_them(make: Callable[..., gossamer.Index]):
    results = make().search("who pays the rent of the apartment")

    assert results[0].path == "answer"
    assert all(hit.tokens is not None and 0 <= hit.tokens <= 1 for hit in results)
    assert results[0].words > 0
    assert [hit.score for hit in results] == sorted((hit.score for hit in results), reverse=True)
    assert results.explanation.candidates == results.explanation.chunks_embedded > 0


@pytest.mark.parametrize(("k", "most"), [(1, 20), (5, 20), (10, 30), (20, 48), (60, 48)])
def test_no_more_is_embedded_than_an_answer_needs(
    make: Callable[..., gossamer.Index], k: int, most: int
):
    results = make().search("the apartment month", k)

    assert len(results) == k
    assert results.explanation.chunks_embedded <= most
    assert results.explanation.rounds == 1


def test_without_ranking_again_places_are_added_up(make: Callable[..., gossamer.Index]):
    results = make().search("apartment", rerank="none")

    assert results.explanation.candidates == 0
    assert {hit.tokens for hit in results} == {None}
    assert results[0].score == pytest.approx(
        sum(1 / (5 + place) for place in results[0].ranks.values())
    )


def test_another_way_to_rank_again_is_refused(make: Callable[..., gossamer.Index]):
    with pytest.raises(InvalidArgument, match="rerank must be one of auto, none"):
        make().search("apartment", rerank="maybe")


@pytest.mark.parametrize("options", [{"keep": "all"}, {"keep": "hot:1MB"}, {"lexical": "fts5"}])
def test_answers_are_the_same_whatever_an_index_keeps(
    make: Callable[..., gossamer.Index], tmp_path: Path, options: dict[str, str]
):
    plain = make().search("who pays the rent of the apartment", 3)
    (tmp_path / "index").rename(tmp_path / "plain")

    index = make(**options)

    for _ in range(2):  # also from what was remembered
        found = index.search("who pays the rent of the apartment", 3)
        assert found[0].path == plain[0].path
        assert found[0].tokens == pytest.approx(plain[0].tokens)
        assert found[0].distance == pytest.approx(plain[0].distance, abs=1e-3)


def test_vectors_of_chunks_that_were_ranked_again_serve_questions_by_meaning(
    make: Callable[..., gossamer.Index],
):
    index = make(keep="hot:1MB")
    ranked = index.search("who pays the rent of the apartment")

    found = index.search("who pays the rent of the apartment", mode="semantic")

    assert ranked.explanation.chunks_embedded > 0
    assert found.explanation.chunks_cached > 0


def test_a_server_ranks_as_the_index_does(make: Callable[..., gossamer.Index], tmp_path: Path):
    index = make()
    shared = SharedEmbedder(load_embedder("pocket"))

    served = gossamer.Index.open(
        tmp_path / "index", share=lambda _: Embedders(shared, shared.in_background)
    )
    found = served.search("who pays the rent of the apartment")
    shared.close()

    assert list(found) == list(index.search("who pays the rent of the apartment"))


def test_a_model_without_tokens_goes_by_cosine_and_words(tmp_path: Path, embedder: TinyEmbedder):
    index = gossamer.Index.create(tmp_path / "index")
    texts = (*TEXTS, "The lease ends.")
    index.add_texts([{"id": f"text {place}", "text": text} for place, text in enumerate(texts)])

    results = index.search("the lease of the flat")

    assert results[0].path == "text 0"
    assert {hit.tokens for hit in results} == {None}
    assert results[0].words > 0
    assert results.explanation.candidates == 4


def test_recall_finds_the_candidates_by_meaning_first(make: Callable[..., gossamer.Index]):
    results = make().search("who pays the rent of the apartment", recall=0.99)

    assert results[0].path == "answer"
    assert results[0].tokens is not None
    assert results.explanation.rounds > 1


def test_tokens_of_a_text_that_is_asked_as_a_question_are_not_compared(
    make: Callable[..., gossamer.Index],
):
    results = make().search("who pays the rent of the apartment " * 100)

    assert results[0].path == "answer"
    assert {hit.tokens for hit in results} == {None}
