"""Embedders: the same text gives the same bits, and nothing is cut off or let through."""

import base64
import http.server
import json
import os
import struct
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.embed import EmbedOptions, load_embedder, workers
from gossamer.embed.http import HttpEmbedder
from gossamer.embed.onnx import OnnxEmbedder, _Encoder
from gossamer.embed.safetensors import read_tensors
from gossamer.embed.sessions import open_session
from gossamer.embed.static import StaticEmbedder
from gossamer.embed.texts import cut_into_pieces, to_unit_rows
from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    MissingModel,
    NotFinite,
    Unreachable,
)
from gossamer.models import graph
from gossamer.models.folder import read_folder
from gossamer.text.tokenizer import bert_uncased

TEXTS = [
    "The cat sat on the mat.",
    "A kitten was resting on the rug.",
    "Quarterly revenue rose by eleven percent.",
    "",
    "naïve café 漢字 🦔",
    "The lease for the flat is due on the first of March. " * 18,
]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOSSAMER_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("no_proxy", "127.0.0.1")
        patch.delenv("GOSSAMER_API_KEY", raising=False)
        patch.delenv("GOSSAMER_API_HOST", raising=False)
        yield


@pytest.fixture(scope="module")
def minilm():
    return load_embedder("minilm", threads=2)


# The default model


def test_paraphrases_are_near_and_unrelated_texts_are_not(minilm):
    cat, kitten, revenue = minilm.embed(TEXTS[:3])

    assert cat @ kitten > 0.55
    assert cat @ revenue < 0.2


@pytest.fixture(scope="module")
def exact(minilm):
    """What the model's own graph gives, in floats."""
    session = open_session(minilm._model, str(minilm._model.weights.path))

    def embed(text):
        ids = minilm.tokenizer.encode([text])[0][None]
        feed = {"input_ids": ids, "attention_mask": ids**0, "token_type_ids": ids * 0}
        return to_unit_rows(session.run(None, feed)[0].mean(axis=1))[0]

    return embed


@pytest.mark.parametrize("text", TEXTS)
def test_chunks_are_near_the_float_model_and_questions_nearer(minilm, exact, text):
    vector = exact(text)

    assert minilm.embed([text])[0] @ vector > 0.99
    assert minilm.embed_question(text) @ vector > 0.9999


def test_rows_have_unit_length_and_come_in_order(minilm):
    rows = minilm.embed(TEXTS)

    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[1].tobytes() == minilm.embed([TEXTS[1]])[0].tobytes()


def test_a_text_has_the_same_bits_alone_and_in_any_company(minilm):
    together = minilm.embed(TEXTS)
    backwards = minilm.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])

    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


def test_a_text_has_the_same_bits_with_any_number_of_threads(minilm):
    rows = load_embedder("minilm", threads=1).embed(TEXTS)

    assert rows.tobytes() == minilm.embed(TEXTS).tobytes()


def test_a_text_has_the_same_bits_in_another_process(minilm):
    program = (
        "import sys, json; from gossamer.embed import load_embedder;"
        "texts = json.loads(sys.stdin.buffer.read());"
        "sys.stdout.buffer.write(load_embedder('minilm').embed(texts).tobytes())"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(TEXTS).encode(),
        capture_output=True,
        check=True,
    )

    assert done.stdout == minilm.embed(TEXTS).tobytes()


def test_a_question_has_the_same_bits_each_time(minilm):
    again = load_embedder("minilm", threads=1).embed_question(TEXTS[0])

    assert minilm.embed_question(TEXTS[0]).tobytes() == again.tobytes()


def test_a_long_question_is_averaged_and_no_part_of_it_is_lost(minilm):
    filler = "The weather was fine and nothing happened at all. " * 60

    vector = minilm.embed_question(filler + "Revenue rose." * 100)

    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-6)
    revenue = minilm.embed_question("Revenue rose.")
    assert vector @ revenue > minilm.embed_question(filler) @ revenue + 0.1


def test_a_text_of_too_many_tokens_is_refused_not_cut(minilm):
    words = ["word"] * minilm.max_tokens

    minilm.embed([" ".join(words)])
    with pytest.raises(InvalidArgument, match="text 1 has 255 tokens"):
        minilm.embed(["short", " ".join([*words, "word"])])


def test_no_texts_give_no_rows(minilm):
    assert minilm.embed([]).shape == (0, 384)


def test_progress_ends_with_the_number_of_texts(minilm):
    seen = []

    minilm.embed(TEXTS, seen.append)

    assert seen[-1] == len(TEXTS)
    assert seen == sorted(seen)


def test_a_gpu_that_is_not_there_is_not_pretended():
    embedder = load_embedder("minilm", options=EmbedOptions(device="gpu"))

    with pytest.raises(InvalidArgument, match="onnxruntime offers none"):
        embedder.embed(["text"])


@pytest.mark.parametrize("options", [EmbedOptions(threads=-1), EmbedOptions(device="tpu")])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InvalidArgument):
        load_embedder("minilm", options=options)


# Threads


def test_an_error_in_a_thread_is_raised_and_ends_the_rest():
    done = []

    def work(item):
        if item == 3:
            raise ValueError("three")
        done.append(item)

    with pytest.raises(ValueError, match="three"):
        workers.run_each(work, range(10_000), 2)
    assert len(done) < 10_000


def test_an_interrupt_stops_the_threads():
    gate = threading.Event()
    begun = []

    def work(item):
        begun.append(item)
        gate.wait(10)

    def interrupt(_):
        gate.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.run_each(work, range(10_000), 2, interrupt)
    assert len(begun) < 10_000
    assert not [thread for thread in threading.enumerate() if "gossamer-embed" in thread.name]


# Long questions


@given(st.text(max_size=400), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_pieces_join_to_the_text_and_each_fits(text, most):
    tokenizer = bert_uncased()

    pieces = cut_into_pieces(text, tokenizer, most)

    assert "".join(pieces) == text
    counts = [tokenizer.token_starts(piece.encode()).size for piece in pieces]
    assert max(counts) <= most


# ONNX models of users


def write_tiny_onnx(path, rows, outputs=("last_hidden_state",)):
    """Write a model whose tokens' vectors are rows of a table."""
    data = np.asarray(rows, "<f4")
    table = b"".join(graph._number(1, size) for size in data.shape) + graph._number(2, 1)
    table += graph._field(8, b"table") + graph._field(9, data.tobytes())
    node = b"".join(graph._field(1, name) for name in (b"table", b"input_ids"))
    node += graph._field(2, outputs[0].encode()) + graph._field(4, b"Gather")
    body = graph._field(1, node) + graph._field(2, b"tiny") + graph._field(5, table)
    body += graph._field(11, graph._port("input_ids", 7, ["batch", "sequence"]))
    dims = ["batch", "sequence", data.shape[1]]
    body += graph._field(12, graph._port(outputs[0], 1, dims))
    opset = graph._field(1, b"") + graph._number(2, 17)
    model = graph._number(1, 8) + graph._field(7, body) + graph._field(8, opset)
    path.write_bytes(model)


VOCABULARY = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nred\nblue\nquery\n:\n"
ROWS = np.eye(9, 4) + np.arange(36).reshape(9, 4) / 40


@pytest.fixture
def tiny_folder(tmp_path):
    write_tiny_onnx(tmp_path / "model.onnx", ROWS)
    (tmp_path / "vocab.txt").write_bytes(VOCABULARY)
    return tmp_path


def unit(row):
    return row / np.linalg.norm(row)


def test_a_users_model_is_pooled_over_all_its_tokens(tiny_folder):
    embedder = load_embedder(str(tiny_folder))

    row = embedder.embed(["red blue"])[0]

    assert np.allclose(row, unit(ROWS[[2, 5, 6, 3]].mean(axis=0)), atol=1e-6)
    assert embedder.dim == 4
    assert embedder.max_tokens == 510


def test_a_users_model_gives_the_vectors_of_its_tokens(tiny_folder):
    embedder = load_embedder(str(tiny_folder))

    texts = embedder.embed_tokens(["red blue", "blue"])
    question = embedder.embed_question_tokens("red blue")

    assert embedder.gives_tokens
    assert np.allclose(texts.tokens, ROWS[[5, 6, 6]])
    assert texts.counts.tolist() == [2, 1]
    assert np.allclose(question.tokens, ROWS[[5, 6]])
    assert question.starts.tolist() == [0, 4]


def test_tokens_that_are_not_as_long_as_vectors_are_not_compared(tiny_folder):
    class Projecting(_Encoder):
        def run(self, ids, progress, with_tokens=False):
            return [(row[:2], tokens) for row, tokens in super().run(ids, progress, with_tokens)]

    model = read_folder(tiny_folder)
    embedder = OnnxEmbedder(model)
    session = open_session(model, str(model.weights.path))
    embedder._encoders = {False: Projecting(session, model, 1, 1)}

    assert not embedder.gives_tokens


def test_a_users_model_may_pool_by_its_first_token(tiny_folder):
    (tiny_folder / "gossamer-model.json").write_text('{"pooling": "cls"}', encoding="utf-8")

    row = load_embedder(str(tiny_folder)).embed(["red blue"])[0]

    assert np.allclose(row, unit(ROWS[2]), atol=1e-6)


def test_prompts_go_before_texts_and_questions_and_take_room(tiny_folder):
    rules = {"question_prompt": "query: ", "max_length": 8}
    (tiny_folder / "gossamer-model.json").write_text(json.dumps(rules), encoding="utf-8")
    embedder = load_embedder(str(tiny_folder))

    question = embedder.embed_question("red")

    assert np.allclose(question, unit(ROWS[[2, 7, 8, 5, 3]].mean(axis=0)), atol=1e-6)
    assert np.allclose(embedder.embed(["red"])[0], unit(ROWS[[2, 5, 3]].mean(axis=0)), atol=1e-6)
    assert embedder.max_tokens == 4


def test_padded_batches_give_the_same_vectors_up_to_rounding(tiny_folder):
    model = read_folder(tiny_folder)
    session = open_session(model, str(model.weights.path))
    ids = [np.array(one) for one in ([2, 5, 3], [2, 5, 6, 6, 5, 3], [2, 3])]

    alone = _Encoder(session, model, 1, 1).run(ids, None, with_tokens=True)
    together = _Encoder(session, model, 1, 64).run(ids, None, with_tokens=True)

    for one, other, tokens in zip(alone, together, ids, strict=True):
        assert np.allclose(one[0], other[0], atol=1e-6)
        assert one[1].shape == (len(tokens), len(one[0]))
        assert np.allclose(one[1], other[1], atol=1e-5)


def test_a_vocabulary_of_another_model_is_noticed(tiny_folder):
    (tiny_folder / "vocab.txt").write_bytes(VOCABULARY + b"green\n")

    with pytest.raises(Damaged, match="belong together"):
        load_embedder(str(tiny_folder)).embed(["red green"])


def test_a_model_without_room_for_a_text_is_refused(tiny_folder):
    (tiny_folder / "gossamer-model.json").write_text('{"max_length": 2}', encoding="utf-8")

    with pytest.raises(InvalidArgument, match="no room"):
        load_embedder(str(tiny_folder))


@pytest.mark.parametrize("data", [b"", b"no model", b"\x08\x08:\x03\x01\x02\x03"])
def test_a_file_that_is_no_onnx_model_is_refused(tiny_folder, data):
    (tiny_folder / "model.onnx").write_bytes(data)

    with pytest.raises(GossamerError, match="cannot load"):
        load_embedder(str(tiny_folder)).embed(["red"])


# Token tables


def write_safetensors(path, tensors):
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64", "int8": "I8"}
    header, body = {}, b""
    for name, tensor in tensors.items():
        place = [len(body), len(body) + tensor.nbytes]
        shape = list(tensor.shape)
        header[name] = {"dtype": kinds[str(tensor.dtype)], "shape": shape, "data_offsets": place}
        body += tensor.tobytes()
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)


@pytest.fixture
def table_folder(tmp_path):
    write_safetensors(tmp_path / "model.safetensors", {"embeddings": ROWS.astype(np.float32)})
    (tmp_path / "vocab.txt").write_bytes(VOCABULARY)
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}', encoding="utf-8")
    return tmp_path


def test_a_token_table_gives_the_mean_of_known_tokens(table_folder):
    embedder = load_embedder(str(table_folder))

    rows = embedder.embed(["red blue strange", "blue"])

    assert isinstance(embedder, StaticEmbedder)
    assert np.allclose(rows[0], unit(ROWS[[5, 6]].mean(axis=0)), atol=1e-6)
    assert np.allclose(rows[1], unit(ROWS[6]), atol=1e-6)
    assert (embedder.dim, embedder.max_tokens) == (4, 512)


def test_unknown_tokens_count_where_the_model_says_so(table_folder):
    (table_folder / "config.json").unlink()

    row = load_embedder(str(table_folder)).embed(["red strange"])[0]

    assert np.allclose(row, unit(ROWS[[5, 1]].mean(axis=0)), atol=1e-6)


def test_a_text_without_a_known_token_still_has_unit_length(table_folder):
    rows = load_embedder(str(table_folder)).embed(["", "strange"])

    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_shared_rows_and_weights_of_newer_tables_are_used(table_folder):
    tensors = {
        "embeddings": ROWS[:3].astype(np.float32),
        "mapping": np.array([0, 0, 0, 0, 0, 1, 2, 0, 0]),
        "weights": np.arange(9).astype(np.float32),
    }
    write_safetensors(table_folder / "model.safetensors", tensors)

    row = load_embedder(str(table_folder)).embed(["red blue"])[0]

    assert np.allclose(row, unit(5 * ROWS[1] + 6 * ROWS[2]), atol=1e-6)


def test_table_vectors_have_the_same_bits_in_any_company(table_folder):
    embedder = load_embedder(str(table_folder))
    texts = ["red " * n + "blue " * (200 - n) for n in range(150)]

    together = embedder.embed(texts)

    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()


def test_a_table_text_of_too_many_tokens_is_refused(table_folder):
    embedder = load_embedder(str(table_folder))

    with pytest.raises(InvalidArgument, match="text 64 has 513 tokens"):
        embedder.embed(["red"] * 64 + ["red " * 513])


def test_half_precision_tables_are_read(table_folder):
    write_safetensors(table_folder / "model.safetensors", {"t": ROWS.astype(np.float16)})

    row = load_embedder(str(table_folder)).embed(["red"])[0]

    assert np.allclose(row, unit(ROWS[5]), atol=1e-3)


@pytest.mark.parametrize(
    "tensors",
    [
        {"embeddings": ROWS[:4].astype(np.float32)},
        {"embeddings": ROWS.astype(np.float32), "mapping": np.array([9] * 9)},
        {"embeddings": ROWS.astype(np.float32), "mapping": np.array([-1] * 9)},
        {"embeddings": ROWS.astype(np.float32), "weights": np.ones(3, np.float32)},
        {"a": ROWS.astype(np.float32), "b": ROWS.astype(np.float32)},
        {"a": np.ones(4, np.float32)},
        {},
    ],
)
def test_tables_that_do_not_fit_their_tokenizer_are_refused(table_folder, tensors):
    write_safetensors(table_folder / "model.safetensors", tensors)

    with pytest.raises(Damaged):
        load_embedder(str(table_folder)).embed(["red blue"])


def header_file(header, body=b"\0" * 16):
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(data)) + data + body


HOSTILE = [
    b"",
    b"1234567",
    struct.pack("<Q", 2**63) + b"{}",
    struct.pack("<Q", 1000) + b"{}",
    header_file(b"["),
    header_file(b"[" * 100_000),
    header_file([]),
    header_file({"a": 1}),
    header_file({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 17]}}),
    header_file({"a": {"dtype": "F32", "shape": [4], "data_offsets": [8, 24]}}),
    header_file({"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}}),
    header_file({"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}}),
    header_file({"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 16]}}),
    header_file({"a": {"dtype": "F32", "shape": [1] * 100 + [4], "data_offsets": [0, 16]}}),
    header_file({"a": {"dtype": "F32", "shape": [True, 4], "data_offsets": [0, 16]}}),
    header_file({"a": {"dtype": "F32", "shape": "4", "data_offsets": None}}),
]


@pytest.mark.parametrize("data", HOSTILE)
def test_a_hostile_safetensors_file_is_refused(tmp_path, data):
    (tmp_path / "bad").write_bytes(data)

    with pytest.raises(GossamerError):
        read_tensors(tmp_path / "bad")


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_safetensors_never_raise_anything_else(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "bad"
    write_safetensors(path, {"embeddings": ROWS.astype(np.float32)})
    whole = bytearray(path.read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])

    try:
        tensors = read_tensors(path)
    except GossamerError:
        return
    assert all(tensor.nbytes <= len(whole) for tensor in tensors.values())


# Servers


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with what `server.answers` holds, then with embeddings of the texts' lengths."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        planned = self.server.answers.pop(0) if self.server.answers else None
        if planned == "hang up":
            self.close_connection = True
            return
        status, headers, answer = planned or (200, {}, embeddings(self.path, body))
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def vector_of(text):
    return [float(len(text)), 1.0, 0.5]


def embeddings(path, body):
    vectors = [vector_of(text) for text in body["input"]]
    if path == "/api/embed":
        return {"embeddings": vectors}
    if body.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack("<3f", *row)).decode() for row in vectors]
    entries = [{"index": at, "embedding": row} for at, row in enumerate(vectors)]
    return {"data": entries[::-1]}


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as serving:
        serving.answers, serving.asked = [], []
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def asking(server):
    pauses = []

    def make(path="/v1", **options):
        spec = f"http://127.0.0.1:{server.server_port}{path}#some-model"
        embedder = HttpEmbedder(spec, EmbedOptions(timeout_s=5, **options), pauses.append)
        embedder.pauses = pauses
        return embedder

    return make


def data(*vectors):
    entries = [{"index": at, "embedding": row} for at, row in enumerate(vectors)]
    return 200, {}, {"data": entries}


def test_a_server_is_asked_in_batches_and_answers_are_put_in_order(asking, server):
    embedder = asking(batch=2)
    texts = ["a" * length for length in (3, 1, 5, 2, 4)]
    seen = []

    rows = embedder.embed(texts, seen.append)

    expected = [unit(np.array(vector_of(text))) for text in texts]
    assert np.allclose(rows, expected, atol=1e-6)
    assert seen == [2, 4, 5]
    assert {path for path, _, _ in server.asked} == {"/v1/embeddings"}
    assert server.asked[-1][2]["model"] == "some-model"


def test_floats_in_digits_are_understood_too(asking, server):
    server.answers = [data([3.0, 4.0])]

    assert np.allclose(asking().probe(), [0.6, 0.8])


def test_ollama_is_asked_in_its_own_way(asking, server):
    row = asking("/api/embed").embed_question("four")

    assert np.allclose(row, unit(np.array(vector_of("four"))), atol=1e-6)
    assert server.asked[0][0] == "/api/embed"


def test_no_key_is_sent_unless_one_is_given(asking, server):
    asking().probe()
    asking(api_key="secret").probe()

    assert "Authorization" not in server.asked[0][1]
    assert server.asked[1][1]["Authorization"] == "Bearer secret"


def test_the_key_may_come_from_the_environment(asking, server, monkeypatch):
    monkeypatch.setenv("GOSSAMER_API_KEY", "from outside")
    monkeypatch.setenv("GOSSAMER_API_HOST", "127.0.0.1")

    asking().probe()

    assert server.asked[0][1]["Authorization"] == "Bearer from outside"


def test_the_fingerprint_names_model_and_dimension_not_the_address(asking, server):
    first = asking().fingerprint
    elsewhere = asking("/other/v1").fingerprint
    server.answers = [data([1.0, 2.0])]

    assert first == elsewhere
    assert asking().fingerprint != first


@pytest.mark.parametrize("failure", [(429, {}, b""), (503, {}, b"loading"), "hang up"])
def test_failures_that_pass_are_tried_again_ever_more_slowly(asking, server, failure):
    server.answers = [failure, failure]
    embedder = asking()

    assert embedder.probe().size == 3
    assert embedder.pauses == [0.5, 1.0]


def test_a_server_that_says_when_is_asked_then(asking, server):
    server.answers = [(429, {"Retry-After": "7"}, b"")]
    embedder = asking()

    embedder.probe()

    assert embedder.pauses == [7.0]


def test_a_server_that_keeps_failing_is_given_up(asking, server):
    server.answers = [(500, {}, b"out of memory")] * 9

    with pytest.raises(Unreachable, match=r"asked 5 times .* status 500 \(out of memory\)"):
        asking().probe()


def test_a_slow_server_is_not_waited_for_forever(server, monkeypatch):
    silent = threading.Event()
    monkeypatch.setattr(Server, "do_POST", lambda _: silent.wait(10))
    embedder = HttpEmbedder(
        f"http://127.0.0.1:{server.server_port}/v1#m", EmbedOptions(timeout_s=0.02), lambda _: None
    )

    with pytest.raises(Unreachable, match="timed out"):
        embedder.probe()
    silent.set()


def test_a_server_that_is_not_there_is_named():
    embedder = HttpEmbedder("http://127.0.0.1:9/v1#m", EmbedOptions(), lambda _: None)

    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9/v1/embeddings did not answer"):
        embedder.probe()


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, b"<html>hello</html>"),
        (200, {}, b"[" * 100_000),
        (200, {}, []),
        (200, {}, {"error": "no such model"}),
        (200, {}, {"data": []}),
        (200, {}, {"data": None}),
        (200, {}, {"data": [{"index": 5, "embedding": [1.0]}]}),
        (200, {}, {"data": [{"index": "x", "embedding": [1.0]}]}),
        (200, {}, {"data": [{"embedding": "not base64!"}]}),
        (200, {}, {"data": [{"embedding": "AAA="}]}),
        (200, {}, {"data": [{"embedding": {}}]}),
        (200, {}, {"data": [{"embedding": ["a"]}]}),
        data([]),
        data([[1.0]]),
        data([1.0, 2.0], [3.0, 4.0]),
        (401, {}, b"no key"),
        (404, {}, b"no such model"),
        (302, {"Location": "http://127.0.0.1:9/"}, b""),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused(asking, server, answer):
    server.answers = [answer]

    with pytest.raises(Unreachable, match="asked for embeddings of 'some-model'"):
        asking().probe()
    assert len(server.asked) == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e300"])
def test_numbers_that_are_not_finite_are_refused(asking, server, number):
    server.answers = [(200, {}, f'{{"data": [{{"embedding": [1, {number}]}}]}}'.encode())]

    with pytest.raises(NotFinite):
        asking().probe()


def test_a_server_that_changes_its_dimension_is_refused(asking, server):
    embedder = asking()
    assert embedder.dim == 3
    server.answers = [data([1.0, 2.0])]

    with pytest.raises(Unreachable, match="where 3 is expected"):
        embedder.embed(["text"])


def test_a_text_beyond_the_limit_is_refused_before_it_is_sent(asking, server):
    with pytest.raises(InvalidArgument, match="text 0 has 5 tokens"):
        asking(max_tokens=4).embed(["one two three four five"])
    assert server.asked == []


@pytest.mark.parametrize(
    "spec",
    ["http://host/v1", "http://#model", "http:///v1#m", "http://u:p@host/v1#m", "http://h:x/v1#m"],
)
def test_an_address_without_a_model_is_refused(spec):
    with pytest.raises(InvalidArgument, match="localhost"):
        load_embedder(spec)


# sentence-transformers


class FakeTransformer:
    """As much of a SentenceTransformer as is used."""

    max_seq_length = 6
    has_gpu = False
    prompts: dict[str, str] = {"query": "query : "}  # noqa: RUF012

    def __init__(self, name, device="cpu"):
        if name != "known":
            raise OSError("no such model")
        if device == "cuda" and not self.has_gpu:
            raise AssertionError("not compiled with CUDA")
        self.device = device
        self.batches = []
        self.is_single = False

    def float(self):
        self.is_single = True
        return self

    def __getitem__(self, _):
        return types.SimpleNamespace(auto_model=None)

    def get_sentence_embedding_dimension(self):
        return 2

    def tokenizer(self, texts, add_special_tokens=True, return_offsets_mapping=False, **_):
        if return_offsets_mapping:
            words = texts.split()
            starts = [texts.index(word) for word in words]
            return {"offset_mapping": [(start, start + 1) for start in starts]}
        frame = 1 if add_special_tokens else 0
        return {"input_ids": [[0] * frame + [1] * len(t.split()) + [0] * frame for t in texts]}

    def encode(self, texts, prompt, batch_size, convert_to_tensor, **_):
        self.batches.append(batch_size)
        rows = np.array([[len((prompt or "") + text), 1.0] for text in texts])
        return FakeTensor(rows) if convert_to_tensor else rows


class FakeTensor:
    """Rows that are on a GPU until they are fetched."""

    def __init__(self, rows):
        self._rows = rows

    def float(self):
        return self

    def cpu(self):
        return self._rows


@pytest.fixture
def transformers(monkeypatch):
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = FakeTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("transformers")
def test_sentence_transformers_are_embedders_too():
    embedder = load_embedder("sentence-transformers:known")

    assert np.allclose(embedder.embed(["red"])[0], unit(np.array([3, 1])))
    assert np.allclose(embedder.embed_question("red"), unit(np.array([11, 1])))
    assert (embedder.dim, embedder.max_tokens) == (2, 2)
    assert embedder.tokenizer.token_starts("é b".encode()).tolist() == [0, 3]
    with pytest.raises(InvalidArgument, match="3 tokens"):
        embedder.embed(["one two three"])


@pytest.mark.usefixtures("transformers")
def test_a_transformer_computes_alone_on_a_cpu_and_in_batches_on_a_gpu(monkeypatch):
    monkeypatch.setattr(FakeTransformer, "has_gpu", True)
    alone = load_embedder("sentence-transformers:known", options=EmbedOptions(device="cpu"))
    batched = load_embedder("sentence-transformers:known", options=EmbedOptions(device="gpu"))

    assert np.array_equal(alone.embed(["red", "blue"]), batched.embed(["red", "blue"]))
    assert (alone._model.batches, alone._model.is_single) == ([1], True)
    assert batched._model.batches[0] > 1
    assert not batched._model.is_single


@pytest.mark.usefixtures("transformers")
def test_a_gpu_that_torch_does_not_have_is_refused():
    with pytest.raises(InvalidArgument, match="not compiled with CUDA"):
        load_embedder("sentence-transformers:known", options=EmbedOptions(device="gpu"))


@pytest.mark.usefixtures("transformers")
def test_a_transformer_that_cannot_be_loaded_is_missing():
    with pytest.raises(MissingModel, match="no such model"):
        load_embedder("sentence-transformers:unknown")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(MissingModel, match=r"gossamer\[sentence-transformers\]"):
        load_embedder("sentence-transformers:any")


def test_importing_embedders_imports_nothing_heavy():
    program = (
        "import sys, gossamer.embed, gossamer.models;"
        "print({'onnxruntime', 'urllib.request', 'subprocess'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )

    assert done.stdout.strip() == "set()"
