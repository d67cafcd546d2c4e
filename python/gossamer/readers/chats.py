"""Chats that people exported: ChatGPT, Claude, Slack, Telegram, Discord, and WhatsApp as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers import assistants, messengers, whatsapp
from gossamer.readers.limits import Limits
from gossamer.records import Document
from gossamer.text.encoding import decode

__all__ = ["read", "recognise"]

# Of a file, looked at to tell what it is: the keys that tell stand early in every export.
_HEAD_BYTES = 1 << 16
_IS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}[\[{]")
_TELEGRAM_TYPES = (
    rb"personal_chat|bot_chat|private_group|private_supergroup|public_supergroup"
    rb"|private_channel|public_channel|saved_messages"
)
_SIGNS = {
    "chatgpt": re.compile(rb'"mapping"\s*:\s*\{\s*"[^"\n]{1,100}"\s*:\s*\{\s*"(?:id|message)"'),
    "claude": re.compile(rb'"chat_messages"\s*:\s*\['),
    "telegram": re.compile(rb'"type"\s*:\s*"(?:' + _TELEGRAM_TYPES + rb')"'),
    "discord": re.compile(rb'^\W{0,10}"guild"\s*:\s*\{[^}]{0,2000}\}\s*,\s*"channel"\s*:\s*\{'),
    "slack": re.compile(rb'"ts"\s*:\s*"\d{9,11}\.\d{6}"'),
}

_READERS: dict[str, Callable[[Path, bytes, Limits], list[Document]]] = {
    "chatgpt": assistants.read_chatgpt,
    "claude": assistants.read_claude,
    "telegram": messengers.read_telegram,
    "discord": messengers.read_discord,
    "slack": messengers.read_slack,
    "whatsapp": whatsapp.read_whatsapp,
}


def recognise(data: bytes, path: Path | None = None) -> str | None:  # noqa: ARG001
    """Name the program whose chat this is, judged by the first bytes; None if it is no chat."""
    head = data[:_HEAD_BYTES]
    if _IS_JSON.match(head):
        for program, sign in _SIGNS.items():
            if sign.search(head):
                return program
    return "whatsapp" if whatsapp.is_whatsapp(head) else None


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read an exported chat: a document for each conversation, its places the messages."""
    # Text may be in another encoding, which hides what it is.
    program = recognise(data, path) or recognise(decode(data).text, path)
    if program is None:
        raise Unreadable("no chat of a program that is known")
    documents = _READERS[program](path, data, limits)
    if not documents:
        raise Unreadable(f"an export of {program} without messages")
    return documents
