"""bm25s: BM25 scores computed when the index is built, kept in memory as a sparse matrix."""

from collections.abc import Sequence
from pathlib import Path

import bm25s


class Bm25s:
    """Its default English setup; with `stem` Snowball's English stemmer (PyStemmer) as well."""

    def __init__(self, texts: Sequence[str], stem: bool) -> None:
        self.name = "bm25s, stemmed" if stem else "bm25s"
        self._stemmer = None
        if stem:
            import Stemmer

            self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(self._terms(texts), show_progress=False)

    def search(self, questions: Sequence[str], n: int) -> list[list[int]]:
        terms = self._terms(questions)
        found, _ = self._index.retrieve(terms, k=n, show_progress=False, sorted=True)
        return [row.tolist() for row in found]

    def save(self, folder: Path) -> None:
        """Write its matrix and words, without the texts."""
        self._index.save(str(folder), show_progress=False)

    def _terms(self, texts: Sequence[str]) -> list[list[str]]:
        terms: list[list[str]] = bm25s.tokenize(
            list(texts), stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return terms
