"""Conversations with assistants: the exports of ChatGPT and Claude (conversations.json)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gossamer.readers.conversation import Conversations, Message
from gossamer.readers.dates import iso_of_text, iso_of_timestamp
from gossamer.readers.limits import Limits
from gossamer.readers.loose_json import JsonObject, as_list, as_object, as_text, elements
from gossamer.records import Document, Value

__all__ = ["read_chatgpt", "read_claude"]

_CHATGPT_NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_CLAUDE_NAMES = {"human": "User", "assistant": "Assistant"}
_MAX_TOOL_CHARS = 2_000  # of pages fetched and output printed, enough to find them by


def read_chatgpt(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read ChatGPT's export: of each conversation the branch that was shown last."""
    found = Conversations("chatgpt", limits, is_markdown=True)
    for number, element in enumerate(elements(data), 1):
        chat = as_object(element)
        key = as_text(chat.get("conversation_id")) or as_text(chat.get("id")) or str(number)
        about = _date_of(iso_of_timestamp(chat.get("create_time")))
        found.add(_chatgpt_messages(chat), as_text(chat.get("title")), key, about)
    return found.documents


def read_claude(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read Claude's export."""
    found = Conversations("claude", limits, is_markdown=True)
    for number, element in enumerate(elements(data), 1):
        chat = as_object(element)
        key = as_text(chat.get("uuid")) or str(number)
        about = _date_of(iso_of_text(chat.get("created_at")))
        found.add(_claude_messages(chat), as_text(chat.get("name")), key, about)
    return found.documents


def _date_of(begun: str) -> dict[str, Value]:
    return {"date": begun} if begun else {}


def _chatgpt_messages(chat: JsonObject) -> Iterator[Message]:
    number = 0
    for node in _shown_branch(chat):
        message = as_object(node.get("message"))
        name = _CHATGPT_NAMES.get(as_text(as_object(message.get("author")).get("role")), "")
        is_hidden = as_object(message.get("metadata")).get("is_visually_hidden_from_conversation")
        text = _chatgpt_text(as_object(message.get("content")))
        if name and text and not is_hidden:
            number += 1
            shown = text[:_MAX_TOOL_CHARS] if name == "Tool" else text
            yield Message(number, name, shown, _time_of(node))


def _shown_branch(chat: JsonObject) -> list[JsonObject]:
    """Follow the tree of messages from the last one shown up to its root; give it root first."""
    nodes = as_object(chat.get("mapping"))
    current = as_text(chat.get("current_node")) or _newest_leaf(nodes)
    branch: list[JsonObject] = []
    seen: set[str] = set()
    while current in nodes and current not in seen:  # a damaged export may go in a circle
        seen.add(current)
        node = as_object(nodes[current])
        branch.append(node)
        current = as_text(node.get("parent"))
    return branch[::-1]


def _newest_leaf(nodes: JsonObject) -> str:
    leaves = [name for name, node in nodes.items() if not as_list(as_object(node).get("children"))]
    return max(leaves, key=lambda name: _time_of(as_object(nodes[name])), default="")


def _time_of(node: JsonObject) -> str:
    return iso_of_timestamp(as_object(node.get("message")).get("create_time"))


def _chatgpt_text(content: JsonObject) -> str:
    kind = content.get("content_type")
    if kind == "code":
        code = as_text(content.get("text")).strip()
        language = as_text(content.get("language"))
        return f"```{language if language.isalnum() else ''}\n{code}\n```" if code else ""
    if kind in ("text", "multimodal_text"):
        return "\n\n".join(filter(None, map(_part_text, as_list(content.get("parts")))))
    if kind in ("execution_output", "tether_quote", "tether_browsing_display"):
        return as_text(content.get("text")) or as_text(content.get("result"))
    return ""


def _part_text(part: object) -> str:
    # Parts that are objects are pictures and sound; speech has its words with it.
    return part if isinstance(part, str) else as_text(as_object(part).get("text"))


def _claude_messages(chat: JsonObject) -> Iterator[Message]:
    for number, element in enumerate(as_list(chat.get("chat_messages")), 1):
        message = as_object(element)
        blocks = map(as_object, as_list(message.get("content")))
        texts = [as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
        text = "\n\n".join(filter(None, texts)) or as_text(message.get("text"))
        names = _attached_names(message)
        if names:
            text = f"{text}\n\nAttached: {', '.join(names)}"
        sender = as_text(message.get("sender"))
        date = iso_of_text(message.get("created_at"))
        yield Message(number, _CLAUDE_NAMES.get(sender, sender), text, date)


def _attached_names(message: JsonObject) -> list[str]:
    attached = [*as_list(message.get("attachments")), *as_list(message.get("files"))]
    names = (as_text(as_object(file).get("file_name")) for file in attached)
    return list(dict.fromkeys(name for name in names if name))
