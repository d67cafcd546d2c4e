"""A conversation on its way into a document: who said what, message by message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document, Value

__all__ = ["Conversations", "Message"]

# Text that begins like this is Markdown that must begin a line.
_BLOCK_BEGINS = ("#", "```", "~~~", "- ", "* ", "> ", "1. ", "|")


@dataclass(frozen=True, slots=True)
class Message:
    """What someone said; `number` counts the messages of the conversation from 1."""

    number: int
    name: str
    text: str
    date: str = ""  # ISO 8601; "" where it is not known


class Conversations:
    """The documents of one export, within the limits and with keys that differ."""

    def __init__(self, program: str, limits: Limits, is_markdown: bool) -> None:
        self._program = program
        self._limits = limits
        self._is_markdown = is_markdown
        self._room = limits.max_text_bytes
        self._keys: set[str] = set()
        self.documents: list[Document] = []

    def add(
        self,
        messages: Iterable[Message],
        title: str,
        key: str = "",
        metadata: Mapping[str, Value] | None = None,
    ) -> None:
        """Add a conversation; one in which nothing was said leaves nothing.

        Its metadata says when its first and last messages were sent, unless `metadata` does.
        """
        pieces = Pieces(self._room, "\n\n" if self._is_markdown else "\n")
        first = last = ""
        for message in messages:
            first, last = first or message.date, max(last, message.date)
            text = message.text.strip()
            if text:
                gap = "\n\n" if self._is_markdown and text.startswith(_BLOCK_BEGINS) else " "
                pieces.add(message.number, f"{one_line(message.name) or 'Someone'}:{gap}{text}")
        if not pieces.text:
            return
        if len(self.documents) >= self._limits.max_documents:
            raise Unreadable(f"more than the limit of {self._limits.max_documents} conversations")
        self._room -= len(pieces.text)
        about = {"date": first, "last_date": last, **(metadata or {})}
        known = {name: value for name, value in about.items() if value}
        self.documents.append(
            Document(
                text=pieces.text,
                kind="chat",
                markup="markdown" if self._is_markdown else "plain",
                title=one_line(title),
                unit="message",
                places=pieces.places,
                key=self._unique(key),
                metadata={"program": self._program, **known},
            )
        )

    def _unique(self, key: str) -> str:
        key = one_line(key)
        if key and key in self._keys:
            key = f"{key} ({len(self.documents) + 1})"
        self._keys.add(key)
        return key
