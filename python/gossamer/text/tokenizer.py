"""Tokenizers: how many tokens of a model a text is, where each begins, and their ids."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import InvalidArgument, MissingModel, TooLarge, Unreadable

if TYPE_CHECKING:
    from tokenizers import Tokenizer as _Library

__all__ = ["HubTokenizer", "Pair", "Tokenizer", "WordPiece", "bert_uncased", "load_tokenizer"]

_BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_BERT_FRAME = ("[CLS]", "[SEP]")
_VOCABULARY = "bert-uncased.vocab.zz"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Pair:
    """The ids of a question and a text together, and which of both each belongs to (0 or 1)."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]


class Tokenizer(Protocol):
    """What cuts a text into the tokens of one model."""

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        """Give the byte at which each token begins, never falling; empty for a text without any.

        No special tokens are added and nothing is cut off. `text` is UTF-8.
        """
        ...

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Give the ids of each text, with the model's special tokens around it, nothing cut off."""
        ...


class WordPiece:
    """BERT's tokenizer, with the same ids as that of the `tokenizers` package.

    `vocabulary` is a vocab.txt: one piece a line, and a line's number is its id. Text that equals
    one of `specials` becomes that token; `frame` stands before and after the ids of a text.
    """

    def __init__(
        self,
        vocabulary: bytes,
        lowercase: bool = True,
        specials: Sequence[str] = _BERT_SPECIALS,
        frame: tuple[str, str] | tuple[()] = _BERT_FRAME,
    ) -> None:
        self.pieces = _core.WordPiece(vocabulary, lowercase, list(specials))
        ids = [self._id_in_frame(piece) for piece in frame]
        self._before, self._after = ids[:1], ids[1:]

    @property
    def size(self) -> int:
        """How many pieces the vocabulary has; ids are smaller."""
        return self.pieces.size

    def id_of(self, piece: str) -> int | None:
        """Give the id of a piece, spelt as in the vocabulary; None when it is not there."""
        return self.pieces.id_of(piece)

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        """Give the byte at which each token begins; see `Tokenizer`. Any bytes will do."""
        return self.pieces.token_starts([text])[0]

    def token_starts_of(self, texts: Sequence[bytes], threads: int = 0) -> list[NDArray[np.uint32]]:
        """Give the `token_starts` of many texts, found by several threads (0: all cores)."""
        return self.pieces.token_starts(list(texts), threads)

    def encode(
        self, texts: Sequence[str], *, special_tokens: bool = True, threads: int = 1
    ) -> list[NDArray[np.int64]]:
        """Give the ids of each text; see `Tokenizer`. With several threads (0: all cores)."""
        # Half a surrogate pair is no character: it is left out, as all bytes are that are no text.
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        before, after = (self._before, self._after) if special_tokens else ([], [])
        return self.pieces.encode(encoded, before, after, threads)

    def encode_pairs(self, question: str, texts: Sequence[str], most: int) -> list[Pair]:
        """Give a question with each text as BERT takes them, cut to `most` tokens in all.

        Texts are cut at their ends; a question is if it takes more than half.
        """
        asked, *found = self.encode([question, *texts], special_tokens=False)
        room = most - len(self._before) - 2 * len(self._after)
        asked = asked[: room // 2]
        first = np.concatenate([self._before, asked, self._after])
        pairs = []
        for ids in found:
            second = np.concatenate([ids[: room - len(asked)], self._after])
            types = np.repeat([0, 1], [len(first), len(second)])
            pairs.append(Pair(np.concatenate([first, second]).astype(np.int64), types))
        return pairs

    def _id_in_frame(self, piece: str) -> int:
        found = self.pieces.id_of(piece)
        if found is None:
            raise InvalidArgument(
                f"the vocabulary holds no {piece!r}, which is to stand around every text; "
                f"give frame=() for a model without such tokens"
            )
        return found


class HubTokenizer:
    """Any tokenizer.json, by the optional `tokenizers` package.

    Raises `MissingModel` when that package is not installed, `Unreadable` when it does not
    understand the definition.
    """

    def __init__(self, definition: str) -> None:
        self._library = _load_library(definition)
        self._library.no_truncation()
        self._library.no_padding()

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        """Give the byte at which each token begins; see `Tokenizer`. Any bytes will do."""
        # A byte that is no text becomes half a surrogate pair, so that characters can be counted.
        characters = text.decode("utf-8", "surrogateescape")
        encoding = self._library.encode(_without_surrogates(characters), add_special_tokens=False)
        starts = np.fromiter((start for start, _ in encoding.offsets), np.int64)
        # A tokenizer that puts characters into another order may name a later one first.
        return np.maximum.accumulate(_byte_offsets(characters)[starts])

    def encode(
        self, texts: Sequence[str], *, special_tokens: bool = True
    ) -> list[NDArray[np.int64]]:
        """Give the ids of each text; see `Tokenizer`."""
        encodings = self._library.encode_batch(
            [_without_surrogates(text) for text in texts], add_special_tokens=special_tokens
        )
        return [np.array(encoding.ids, np.int64) for encoding in encodings]

    def encode_pairs(self, question: str, texts: Sequence[str], most: int) -> list[Pair]:
        """Give a question with each text as its definition says; see `WordPiece`."""
        asked, *found = self._library.encode_batch(
            [_without_surrogates(text) for text in (question, *texts)], add_special_tokens=False
        )
        room = most - self._library.num_special_tokens_to_add(True)
        asked.truncate(room // 2)
        pairs = []
        for encoding in found:
            encoding.truncate(room - len(asked.ids))
            both = self._library.post_process(asked, encoding)
            pairs.append(Pair(np.array(both.ids, np.int64), np.array(both.type_ids, np.int64)))
        return pairs


@cache
def bert_uncased() -> WordPiece:
    """Give the tokenizer of bert-base-uncased, which MiniLM and most small models share."""
    data = resources.files("gossamer") / "models" / "data" / _VOCABULARY
    return WordPiece(zlib.decompress(data.read_bytes()))


def load_tokenizer(path: Path, *, of_pairs: bool = False) -> WordPiece | HubTokenizer:
    """Load a tokenizer.json, or BERT's vocab.txt with the tokenizer_config.json beside it, if any.

    A tokenizer.json of BERT's kind is read by the core, any other needs the `tokenizers` package.
    Where it is to encode pairs, it must be of BERT's kind in that, too.
    Raises `Unreadable` for a file that is neither.
    """
    data = _read(path)
    try:
        if path.suffix == ".json":
            definition = _parse(path, data)
            pieces = _as_wordpiece(definition)
            if pieces is None or (of_pairs and not _pairs_like_bert(definition)):
                return HubTokenizer(data.decode("utf-8", "replace"))
            return pieces
        beside = path.with_name("tokenizer_config.json")
        config = _parse(beside, _read(beside)) if beside.is_file() else {}
        return WordPiece(data, lowercase=config.get("do_lower_case") is not False)
    except (InvalidArgument, TooLarge) as error:
        raise Unreadable(f"{path} is no vocabulary: {error}") from error


def _as_wordpiece(definition: dict[str, Any]) -> WordPiece | None:
    """Give the core's tokenizer if it does exactly what is defined, else None."""
    match definition:
        case {
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None | bool() as strip_accents,
                "lowercase": bool() as lowercase,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": post_processor,
            "added_tokens": [*added],
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": dict() as vocab,
            },
        }:
            frame = _frame(post_processor, vocab)
            vocabulary = _vocabulary_lines(vocab)
            is_plain = all(_is_plain_token(token, vocab) for token in added)
            if strip_accents not in (None, lowercase) or not is_plain:
                return None
            if frame is None or vocabulary is None:
                return None
            specials = [token["content"] for token in added]
            return WordPiece(vocabulary, lowercase, specials, frame)
    return None


def _frame(post_processor: object, vocab: dict[str, int]) -> tuple[str, str] | tuple[()] | None:
    """Give what stands around a text, () for nothing; None for what a `WordPiece` cannot do."""
    match post_processor:
        case None:
            return ()
        case {"type": "BertProcessing", "cls": [str(first), a], "sep": [str(last), b]} if (
            vocab.get(first) == a and vocab.get(last) == b
        ):
            return first, last
        case {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": str(first)}},
                {"Sequence": {"id": "A"}},
                {"SpecialToken": {"id": str(last)}},
            ],
            "special_tokens": dict() as specials,
        } if all(_ids_of(specials, piece) == [vocab.get(piece)] for piece in (first, last)):
            return first, last
    return None


def _pairs_like_bert(definition: dict[str, Any]) -> bool:
    """Tell whether a pair is [CLS] A [SEP] B [SEP]; said of a definition that has a `_frame`."""
    match definition.get("post_processor"):
        case {"type": "BertProcessing"}:
            return True
        case {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": first}}, _, {"SpecialToken": {"id": last}}],
            "pair": [
                {"SpecialToken": {"id": start, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": middle, "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
                {"SpecialToken": {"id": end, "type_id": 1}},
            ],
        }:
            return bool((start, middle, end) == (first, last, last))
    return False


def _ids_of(specials: dict[str, Any], piece: str) -> object:
    special = specials.get(piece)
    return special.get("ids") if isinstance(special, dict) else None


def _is_plain_token(token: object, vocab: dict[str, int]) -> bool:
    """Tell whether a token is found in the text as it was given, and has its id from the vocab."""
    match token:
        case {
            "id": int(id),
            "content": str(content),
            "normalized": False,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
        }:
            return vocab.get(content) == id
    return False


def _vocabulary_lines(vocab: dict[str, int]) -> bytes | None:
    """Give the pieces in the order of their ids, one a line; None when they are no such list."""
    if not all(type(number) is int for number in vocab.values()):
        return None
    pieces = sorted(vocab, key=vocab.__getitem__)
    is_list = all(vocab[piece] == number for number, piece in enumerate(pieces))
    lines = "\n".join(pieces)
    if not is_list or "[UNK]" not in vocab or lines.count("\n") >= len(vocab) or "\r" in lines:
        return None
    return f"{lines}\n".encode("utf-8", "surrogatepass")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"the tokenizer {path} cannot be read: {error.strerror}") from error


def _parse(path: Path, data: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} should hold JSON, but cannot be read as such: {error}") from error
    if not isinstance(parsed, dict):
        raise Unreadable(f"{path} should hold one JSON object, not a {type(parsed).__name__}")
    return parsed


def _load_library(definition: str) -> _Library:
    try:
        from tokenizers import Tokenizer as Library
    except ImportError as error:
        raise MissingModel(
            "this model's tokenizer is not BERT's WordPiece and needs the package 'tokenizers', "
            "which is not installed; run: pip install 'gossamer[tokenizers]'"
        ) from error
    try:
        return Library.from_str(definition)
    except Exception as error:  # the library raises nothing more specific
        raise Unreadable(f"the tokenizer's JSON is not one 'tokenizers' reads: {error}") from error


def _without_surrogates(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _byte_offsets(characters: str) -> NDArray[np.uint32]:
    """Give the byte at which each character begins, and the end."""
    points = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    sizes[(points >= 0xDC80) & (points <= 0xDCFF)] = 1  # an undecodable byte
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
