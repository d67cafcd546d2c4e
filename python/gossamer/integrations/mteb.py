"""Gossamer as a search model of mteb, the benchmark of text embedding and retrieval.

`mteb.evaluate(GossamerSearch("indexes"), mteb.get_task("SciFact"))` scores it. mteb itself is
imported for `mteb_model_meta` alone (the extra gossamer[mteb]).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import gossamer
from gossamer.errors import InvalidArgument, WrongState
from gossamer.index import Index
from gossamer.model import Share
from gossamer.models import default_model
from gossamer.records import Hit
from gossamer.store.manifest import MANIFEST
from gossamer.update.prepare import GivenText

if TYPE_CHECKING:
    from mteb.models import ModelMeta

__all__ = ["GossamerSearch"]

_MODEL_TYPES = {"hybrid": ["dense", "sparse"], "semantic": ["dense"], "lexical": ["sparse"]}

Rows = Iterable[Mapping[str, Any]]
Scores = dict[str, float]


class Task(Protocol):
    """What is read of mteb's TaskMetadata."""

    @property
    def name(self) -> str:
        """What the task is called."""
        ...


class GossamerSearch:
    """A model that follows mteb's `SearchProtocol`, over one index for each corpus.

    The indexes are made below `folder` and stay there: a corpus that was indexed before is not
    embedded again. `mode`, `recall` and `model` are those of `Index`; `keep="all"` keeps the
    vectors, which makes deep rankings fast.

    At most `depth` documents are ranked for a query, whatever mteb asks for (it asks for 1,000,
    and each costs an embedding or more unless vectors are kept): scores at larger cuts than
    `depth` count these alone. None gives as many as mteb asks for. `share` is that of `Index.open`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        mode: str = "hybrid",
        model: str | None = None,
        recall: float | None = None,
        depth: int | None = 10,
        keep: str = "none",
        share: Share | None = None,
    ) -> None:
        if mode not in _MODEL_TYPES:
            raise InvalidArgument(f"mode must be {', '.join(_MODEL_TYPES)}, not {mode!r}")
        if depth is not None and depth < 1:
            raise InvalidArgument(f"depth must be at least 1, or None for no limit; got {depth}")
        self.mode = mode
        self.recall = recall
        self.depth = depth
        self._folder = Path(folder)
        self._model = model or default_model()
        self._keep = keep
        self._share = share
        self._indexes: dict[str, Index] = {}

    def index(
        self,
        corpus: Rows,
        *,
        task_metadata: Task,
        hf_split: str,
        hf_subset: str,
        **_: object,  # batch sizes and processes, which are for models that encode
    ) -> None:
        """Index the documents of a corpus; those that are indexed just so already stay.

        WrongState if the index in the folder holds documents that are not in the corpus.
        """
        name = self._name(task_metadata, hf_subset, hf_split)
        texts = [text for row in corpus if (text := _as_text(row)) is not None]
        index = self._open(self._folder / name)
        index.add_texts(texts)
        held = index.status().indexed
        if held != len({text.id for text in texts}):
            raise WrongState(
                f"{index.folder} holds {held} documents, the corpus {len(texts)}: it was made of "
                "another corpus; remove it, or give another folder"
            )
        self._indexes[name] = index

    def search(
        self,
        queries: Rows,
        *,
        task_metadata: Task,
        hf_split: str,
        hf_subset: str,
        top_k: int,
        top_ranked: Mapping[str, list[str]] | None = None,
        **_: object,
    ) -> dict[str, Scores]:
        """Give the best documents of each query with their scores, by the ids of both.

        A document's score is that of its best chunk, and no two have the same. WrongState before
        `index` was called for the same task; InvalidArgument for tasks that rank given documents.
        """
        index = self._indexes.get(self._name(task_metadata, hf_subset, hf_split))
        if index is None:
            raise WrongState(f"call index() with the corpus of {task_metadata.name} first")
        if top_ranked is not None:
            raise InvalidArgument(
                f"{task_metadata.name} ranks documents that are given for each query; Gossamer "
                "searches a whole corpus, so take tasks of the type Retrieval"
            )
        count = top_k if self.depth is None else min(top_k, self.depth)
        return {str(row["id"]): self._rank(index, _question(row), count) for row in queries}

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """What mteb writes beside the scores; no model is loaded for it."""
        from mteb.models import ModelMeta

        return ModelMeta(
            loader=None,
            name=f"gossamer/{_as_file_name(self._model)}-{self.mode}",
            revision=gossamer.__version__,
            release_date=None,
            languages=None,
            n_parameters=None,
            memory_usage_mb=None,
            max_tokens=None,
            embed_dim=None,
            license="apache-2.0",
            open_weights=True,
            public_training_code=None,
            public_training_data=None,
            framework=["ONNX"],
            similarity_fn_name="cosine",
            use_instructions=False,
            training_datasets=None,
            model_type=_MODEL_TYPES[self.mode],
            experiment_kwargs={"recall": self.recall, "depth": self.depth},
        )

    def _name(self, task: Task, subset: str, split: str) -> str:
        """What the index of a corpus is called: other models and corpora get other folders."""
        return _as_file_name("-".join((self._model, self._keep, task.name, subset, split)))

    def _open(self, folder: Path) -> Index:
        if not (folder / MANIFEST).exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            Index.create(folder, model=self._model, keep=self._keep)
        return Index.open(folder, share=self._share)

    def _rank(self, index: Index, question: str, count: int) -> Scores:
        """Give the best documents; more chunks are asked for where several are of one document."""
        if not any(map(str.isalnum, question)):
            return {}  # nothing to look for: no document answers it
        asked = count
        while True:
            hits = index.search(
                question,
                asked,
                mode=self.mode,
                recall=self.recall,
                plain=True,
                distinct=False,
                per_file=0,
            )
            scores = _document_scores(hits)
            if len(scores) >= count or len(hits) < asked:
                return dict(list(scores.items())[:count])
            asked *= 2


def _as_text(row: Mapping[str, Any]) -> GivenText | None:
    """Give a document of a corpus as a text to add; None if there is no word in it."""
    title, text = row.get("title") or "", row.get("text") or ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise InvalidArgument(f"document {row.get('id')!r} is no text; Gossamer searches texts")
    if not text.strip():
        title, text = "", title
    return GivenText(str(row["id"]), text, title) if text.strip() else None


def _question(row: Mapping[str, Any]) -> str:
    """Give the words of a query, and its instruction if it comes with one, as mteb joins them."""
    text, instruction = row.get("text"), row.get("instruction")
    if not isinstance(text, str):
        raise InvalidArgument(f"query {row.get('id')!r} must be a string, got {text!r}")
    return f"{text} {instruction}" if instruction else text


def _document_scores(hits: Iterable[Hit]) -> Scores:
    """Give each document the score of its best chunk, in the order of the hits.

    mteb sorts by score in 32 bits and breaks ties by id, so equal ones are set apart here.
    """
    scores: Scores = {}
    below = np.float32(np.inf)
    for hit in hits:
        if hit.source not in scores:
            below = min(np.float32(hit.score), np.nextafter(below, np.float32(-np.inf)))
            scores[hit.source] = float(below)
    return scores


def _as_file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")
