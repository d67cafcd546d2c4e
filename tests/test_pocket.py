"""The model that comes with the package: the same bits everywhere, and nothing to fetch."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gossamer import Index, models
from gossamer._core import StaticModel
from gossamer.embed import load_embedder
from gossamer.embed.packed import PackedEmbedder
from gossamer.errors import Damaged, InvalidArgument, NotGossamer, Truncated
from gossamer.models.packs import shipped_pack
from gossamer.models.registry import known_model
from gossamer.single.container import Container

EXPECTED = json.loads(
    (Path(__file__).parent.parent / "web/tests/data/embed.json").read_text(encoding="utf-8")
)
MOST_BYTES = 2_500_000


@pytest.fixture(scope="module")
def pocket():
    return load_embedder("pocket")


@pytest.fixture(scope="module")
def file():
    return models.find("pocket").weights.path.read_bytes()


def test_the_shipped_file_is_the_pinned_one_and_small(file):
    known = known_model("pocket")

    assert hashlib.sha256(file).hexdigest() == known.weights.sha256
    assert len(file) == known.weights.size <= MOST_BYTES


def test_the_fingerprint_is_that_of_vocabulary_and_table(file):
    container = Container(np.frombuffer(file, np.uint8))
    parts = container.section(41).tobytes() + container.section(42).tobytes()
    stated = json.loads(container.section(40).tobytes())

    fingerprint = models.find("pocket").fingerprint

    assert fingerprint == stated["fingerprint"] == hashlib.sha256(parts).hexdigest()
    assert (stated["name"], stated["dim"], stated["max_tokens"]) == ("pocket", 256, 512)


@pytest.mark.parametrize("row", EXPECTED["rows"], ids=lambda row: ascii(row["text"][:12]))
def test_vectors_are_the_same_bits_as_everywhere(pocket, row):
    vector = pocket.embed_question(row["text"] * row["times"])

    assert hashlib.sha256(vector.tobytes()).hexdigest() == row["sha256"]
    assert np.isclose(np.linalg.norm(vector), 1)


def test_a_text_has_the_same_bits_alone_in_company_and_on_one_thread(pocket):
    texts = [row["text"] for row in EXPECTED["rows"]] * 20

    rows = pocket.embed(texts)

    alone = load_embedder("pocket", threads=1)
    assert all(np.array_equal(rows[i], alone.embed([texts[i]])[0]) for i in range(0, 380, 19))
    assert np.array_equal(rows, alone.embed(texts))


def test_texts_that_mean_alike_are_near_and_others_are_not(pocket):
    rows = pocket.embed(
        ["a cat sleeps on the sofa", "the kitten rests on a couch", "quarterly tax revenue"]
    )

    assert rows[0] @ rows[1] > 0.4 > 0.2 > rows[0] @ rows[2]


def test_a_text_of_too_many_tokens_is_refused_and_a_question_is_not(pocket):
    long = "word " * 513

    with pytest.raises(InvalidArgument, match="text 1 has 513 tokens, but the model takes 512"):
        pocket.embed(["short", long])
    assert np.allclose(pocket.embed_question(long), pocket.embed_question("word"))


def test_a_text_without_known_words_is_the_first_axis(pocket):
    rows = pocket.embed(["", "\u3164\ue000"])

    assert rows.tolist() == [[1, *[0] * 255]] * 2


def test_half_a_surrogate_pair_is_left_out(pocket):
    assert np.array_equal(pocket.embed_question("a\ud800b c"), pocket.embed_question("ab c"))


def test_its_tokenizer_says_where_tokens_begin(pocket):
    assert pocket.tokenizer.token_starts("A café, again".encode()).tolist() == [0, 2, 7, 9]
    assert [len(ids) for ids in pocket.tokenizer.encode(["", "one two"])] == [0, 2]


def test_it_comes_with_a_codebook_and_what_each_recall_costs(pocket):
    pack = shipped_pack(pocket.fingerprint)

    assert pack.codebook.dim == pocket.dim
    assert pack.codebook.code_bytes == 24
    assert {k for k, _ in pack.calibration.scan_tables()} >= {1, 3, 10}


def test_it_is_here_without_being_fetched():
    (listed,) = (model for model in models.list_models() if model.name == "pocket")

    assert listed.is_here
    assert listed.bytes <= MOST_BYTES
    assert models.get_model("pocket") == models.find("pocket")


def test_an_index_is_built_and_searched_with_it(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "cats.md").write_text("# Cats\nA kitten sleeps on the sofa.\n")
    (tmp_path / "notes" / "tax.md").write_text("# Tax\nRevenue is due each quarter.\n")

    index = Index.create(tmp_path / "index", model="pocket")

    index.add_paths([tmp_path / "notes"])

    (best, *_) = index.search("where does the pet rest?", mode="semantic").hits
    assert best.source.endswith("cats.md")
    manifest = index.snapshot.manifest
    assert (manifest.model.name, manifest.settings.code_bytes) == ("pocket", 24)


def test_a_damaged_model_file_is_refused(file, tmp_path):
    broken = bytearray(file)
    broken[len(file) // 2] ^= 1
    path = tmp_path / "broken.gossamer"
    path.write_bytes(broken)
    model = models.find("pocket")

    with pytest.raises(Damaged, match="checksum"):
        PackedEmbedder(replace(model, weights=models.ModelFile(path, "")))
    with pytest.raises(Truncated):
        StaticModel(file[:-1])
    with pytest.raises(NotGossamer):
        StaticModel(b"no model at all")
