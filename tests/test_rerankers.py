"""Rerankers: of a folder, a hub or a server. Every score is checked, and they alone order."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from served import problem, serve
from tiny_embedder import TinyEmbedder
from tiny_reranker import (
    WORDS,
    RerankServer,
    definition,
    overlap,
    rerank_server,
    template,
    write_reranker,
)

import gossamer
from gossamer import models
from gossamer.cli import cli
from gossamer.embed.options import EmbedOptions
from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    MissingModel,
    NotFinite,
    Unreachable,
)
from gossamer.rerankers import Reranker, load_reranker
from gossamer.rerankers.http import HttpReranker
from gossamer.text.tokenizer import HubTokenizer, WordPiece, load_tokenizer

QUESTION = "when is the rent due"
TEXTS = ["the lease", "rent is due", "Due DUE due", "rent rent", "", "é 漢字 🦔 due", "due " * 900]
FILLER = "Nothing of interest happens in the month number {}, and nobody minds."


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("GOSSAMER_API_KEY", "GOSSAMER_API_HOST", "GOSSAMER_RERANKER", "GOSSAMER_INDEX"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as serving:
        yield serving


@pytest.fixture
def index(tmp_path: Path, embedder: TinyEmbedder) -> gossamer.Index:
    made = gossamer.Index.create(tmp_path / "texts.index")
    texts = {
        "lease": "The lease is due in the month of March.",
        "rent": "The month in which rent and rent are due for the flat.",
        "garden": "In this month tomatoes want sun and water.",
    }
    texts |= {f"filler{number}": FILLER.format(number) for number in range(30)}
    made.add_texts([{"id": id, "text": text} for id, text in texts.items()])
    return made


class Told:
    """A reranker that says what it is told."""

    name = "told"

    def __init__(self, score: Callable[[str], float]) -> None:
        self._score = score
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((question, list(texts)))
        return np.array([self._score(text) for text in texts], np.float32)


# A cross-encoder in a folder


@pytest.mark.parametrize("shape", ["column", "row", "pair"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_cross_encoder_scores_pairs(tmp_path: Path, shape: str, threads: int) -> None:
    reranker = load_reranker(str(write_reranker(tmp_path, shape=shape)), threads)

    scores = reranker.score(QUESTION, TEXTS[:6])

    times = 2 if shape == "pair" else 1  # yes less no
    assert scores.dtype == np.float32
    assert scores.tolist() == [times * overlap(QUESTION, text) for text in TEXTS[:6]]
    assert reranker.score(QUESTION, []).shape == (0,)
    assert reranker.name == tmp_path.name


def test_a_graph_without_types_is_given_none(tmp_path: Path) -> None:
    reranker = load_reranker(str(write_reranker(tmp_path, with_types=False)))

    # Question and text are one to it: each word counts by the square of its number.
    assert reranker.score("due", ["due", "rent"]).tolist() == [2 * 4, 2 + 4]


@pytest.mark.parametrize("file", ["onnx/model.onnx", "onnx/model_quantized.onnx"])
def test_a_model_is_found_where_exporters_put_it(tmp_path: Path, file: str) -> None:
    reranker = load_reranker(str(write_reranker(tmp_path, file=file)))

    assert reranker.score("sun", ["sun", "due"]).tolist() == [16, 0]


def test_a_text_is_cut_to_what_the_model_takes_and_the_question_is_not(tmp_path: Path) -> None:
    write_reranker(tmp_path)
    settings = {"max_length": 20}
    (tmp_path / "gossamer-model.json").write_text(json.dumps(settings), encoding="utf-8")
    reranker = load_reranker(str(tmp_path))

    # 20 less three special tokens: five of the question, twelve of the text.
    question = "the rent is due now"
    assert reranker.score(question, ["due " * 900]).tolist() == [12 * 2]
    assert reranker.score(question, ["x " * 12 + "due"]).tolist() == [0]
    assert reranker.score(question, ["x " * 11 + "due"]).tolist() == [2]
    # At most eight of a question, so that nine of the text stay.
    assert reranker.score("x " * 7 + "due due", ["due " * 900]).tolist() == [9 * 2]


@pytest.mark.parametrize("pair", [None, ["[CLS]:0", "A:0", "[SEP]:0", "[SEP]:0", "B:0", "[SEP]:0"]])
def test_pairs_are_what_the_tokenizers_package_makes_of_them(
    tmp_path: Path, pair: list[str] | None
) -> None:
    from tokenizers import Tokenizer as Library

    said = definition()
    if pair is not None:
        said["post_processor"] = template(pair)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    library = Library.from_str(json.dumps(said))
    library.enable_truncation(32, strategy="only_second")

    tokenizer = load_tokenizer(path, of_pairs=True)

    # What BERT does is done by the core.
    assert isinstance(tokenizer, WordPiece if pair is None else HubTokenizer)
    assert isinstance(load_tokenizer(path), WordPiece)
    for text, found in zip(TEXTS, tokenizer.encode_pairs(QUESTION, TEXTS, 32), strict=True):
        expected = library.encode(QUESTION, text)
        assert found.ids.tolist() == expected.ids
        assert found.types.tolist() == expected.type_ids


def test_a_tokenizer_of_another_kind_is_used(tmp_path: Path) -> None:
    write_reranker(tmp_path)
    said = definition()
    vocab = {word: number for number, word in enumerate(WORDS)}
    said["model"] = {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}
    said["normalizer"] = {"type": "Lowercase"}
    said["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")

    reranker = load_reranker(str(tmp_path))

    expected = [overlap(QUESTION, text) for text in TEXTS[:6]]
    assert reranker.score(QUESTION, TEXTS[:6]).tolist() == expected
    half = "due \ud800"
    assert reranker.score(half, [half]).tolist() == [2]


def test_padded_batches_give_the_same_scores(tmp_path: Path) -> None:
    reranker: Any = load_reranker(str(write_reranker(tmp_path)))
    alone = reranker.score(QUESTION, TEXTS)

    reranker._session._batch = 64

    assert reranker.score(QUESTION, TEXTS).tolist() == alone.tolist()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"shape": "tokens"}, InvalidArgument, "expected is a cross-encoder"),
        ({"spoil": float("nan")}, Damaged, "NaN or an infinite score"),
        ({"spoil": float("inf")}, Damaged, "NaN or an infinite score"),
    ],
)
def test_what_is_no_reranker_is_refused_when_it_runs(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    reranker = load_reranker(str(write_reranker(tmp_path, **options)))

    with pytest.raises(error, match=said):
        reranker.score(QUESTION, TEXTS[:3])


def test_files_that_do_not_belong_together_are_noticed(tmp_path: Path) -> None:
    write_reranker(tmp_path)
    said = definition()
    said["model"]["vocab"]["march"] = len(WORDS)
    (tmp_path / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises(Damaged, match="belong together"):
        load_reranker(str(tmp_path)).score("march", ["march"])


def test_a_graph_that_takes_something_else_is_refused(tmp_path: Path) -> None:
    write_reranker(tmp_path)
    data = (tmp_path / "model.onnx").read_bytes()
    (tmp_path / "model.onnx").write_bytes(data.replace(b"token_type_ids", b"token_tape_ids"))

    with pytest.raises(InvalidArgument, match="token_tape_ids"):
        load_reranker(str(tmp_path)).score(QUESTION, TEXTS)


def test_places_that_hold_no_reranker_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match=r"expected model\.onnx"):
        load_reranker(str(tmp_path))
    with pytest.raises(MissingModel, match="models get some/model"):
        load_reranker("some/model")
    with pytest.raises(InvalidArgument, match="'minilm' makes vectors and cannot rerank"):
        load_reranker("minilm")
    with pytest.raises(MissingModel):
        load_reranker("")
    write_reranker(tmp_path)
    (tmp_path / "gossamer-model.json").write_text('{"max_length": 4}', encoding="utf-8")
    with pytest.raises(InvalidArgument, match="no room"):
        load_reranker(str(tmp_path))
    (tmp_path / "model.onnx").rename(tmp_path / "model.safetensors")
    with pytest.raises(InvalidArgument, match="token table"):
        load_reranker(str(tmp_path))


def test_a_plain_name_is_no_folder_of_the_place_where_one_works_for_rerankers_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reranker(tmp_path / "mine" / "model")
    monkeypatch.chdir(tmp_path)

    for name in ("mine", "mine/model"):
        with pytest.raises(MissingModel):
            load_reranker(name)
    assert load_reranker("./mine/model").name == "model"


def test_one_of_a_hub_is_used_once_it_was_fetched_and_as_it_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gossamer.models import hub

    there = write_reranker(tmp_path / "there", file="onnx/model.onnx")
    files = {"onnx/model.onnx", "tokenizer.json"}

    def listed(_: str, name: str) -> tuple[str, dict[str, Any]]:
        return "1", {file: hub._Remote(file, f"{name}/{file}", "", -1) for file in files}

    def download(remote: Any, target: Path, _: object) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((there / remote.name).read_bytes())

    monkeypatch.setattr(hub, "_list_files", listed)
    monkeypatch.setattr(hub, "_download", download)
    folder = models.get_model("some/reranker").folder

    reranker = load_reranker("some/reranker")

    assert reranker.name == "some/reranker"
    assert reranker.score("sun", ["sun"]).tolist() == [16]
    (folder / "onnx" / "model.onnx").write_bytes(b"something else")
    with pytest.raises(Damaged):
        load_reranker("some/reranker")


# A server


@pytest.mark.parametrize(
    ("address", "path", "model"),
    [
        ("", "/v1/rerank", ""),
        ("/", "/v1/rerank", ""),
        ("/v1#some-model", "/v1/rerank", "some-model"),
        ("/v2/", "/v2/rerank", ""),
        ("/api/v1/rerank#m", "/api/v1/rerank", "m"),
        ("/rerank", "/rerank", ""),
        ("/inference", "/inference/v1/rerank", ""),
        ("/v1?version=3#m", "/v1/rerank?version=3", "m"),
    ],
)
def test_a_server_is_asked_where_it_reranks(
    server: RerankServer, address: str, path: str, model: str
) -> None:
    reranker = load_reranker(server.url + address)

    scores = reranker.score(QUESTION, TEXTS)

    assert scores.tolist() == [overlap(QUESTION, text) for text in TEXTS]
    ((asked, _, body),) = server.asked
    assert asked == path
    assert body.get("model", "") == model
    assert (body["query"], body["documents"]) == (QUESTION, TEXTS)
    # Text Embeddings Inference calls them so.
    assert body.get("texts") == (TEXTS if path == "/rerank" else None)
    assert reranker.name == model or reranker.name == server.url.removeprefix("http://")


def test_a_server_is_asked_for_some_at_a_time(server: RerankServer) -> None:
    texts = ["due " * number for number in range(70)]

    scores = load_reranker(server.url).score("due", texts)

    assert scores.tolist() == [2.0 * number for number in range(70)]
    assert [len(body["documents"]) for *_, body in server.asked] == [32, 32, 6]
    assert load_reranker(server.url).score("due", []).shape == (0,)


def test_half_a_character_is_not_sent(server: RerankServer) -> None:
    load_reranker(server.url).score("due \ud800", ["rent \udfff"])

    assert server.asked[0][2]["query"] == "due ?"
    assert server.asked[0][2]["documents"] == ["rent ?"]


def test_a_key_goes_to_the_server_that_it_was_set_for_and_to_no_other(
    server: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOSSAMER_API_KEY", "secret")
    with pytest.raises(InvalidArgument, match="not for which server"):
        load_reranker(server.url)
    monkeypatch.setenv("GOSSAMER_API_HOST", "rerank.example")
    load_reranker(server.url).score("due", ["due"])
    monkeypatch.setenv("GOSSAMER_API_HOST", "127.0.0.1")
    load_reranker(server.url).score("due", ["due"])

    keys = [headers.get("Authorization") for _, headers, _ in server.asked]
    assert keys == [None, "Bearer secret"]


def results(*scores: object) -> dict[str, object]:
    return {"results": [{"index": at, "relevance_score": one} for at, one in enumerate(scores)]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (results(1.0), "1 scores for 2 texts"),
        (results(1.0, 2.0, 3.0), "3 scores for 2 texts"),
        (results(), "0 scores for 2 texts"),
        ([], "0 scores for 2 texts"),
        (results(1.0, float("nan")), "NaN or infinite"),
        (results(1.0, float("-inf")), "NaN or infinite"),
        (results(1.0, 1e300), "NaN or infinite"),
        (results(1.0, 10**400), "something else than scores"),
        (results(1.0, "2"), "something else than scores"),
        (results(1.0, True), "something else than scores"),
        (results(1.0, None), "something else than scores"),
        (results(1.0, [2.0]), "something else than scores"),
        ([{"index": 0, "score": 1.0}, {"index": 0, "score": 2.0}], "something else than scores"),
        ([{"index": 0, "score": 1.0}, {"index": 2, "score": 2.0}], "something else than scores"),
        ([{"index": -1, "score": 1.0}, {"index": 0, "score": 2.0}], "something else than scores"),
        ([{"index": "0", "score": 1.0}, {"index": 1, "score": 2}], "something else than scores"),
        ([{"index": True, "score": 1.0}, {"index": 0, "score": 2}], "something else than scores"),
        ([{"index": 0}, {"index": 1}], "something else than scores"),
        ([1.0, 2.0], "something else than scores"),
        ({"results": 7}, "something else than scores"),
        ({"results": {"index": 0}}, "something else than scores"),
        ({"data": []}, "something else than scores"),
        ("scores", "something else than scores"),
        (None, "something else than scores"),
        (b"<html>", "no JSON"),
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff\xfe", "no JSON"),
        ((401, b"no key"), "status 401: no key"),
        ((404, b"no route"), "status 404"),
        ((302, b""), "status 302"),
    ],
)
def test_an_answer_that_is_no_list_of_scores_is_refused(
    server: RerankServer, answer: Any, said: str
) -> None:
    server.answers = [answer]

    with pytest.raises(Unreachable, match=said):
        load_reranker(f"{server.url}/v1#m").score("due", ["due", "rent"])
    assert len(server.asked) == 1


def test_failures_that_pass_are_tried_again_and_others_end(server: RerankServer) -> None:
    pauses: list[float] = []
    reranker = HttpReranker(server.url, None, pauses.append)
    server.answers = [(503, b"loading"), (429, b"")]
    assert reranker.score("due", ["due"]).tolist() == [2]
    assert pauses == [0.5, 1.0]

    server.answers = [(503, b"loading")] * 3
    with pytest.raises(Unreachable, match="asked 3 times for scores of texts"):
        reranker.score("due", ["due"])


def test_a_slow_server_is_given_up(server: RerankServer) -> None:
    server.pause_s = 30
    options = EmbedOptions(timeout_s=0.05)
    reranker = HttpReranker(server.url, options, lambda _: None)

    with pytest.raises(Unreachable, match="timed out"):
        reranker.score("due", ["due"])


def test_an_answer_that_is_too_large_is_given_up(
    server: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.rerankers.http._MOST_BYTES", 1000)
    server.answers = [b" " * 100_000 for _ in range(3)]

    with pytest.raises(Unreachable, match="more than 1,000 bytes"):
        HttpReranker(server.url, None, lambda _: None).score("due", ["due"])


def test_a_server_that_is_not_there_is_named() -> None:
    reranker = HttpReranker("http://127.0.0.1:9/v1#m", None, lambda _: None)

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9/v1/rerank did not answer"):
        reranker.score("due", ["due"])


@pytest.mark.parametrize("place", ["http://", "http://a:b@host/v1", "http://host:0/", "https://#m"])
def test_what_is_no_address_is_refused(place: str) -> None:
    with pytest.raises(InvalidArgument, match="does not name a server that reranks"):
        load_reranker(place)


def test_a_request_without_texts_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="at least one text"):
        load_reranker("http://127.0.0.1/", options=EmbedOptions(batch=0))


# Searches


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
@pytest.mark.parametrize("rerank", ["auto", "none"])
def test_the_best_are_ordered_by_the_reranker_alone(
    index: gossamer.Index, mode: str, rerank: str
) -> None:
    # Shorter is better: nothing else would say so.
    told = Told(lambda text: -len(text))

    found = index.search("in which month is the rent due", 4, mode=mode, rerank=rerank)
    results = index.search(
        "in which month is the rent due", 4, mode=mode, rerank=rerank, reranker=told
    )

    ((question, texts),) = told.asked
    assert question == "in which month is the rent due"
    assert len(texts) >= 10
    assert all(hit.text in texts for hit in found)
    scores = [hit.reranker for hit in results]
    assert scores == sorted((float(-len(text)) for text in texts), reverse=True)[:4]
    assert [hit.score for hit in results] == scores
    assert [hit.reranker for hit in found] == [None] * 4
    assert results.explanation.reranker == "told"
    assert results.explanation.chunks_scored == len(texts)
    assert results.explanation.stages["rerank"] >= 0
    assert (found.explanation.reranker, found.explanation.chunks_scored) == ("", 0)
    assert "rerank" not in found.explanation.stages


def test_titles_are_scored_with_their_texts(index: gossamer.Index) -> None:
    index.add_texts([{"id": "titled", "text": "It is due in May.", "title": "Tomatoes"}])
    told = Told(lambda text: "Tomatoes" in text)

    results = index.search("what is due in May", reranker=told)

    assert results[0].path == "titled"


def test_a_reranker_of_a_folder_is_loaded_once_for_an_index(
    index: gossamer.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(write_reranker(tmp_path / "model"))
    loaded: list[str] = []

    def load(place: str, threads: int) -> Reranker:
        loaded.append(place)
        return load_reranker(place, threads)

    monkeypatch.setattr("gossamer.rerankers.load_reranker", load)
    first = index.search("rent in this month", reranker=place)
    index.add_texts([{"id": "more", "text": "rent rent rent in this month"}])
    second = index.search("rent in this month", reranker=place)

    assert [first[0].path, second[0].path] == ["rent", "more"]
    assert [first[0].reranker, second[0].reranker] == [8, 12]
    assert first.explanation.reranker == "model"
    assert loaded == [place]


def test_a_server_orders_the_best(index: gossamer.Index, server: RerankServer) -> None:
    results = index.search("month of sun", reranker=f"{server.url}/v1#bge")

    assert results[0].path == "garden"
    assert results[0].reranker == 16
    assert results.explanation.reranker == "bge"
    assert len(server.asked) == 1


def test_an_error_of_the_server_is_the_searchs(index: gossamer.Index, server: RerankServer) -> None:
    server.answers = [results(float("nan"))]

    with pytest.raises(Unreachable):
        index.search("month of sun", reranker=server.url)


@pytest.mark.parametrize(
    ("scores", "error"),
    [
        (lambda texts: np.zeros(len(texts) - 1, np.float32), InvalidArgument),
        (lambda texts: np.zeros((len(texts), 1), np.float32), InvalidArgument),
        (lambda _: np.float32(1), InvalidArgument),
        (lambda texts: np.full(len(texts), np.nan, np.float32), NotFinite),
        (lambda texts: np.full(len(texts), -np.inf, np.float32), NotFinite),
    ],
)
def test_what_an_own_reranker_says_is_checked(
    index: gossamer.Index, scores: Callable[[Sequence[str]], Any], error: type[GossamerError]
) -> None:
    class Wrong:
        name = "wrong"

        def score(self, _: str, texts: Sequence[str]) -> Any:
            return scores(texts)

    with pytest.raises(error):
        index.search("month", reranker=Wrong())


def test_what_is_no_reranker_is_refused(index: gossamer.Index) -> None:
    with pytest.raises(InvalidArgument, match="a reranker is a place or has a name and a method"):
        index.search("month", reranker=7)  # type: ignore[arg-type]


def test_files_that_changed_are_not_scored(folder: Path) -> None:
    (folder / "files" / "lease.md").write_text("Nothing here.\n" * 5, encoding="utf-8")
    told = Told(len)

    results = gossamer.Index.open(folder / "index").search(
        "the lease is due", mode="semantic", reranker=told
    )

    assert [Path(path).name for path in results.stale] == ["lease.md"]
    assert [Path(hit.path).name for hit in results] == ["garden.txt"]
    assert [len(texts) for _, texts in told.asked] == [1]


# The command line


def test_the_command_line_takes_a_reranker_and_explains_it(index: gossamer.Index) -> None:
    def run(*arguments: str, **environment: str) -> str:
        done = CliRunner().invoke(
            cli, ["--index", str(index.folder), "search", *arguments], env=environment
        )
        assert done.exit_code == 0, done.output
        return done.stdout

    place = str(write_reranker(index.folder.parent / "tiny"))
    shown = run("month of sun", "--reranker", place, "--explain")
    plain = run("month of sun", "--explain")
    by_environment = json.loads(run("month of sun", "--json", GOSSAMER_RERANKER=place))

    assert shown.startswith("1. garden")
    assert "score 16 by the reranker" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["reranker", "tiny"] in lines
    assert any(line[:2] == ["chunks", "scored"] and int(line[2]) >= 10 for line in lines)
    assert any(line[:2] == ["time:", "rerank"] for line in lines)
    assert "reranker" not in plain
    assert "chunks scored" not in plain
    assert by_environment["hits"][0]["reranker"] == 16
    assert by_environment["explanation"]["reranker"] == "tiny"


def test_the_command_line_says_what_is_wrong_with_a_reranker(
    index: gossamer.Index, tmp_path: Path
) -> None:
    for place, code, said in (
        (str(tmp_path / "none"), 3, "there is no model"),
        ("http://127.0.0.1:9/", 5, "did not answer"),
        ("minilm", 2, "cannot rerank"),
    ):
        done = CliRunner().invoke(
            cli, ["--index", str(index.folder), "search", "month", "--reranker", place]
        )
        assert done.exit_code == code, done.output
        assert said in done.stderr


# The server


def test_a_server_uses_its_own_reranker_for_every_search(
    folder: Path, server: RerankServer
) -> None:
    plain = {"question": "due sun"}
    with serve(folder, reranker=f"{server.url}/v1#bge") as client:
        posted = client.post("/v1/search", json=plain).json()
        asked = client.get("/v1/search", params={"q": "due sun"}).json()

    assert posted["hits"][0]["reranker"] == 16
    assert posted["hits"][0]["path"].endswith("garden.txt")
    assert posted["explanation"]["reranker"] == "bge"
    assert asked["hits"] == posted["hits"]
    with serve(folder) as client:
        without = client.post("/v1/search", json=plain).json()
    assert {hit["reranker"] for hit in without["hits"]} == {None}


def test_no_client_names_a_reranker(folder: Path, server: RerankServer) -> None:
    with serve(folder) as client:
        answer = client.post("/v1/search", json={"question": "sun", "reranker": server.url})
        message = problem(answer, 422, "invalid_request")
        got = client.get("/v1/search", params={"q": "sun", "reranker": server.url})

    assert "reranker" in message
    assert got.status_code == 422
    assert server.asked == []


def test_a_reranker_that_does_not_answer_is_not_the_clients_fault(
    folder: Path, server: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.server.service.Service.warm_up", lambda _: None)
    with serve(folder, reranker=server.url) as client:
        server.answers = [results(float("nan"), 1.0)]
        problem(client.post("/v1/search", json={"question": "sun"}), 503, "unreachable")

    with pytest.raises(MissingModel), serve(folder, reranker=str(folder / "none")):
        pass


def test_serve_takes_a_reranker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr("gossamer.cli.serve._run", lambda app, _: served.append(app))
    monkeypatch.setattr("gossamer.cli.serve._leave", lambda _: None)
    place = str(write_reranker(folder / "tiny"))

    done = CliRunner().invoke(
        cli, ["serve", str(folder / "index"), "--port", "0", "--reranker", place]
    )

    assert done.exit_code == 0, done.output
    service = served[0].state.service
    assert service.reranker.name == "tiny"
    service.close()


def test_records_of_hits_have_the_same_fields_everywhere(index: gossamer.Index) -> None:
    hit = index.search("month", k=1, reranker=Told(len))[0]

    assert asdict(hit)["reranker"] == hit.reranker == hit.score
    assert index.get(hit.id).reranker is None
