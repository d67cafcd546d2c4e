"""Chats between people that come as JSON: Slack, Telegram and Discord."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.conversation import Conversations, Message
from gossamer.readers.dates import iso_of_text, iso_of_timestamp
from gossamer.readers.entities import unescape
from gossamer.readers.limits import Limits
from gossamer.readers.loose_json import (
    JsonObject,
    as_list,
    as_object,
    as_text,
    elements,
    parse,
)
from gossamer.readers.pieces import one_line
from gossamer.records import Document

__all__ = ["read_discord", "read_slack", "read_telegram"]

_MAX_USERS_BYTES = 64_000_000
_SLACK_MARKUP = re.compile(r"<([@#!]?)([^<>|\n]{1,2000})(?:\|([^<>\n]{0,500}))?>")
_SLACK_NOISE = {"channel_join", "channel_leave", "group_join", "group_leave", "bot_add"}


def read_slack(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read one day of a channel; names come from the export's users.json, where it is found."""
    names = _slack_names(path)
    messages = _slack_messages(data, names)
    found = Conversations("slack", limits, is_markdown=False)
    channel, day = path.parent.name, path.stem
    metadata = {"channel": channel}
    if date := iso_of_text(day):
        metadata |= {"date": date, "last_date": date}
    found.add(messages, f"#{channel} {day}", metadata=metadata)
    return found.documents


def read_telegram(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read one chat, or every chat of a whole export."""
    export = as_object(parse(data))
    several = as_list(as_object(export.get("chats")).get("list"))
    found = Conversations("telegram", limits, is_markdown=False)
    for element in several or [export]:
        chat = as_object(element)
        title = as_text(chat.get("name")) or "Saved messages"
        key = _id_of(chat) if several else ""
        found.add(_telegram_messages(as_list(chat.get("messages"))), title, key)
    return found.documents


def read_discord(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read a channel as DiscordChatExporter writes it."""
    export = as_object(parse(data))
    channel = one_line(as_object(export.get("channel")).get("name"))
    guild = one_line(as_object(export.get("guild")).get("name"))
    messages = as_list(export.get("messages"))
    found = Conversations("discord", limits, is_markdown=False)
    metadata = {"channel": channel}
    found.add(_discord_messages(messages), f"{guild} #{channel}", metadata=metadata)
    return found.documents


def _slack_messages(data: bytes, names: Mapping[str, str]) -> Iterator[Message]:
    for number, element in enumerate(elements(data), 1):
        message = as_object(element)
        if as_text(message.get("subtype")) in _SLACK_NOISE:
            continue
        text = _slack_text(as_text(message.get("text")), names)
        files = (one_line(as_object(file).get("name")) for file in as_list(message.get("files")))
        attached = ", ".join(filter(None, files))
        if attached:
            text = f"{text}\nAttached: {attached}"
        yield Message(
            number, _slack_name(message, names), text, iso_of_timestamp(message.get("ts"))
        )


def _slack_name(message: JsonObject, names: Mapping[str, str]) -> str:
    user = as_text(message.get("user"))
    profile = as_object(message.get("user_profile"))
    found = (
        names.get(user),
        as_text(profile.get("display_name")),
        as_text(profile.get("real_name")),
        as_text(message.get("username")),
        as_text(as_object(message.get("bot_profile")).get("name")),
    )
    return next(filter(None, found), user)


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    """Give text as Slack shows it: mentions by name, links by their words."""

    def shown(found: re.Match[str]) -> str:
        sign, target, label = found.groups()
        if sign == "@":
            return f"@{names.get(target) or label or target}"
        if sign == "#":
            return f"#{label or target}"
        if sign == "!":
            return f"@{label or target.partition('^')[0]}".replace("@@", "@")
        return f"{label} ({target})" if label and label != target else target

    return unescape(_SLACK_MARKUP.sub(shown, text))


def _slack_names(path: Path) -> Mapping[str, str]:
    """Give user id -> name out of users.json, which stands beside the folders of the channels."""
    listing = path.parent.parent / "users.json"
    try:
        status = listing.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_USERS_BYTES:
            return {}
        return _names_in(listing, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError, Unreadable):  # without the list, ids stand for names
        return {}


@lru_cache(maxsize=2)  # a channel has a file for each day, and all need the same list
def _names_in(listing: Path, _mtime_ns: int, _size: int) -> Mapping[str, str]:
    with listing.open("rb") as file:
        data = file.read(_MAX_USERS_BYTES)
    names: dict[str, str] = {}
    for element in elements(data):
        user = as_object(element)
        profile = as_object(user.get("profile"))
        known = (profile.get("display_name"), profile.get("real_name"), user.get("name"))
        name = next(filter(None, map(one_line, known)), "")
        if name:
            names[as_text(user.get("id"))] = name
    return names


def _telegram_messages(messages: list[object]) -> Iterator[Message]:
    for number, element in enumerate(messages, 1):
        message = as_object(element)
        if message.get("type") == "message":
            # The text is of the clock of whoever made the export; older exports have only that.
            moment = iso_of_timestamp(message.get("date_unixtime"))
            date = moment or iso_of_text(message.get("date"))
            yield Message(number, as_text(message.get("from")), _telegram_text(message), date)


def _telegram_text(message: JsonObject) -> str:
    """Give the words of a message, which stand as one string or as pieces with their style."""
    text = message.get("text")
    if isinstance(text, str):
        return text
    pieces = (
        piece if isinstance(piece, str) else as_text(as_object(piece).get("text"))
        for piece in as_list(text)
    )
    return "".join(pieces)


def _discord_messages(messages: list[object]) -> Iterator[Message]:
    for number, element in enumerate(messages, 1):
        message = as_object(element)
        author = as_object(message.get("author"))
        name = as_text(author.get("nickname")) or as_text(author.get("name"))
        date = iso_of_text(message.get("timestamp"))
        yield Message(number, name, as_text(message.get("content")), date)


def _id_of(chat: JsonObject) -> str:
    value = chat.get("id")
    return str(value) if isinstance(value, int | str) else as_text(chat.get("name"))
