"""A folder of model files: what kind of model it holds, and how its vectors are made.

Understood are the files that sentence-transformers and Model2Vec write, and `gossamer-model.json`,
which has the last word.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from gossamer.errors import InvalidArgument, MissingModel
from gossamer.models.hashes import check_sha256, sha256_of
from gossamer.models.records import Model, ModelFile

__all__ = ["SETTINGS", "read_folder"]

SETTINGS = "gossamer-model.json"

_GRAPHS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
_TABLES = ("model.safetensors",)
_TOKENIZERS = ("tokenizer.json", "vocab.txt")
_STATIC_LENGTH = 512
_DEFAULT_LENGTH = 512
_MAX_JSON_BYTES = 8 << 20


def read_folder(folder: Path, name: str = "") -> Model:
    """Describe the model in `folder`; MissingModel says which file is not there."""
    own = _read_json(folder / SETTINGS)
    weights = _named(folder, own, "weights", (*_GRAPHS, *_TABLES))
    kind = own.get("kind", "static" if weights.suffix == ".safetensors" else "onnx")
    if kind not in ("onnx", "static"):
        raise _bad(folder, "kind", kind, "onnx or static")
    config = _read_json(folder / "config.json")
    prompts = _prompts(folder)
    hashes = own.get("sha256", {})
    return Model(
        name=name or str(own.get("name", "")) or folder.name,
        kind=kind,
        folder=folder,
        weights=_weights(folder, weights, hashes),
        tokenizer=_file(folder, _named(folder, own, "tokenizer", _TOKENIZERS), hashes),
        max_length=_max_length(folder, own, config, kind),
        dim=_count(folder, "dim", own.get("dim", config.get("hidden_size", 0))),
        pooling=_pooling(folder, own),
        question_prompt=str(own.get("question_prompt", prompts[0])),
        text_prompt=str(own.get("text_prompt", prompts[1])),
        drops_unknown=bool(own.get("drops_unknown", config.get("model_type") == "model2vec")),
        licence=str(own.get("licence", "")),
    )


def _named(folder: Path, own: dict[str, Any], what: str, usual: tuple[str, ...]) -> Path:
    """Give the file that the settings name, or the first of the usual ones that is there."""
    named = own.get(what)
    if named is not None:
        path = (folder / str(named)).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise _bad(folder, what, named, "a file inside the folder")
        usual = (str(named),)
    for candidate in usual:
        if (folder / candidate).is_file():
            return folder / candidate
    raise MissingModel(
        f"{folder} holds no {what} of a model: expected {' or '.join(usual)}; give a folder with "
        f"an ONNX model or a token table, and name its files in {SETTINGS} if they differ"
    )


def _weights(folder: Path, path: Path, hashes: Any) -> ModelFile:
    """Give the weights; those of a large ONNX model lie in a second file, which counts too."""
    file = _file(folder, path, hashes)
    beside = path.with_name(f"{path.name}_data")
    if not beside.is_file():
        return file
    both = file.sha256 + _file(folder, beside, hashes).sha256
    return ModelFile(path, hashlib.sha256(both.encode()).hexdigest())


def _file(folder: Path, path: Path, hashes: Any) -> ModelFile:
    expected = hashes.get(path.relative_to(folder).as_posix()) if isinstance(hashes, dict) else None
    if isinstance(expected, str):
        check_sha256(path, expected)
        return ModelFile(path, expected)
    return ModelFile(path, sha256_of(path))


def _max_length(folder: Path, own: dict[str, Any], config: dict[str, Any], kind: str) -> int:
    """What the model was made for; the first place that says so counts."""
    if kind == "static":
        return _count(folder, "max_length", own.get("max_length", _STATIC_LENGTH)) or _STATIC_LENGTH
    trained = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = config.get("max_position_embeddings", 0)
    # RoBERTa's positions begin behind the padding token's.
    if config.get("model_type") in ("roberta", "xlm-roberta") and isinstance(positions, int):
        positions -= 2
    found = own.get("max_length") or trained or positions or _DEFAULT_LENGTH
    return _count(folder, "max_length", found)


def _pooling(folder: Path, own: dict[str, Any]) -> str:
    if "pooling" in own:
        pooling = own["pooling"]
        if pooling not in ("mean", "cls"):
            raise _bad(folder, "pooling", pooling, "mean or cls")
        return str(pooling)
    modes = _read_json(folder / "1_Pooling" / "config.json")
    chosen = [
        key for key, is_on in modes.items() if key.startswith("pooling_mode") and is_on is True
    ]
    if chosen in ([], ["pooling_mode_mean_tokens"]):
        return "mean"
    if chosen == ["pooling_mode_cls_token"]:
        return "cls"
    raise _bad(folder, "pooling", ", ".join(chosen), "mean or cls")


def _prompts(folder: Path) -> tuple[str, str]:
    """Prompts for questions and for texts, as sentence-transformers names them."""
    found = _read_json(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(found, dict):
        return "", ""
    text = found.get("document", found.get("passage", ""))
    return str(found.get("query") or ""), str(text or "")


def _count(folder: Path, what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _bad(folder, what, value, "a whole number")
    return value


def _read_json(path: Path) -> dict[str, Any]:
    """Read an object from a file; nothing when there is no such file."""
    try:
        if path.stat().st_size > _MAX_JSON_BYTES:
            raise InvalidArgument(
                f"{path} is larger than any model's settings; is it the right file?"
            )
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{path} is not JSON that can be read ({error}); mend it") from error
    return found if isinstance(found, dict) else {}


def _bad(folder: Path, what: str, value: Any, expected: str) -> InvalidArgument:
    return InvalidArgument(
        f"the model in {folder} has {what} {value!r}, but expected {expected}; "
        f"set it in {SETTINGS} there"
    )
