"""SQLite's FTS5 with its own tokenizers, any word of the question, ranked by its bm25()."""

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path


class SqliteFts:
    """In memory; `tokenizer` is "unicode61" or "porter"."""

    def __init__(self, texts: Sequence[str], tokenizer: str) -> None:
        self.name = f"FTS5 {tokenizer}"
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            f"CREATE VIRTUAL TABLE chunks USING fts5(text, content='', tokenize='{tokenizer}')"
        )
        self._database.executemany(
            "INSERT INTO chunks(rowid, text) VALUES (?, ?)", enumerate(texts)
        )

    def search(self, questions: Sequence[str], n: int) -> list[list[int]]:
        return [self._search(question, n) for question in questions]

    def save(self, path: Path) -> None:
        """Write it to a file, its segments merged and without the texts."""
        self._database.execute("INSERT INTO chunks(chunks) VALUES ('optimize')")
        self._database.commit()
        self._database.execute("VACUUM INTO ?", (str(path),))

    def _search(self, question: str, n: int) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = self._database.execute(
            "SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY bm25(chunks), rowid LIMIT ?",
            (match, n),
        )
        return [row[0] for row in rows]
