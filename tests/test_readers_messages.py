"""Readers of what people wrote to one another: mail, and chats that were exported."""

from __future__ import annotations

import base64
import json
import re
from email.message import EmailMessage
from pathlib import Path

import pytest
import reader_samples as make
from reader_checks import pieces_of, place_of, read, read_if_possible, read_one

from gossamer.errors import Unreadable
from gossamer.readers import chats, mail
from gossamer.readers.limits import Limits

WRONG_VALUES = (None, True, -1, 1e308, "", "\ud800", [], {}, [None], [[]], {"a": 1}, ["x", 2])


# Mail


def test_a_message_gives_its_plain_text_and_names_its_attachments():
    document = read_one("mails/a.eml", make.eml())

    assert document.title == "Größe der Wohnung"
    assert "> how large is it?\n\nEighty square metres, größer nicht." in document.text.decode()
    assert document.text.endswith(b"Attachments: plan.pdf\n")
    assert document.metadata["from"] == "Ann Doe <ann@example.org>"
    assert document.metadata["date"] == "2024-05-01T10:00:00"
    assert document.metadata["folder"] == "mails"


PARAGRAPHS = [
    "The wännchen is here.",
    " ".join(f"würd{at}" for at in range(60)),
    "",
    "",
    "",
    "End.",
]
PAGE = "<h1>Greeting</h1>\n\n<p>" + " ".join(f"Wört{at}" for at in range(60)) + "</p>\n<p>End.</p>"


def line_in(raw: bytes, word: str, encoding: str, charset: str) -> int:
    """Say on which line of a file an encoded word begins, without what reads it."""
    data, body = word.encode(charset), raw.index(b"\n\n") + 2
    if encoding == "base64":
        return raw.count(b"\n", 0, body) + 1 + base64.b64decode(raw[body:]).index(data) // 57
    if encoding == "8bit":
        return raw.count(b"\n", 0, raw.index(data, body)) + 1
    # A word may be cut by a soft line break, after any of its encoded bytes.
    letters = [b"=%02X" % byte if byte > 127 else re.escape(bytes([byte])) for byte in data]
    found = re.compile(rb"(?:=\n)?".join(letters)).search(raw, body)
    return raw.count(b"\n", 0, found.start()) + 1


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("encoding", ["8bit", "quoted-printable", "base64"])
@pytest.mark.parametrize("subtype", ["plain", "html"])
def test_each_word_of_a_mail_knows_its_line_of_the_file(subtype, encoding, charset):
    content = PAGE if subtype == "html" else "\n".join(PARAGRAPHS) + "\n"
    message = EmailMessage()
    message["Subject"] = "Words"
    message["From"] = "ann@example.org"
    message.set_content(content, subtype=subtype, charset=charset, cte=encoding)
    raw = message.as_bytes()

    document = read_one("a.eml", raw)

    words = re.findall(r"\w\S*", re.sub("<[^>]*>", "", content))
    assert document.unit == "line"
    assert place_of(document, "Subject: Words") == 1
    assert place_of(document, "From: ann") == 2
    assert len(words) > 60
    for word in words:
        assert place_of(document, word) == line_in(raw, word, encoding, charset), word


def test_text_whose_encoding_shifts_stays_whole():
    text = "日本語の手紙です。" * 30 + "\n" + "次の行。" * 30
    body = base64.encodebytes(text.encode("iso-2022-jp"))
    head = b"Subject: s\nContent-Type: text/plain; charset=iso-2022-jp\n"
    head += b"Content-Transfer-Encoding: base64\n\n"

    document = read_one("a.eml", head + body)

    assert text in document.text.decode()
    assert place_of(document, "次の行。") > place_of(document, "日本語")


def test_parts_and_attachments_of_a_mail_know_their_lines():
    raw = make.eml()
    lines = raw.split(b"\n")

    document = read_one("a.eml", raw)

    at = 1 + lines.index(b"Hello Bob,")
    assert place_of(document, "Hello Bob,") == at
    assert place_of(document, "> how large") == at + 2
    named = 1 + next(at for at, line in enumerate(lines) if b'filename="plan.pdf"' in line)
    assert place_of(document, "Attachments: plan.pdf") == named


def test_a_mail_inside_a_mail_counts_lines_on():
    inner = b"Subject: in\nContent-Type: text/html\n\n<p>deep</p>\n"
    raw = b"Subject: out\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
    raw += b"Content-Type: message/rfc822\n\n" + inner + b"--x--\n"

    assert place_of(read_one("a.eml", raw), "deep") == 10


def test_text_that_is_laid_out_keeps_its_lines():
    message = EmailMessage()
    message["Subject"] = "Code"
    page = "<pre>" + "word " * 40 + "\nnext</pre>"
    message.set_content(page, subtype="html", cte="quoted-printable")

    document = read_one("a.eml", message.as_bytes())

    assert ("word " * 40).strip() in document.text.decode()


@pytest.mark.parametrize(
    "code", ["<pre>a = 1\nb = 2</pre>", "<PRE class=x>a  b</pre >", "<prefix>"]
)
def test_lines_are_known_beside_text_that_is_laid_out(code):
    message = EmailMessage()
    message["Subject"] = "Code"
    after = "Behind the code " + "stand many long words " * 9 + "and a whale."
    page = f"<p>{PARAGRAPHS[1]}</p>{code}<p>{after}</p>"
    message.set_content(page, subtype="html", cte="quoted-printable")
    raw = message.as_bytes()

    document = read_one("a.eml", raw)

    for word in ("Behind", "whale."):
        assert place_of(document, word) == line_in(raw, word, "quoted-printable", "utf-8"), word


def test_a_message_of_apple_mail_counts_the_line_of_its_length():
    message = b"Subject: s\n\nwhale\n"

    (document,) = mail.read(Path("1.emlx"), b"%d\n%s<?xml?>" % (len(message), message), Limits())

    assert place_of(document, "whale") == 4


def test_each_message_of_a_mailbox_is_a_document():
    first, second = read("inbox.mbox", make.mbox())

    assert (first.key, second.key) == ("1@example.org", "2")
    assert (second.unit, second.places) == ("message", ((0, 2),))
    assert b"\nFrom then on it is free.\n" in first.text
    assert second.text.decode().endswith("Subject: Re: Lease\n\nSchön.\n")
    assert second.markup == "markdown"


def test_messages_with_the_same_id_have_different_keys():
    keys = [document.key for document in read("a.mbox", make.mbox() + b"\n" + make.mbox())]

    assert len(set(keys)) == 4


def test_a_line_that_begins_with_from_does_not_end_a_message():
    data = b"From a Wed May  1 12:00:00 2024\nSubject: x\n\nText\n\nFrom then on: peace\n"

    assert len(read("a.mbox", data)) == 1


def test_a_file_of_a_maildir_knows_its_folder():
    path = Path("Maildir/.Archive/cur/171455.M1P2.host:2,S")

    (document,) = mail.read(path, make.eml(), Limits())

    assert document.metadata["folder"] == "Archive"


def test_a_message_of_apple_mail_is_read_up_to_its_length():
    message = make.eml()
    path = Path("1.emlx")

    (document,) = mail.read(path, b"%d\n%s<?xml plist?>" % (len(message), message), Limits())

    assert b"plist" not in document.text


@pytest.mark.parametrize(
    ("header", "body", "text"),
    [
        (b"Content-Type: text/plain; charset=iso-2022-jp", b"\x1b$BF|K\\\x1b(B", "日本"),
        (b"Content-Type: text/plain; charset=no-such", "Größe ist gut".encode(), "Größe ist gut"),
        (b"Content-Type: text/plain; charset=latin1", b"Gr\xf6\xdfe", "Größe"),
        (b"Content-Transfer-Encoding: base64", b"d2hhbGU", "whale"),
        (b"Content-Transfer-Encoding: no-such", b"whale", "whale"),
        (b"Content-Type: ;;;===", b"whale", "whale"),
        (b"Content-Type: multipart/mixed", b"lost without its boundary", "Subject: s"),
        (b"Content-Type: multipart/mixed; boundary=x", b"--x\n\nwhale, cut off", "whale, cut off"),
    ],
)
def test_broken_and_foreign_messages_are_read_as_far_as_they_go(header, body, text):
    document = read_one("a.eml", b"Subject: s\n%s\n\n%s\n" % (header, body))

    assert text in document.text.decode()


@pytest.mark.parametrize(
    "subject",
    [b"=?utf-8?b?R3LDtsOfZQ==?=", "Größe".encode(), "Größe".encode("cp1252")],
    ids=["encoded", "utf-8", "cp1252"],
)
def test_a_subject_is_decoded_however_it_was_sent(subject):
    document = read_one("a.eml", b"Subject: %s\n\ntext" % subject)

    assert document.title == "Größe"


@pytest.mark.parametrize("subject", [b"=?utf-8?b?////?=", b"=?x?q?a?=", b"=?utf-8?b?A?=", b"\xff"])
def test_a_broken_subject_does_not_lose_the_message(subject):
    document = read_one("a.eml", b"Subject: %s\n\nwhale" % subject)

    assert b"whale" in document.text


def test_messages_nested_without_end_are_given_up_quietly():
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level)
        for level in range(3000)
    )

    document = read_one("a.eml", b"Subject: deep\n" + nested + b"\nwhale")

    assert b"whale" not in document.text


def test_a_short_plain_part_gives_way_to_html():
    data = (
        b"Subject: s\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\nSee HTML.\n"
        b"--x\nContent-Type: text/html\n\n<h2>Lease</h2><p>It ends in May.</p>\n--x--\n"
    )

    assert read_one("a.eml", data).text.endswith(b"## Lease\n\nIt ends in May.\n")


def test_a_file_without_mail_headers_is_refused():
    with pytest.raises(Unreadable, match="no headers"):
        read("a.eml", b"just some text\n\nand more")


def test_more_messages_than_allowed_are_refused():
    with pytest.raises(Unreadable, match="limit of 1 messages"):
        read("a.mbox", make.mbox(), max_documents=1)


# Chats


@pytest.mark.parametrize(
    ("data", "program"),
    [
        (make.chatgpt(), "chatgpt"),
        (make.claude(), "claude"),
        (make.slack(), "slack"),
        (make.telegram(), "telegram"),
        (make.discord(), "discord"),
        (make.whatsapp(), "whatsapp"),
        (b'{"mapping": {"a": 1}, "title": "a map"}', None),
        (b'[{"type": "message", "text": "hello"}]', None),
        (b"2024-05-01 10:00:00 - INFO: started\n2024-05-01 10:00:01 - INFO: done\n", None),
        (b"Just a note.\n", None),
        (b"", None),
    ],
)
def test_a_chat_is_told_from_other_files(data, program):
    assert chats.recognise(data) == program


def test_the_branch_of_a_conversation_that_was_shown_is_read():
    document = read_one("conversations.json", make.chatgpt())

    assert (document.key, document.title, document.kind) == ("conversation-1", "Lease", "chat")
    dates = {"date": "2024-05-01T07:53:20Z", "last_date": "2024-05-01T07:53:20Z"}
    assert document.metadata == {"program": "chatgpt", **dates}
    assert pieces_of(document) == {
        1: "User: When is the lease due?",
        2: "Assistant:\n\n# Answer\n\nIn May.",
        3: "User: Thanks",
    }


def test_a_conversation_that_goes_in_a_circle_ends():
    (chat,) = json.loads(make.chatgpt())
    chat["mapping"]["a"]["parent"] = "d"

    document = read_one("conversations.json", json.dumps([chat]).encode())

    assert len(document.places) == 3


def test_a_conversation_without_a_current_message_ends_at_its_newest():
    (chat,) = json.loads(make.chatgpt())
    del chat["current_node"]
    chat["mapping"]["d"]["message"]["create_time"] = 1714559999

    document = read_one("conversations.json", json.dumps([chat]).encode())

    assert document.text.endswith(b"User: Thanks\n")


def test_conversations_with_claude_are_read():
    document = read_one("conversations.json", make.claude())

    assert (document.key, document.title) == ("chat-1", "Lease")
    assert document.metadata["date"] == "2024-05-01T10:00:00Z"
    assert pieces_of(document) == {
        1: "User: When is it due?\n\nAttached: lease.pdf",
        2: "Assistant: In May.",
    }


def test_a_day_of_slack_has_names_and_no_markup(tmp_path):
    (tmp_path / "users.json").write_bytes(make.slack_users())
    path = tmp_path / "general" / "2024-05-01.json"

    (document,) = chats.read(path, make.slack(), Limits())

    assert document.title == "#general 2024-05-01"
    assert document.metadata["date"] == "2024-05-01"
    assert pieces_of(document) == {
        1: "Ann: Hi @Bob B., see this (https://e.org) & that",
        3: "Bob B.: Thanks\nAttached: plan.pdf",
    }


def test_a_number_of_any_length_in_slack_is_a_character(tmp_path):
    data = make.slack().replace(b"&amp;", b"&#" + b"1" * 5000 + b";")

    (document,) = chats.read(tmp_path / "general" / "2024-05-01.json", data, Limits())

    assert "\ufffd that" in document.text.decode()


def test_slack_without_readable_users_has_ids_for_names(tmp_path):
    (tmp_path / "users.json").write_bytes(b"[{")

    (document,) = chats.read(tmp_path / "general" / "2024-05-01.json", make.slack(), Limits())

    assert document.text.startswith(b"U1: Hi @U2")


def test_a_chat_of_telegram_is_read():
    document = read_one("result.json", make.telegram())

    assert document.title == "Flat"
    assert pieces_of(document) == {2: "Ann: See this", 3: "Bob: Fine"}


@pytest.mark.parametrize(
    ("moment", "date"),
    [
        ("1714557660", "2024-05-01T10:01:00Z"),
        (1714557660, "2024-05-01T10:01:00Z"),
        ("soon", "2024-05-01T06:01:00"),
        (None, "2024-05-01T06:01:00"),
    ],
)
def test_a_chat_of_telegram_has_its_moments_whatever_the_clock_of_its_export(moment, date):
    message = {"id": 1, "type": "message", "date": "2024-05-01T06:01:00", "text": "Hi"}
    chat = {"name": "Flat", "type": "private_group", "id": 7}
    exported = {**chat, "messages": [{**message, "date_unixtime": moment}]}

    metadata = read_one("result.json", json.dumps(exported).encode()).metadata

    assert (metadata["date"], metadata["last_date"]) == (date, date)


def test_a_chat_says_when_it_began_and_when_its_last_message_was_sent():
    (chat,) = json.loads(make.chatgpt())
    chat["mapping"]["d"]["message"]["create_time"] = 1714559999
    (claude,) = json.loads(make.claude())
    for number, message in enumerate(claude["chat_messages"], 1):
        message["created_at"] = f"2024-05-0{number}T10:00:00Z"
    exports = {
        "conversations.json": json.dumps([chat]).encode(),
        "claude.json": json.dumps([claude]).encode(),
        "result.json": make.telegram(),
    }

    found = {name: read_one(name, data).metadata for name, data in exports.items()}

    assert {name: (one["date"], one["last_date"]) for name, one in found.items()} == {
        "conversations.json": ("2024-05-01T07:53:20Z", "2024-05-01T10:39:59Z"),
        "claude.json": ("2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"),
        "result.json": ("2024-05-01T10:01:00", "2024-05-01T10:02:00"),
    }


@pytest.mark.parametrize(
    ("days", "dates"),
    [
        (["31/12/23, 22:00 -", "01/01/24, 09:00 -"], ("2023-12-31", "2024-01-01")),
        (["12/31/23, 10:00 PM -", "1/2/24, 9:00 AM -"], ("2023-12-31", "2024-01-02")),
        (["3.4.23, 22:00 -", "3.4.23, 22:01 -"], ("2023-04-03", "2023-04-03")),
        (["[2023/04/03, 22:00:00]", "[2023/05/01, 22:00:00]"], ("2023-04-03", "2023-05-01")),
        (["02/03/23, 22:00 -", "01/04/23, 22:00 -"], ("2023-03-02", "2023-04-01")),
        (["02/03/23, 22:00 -", "02/03/23, 22:01 -"], None),
        (["02/03/23, 22:00 -", "03/04/23, 22:00 -"], None),
    ],
)
def test_whatsapp_says_its_days_where_their_order_can_be_told(days, dates):
    chat = "".join(f"{day} Ann: Hello\n" for day in days)

    metadata = read_one("chat.txt", chat.encode()).metadata

    assert (metadata.get("date"), metadata.get("last_date")) == (dates or (None, None))


def test_every_chat_of_a_whole_telegram_export_is_a_document():
    chat = json.loads(make.telegram())
    export = {"chats": {"list": [chat, chat | {"id": 8}, {"name": "x", "messages": 3}]}}

    documents = read("result.json", json.dumps(export).encode())

    assert [document.key for document in documents] == ["7", "8"]


def test_a_channel_of_discord_is_read():
    document = read_one("a.json", make.discord())

    assert (document.title, document.text) == ("Home #flat", b"Ann: Hi\n")


def test_a_chat_of_whatsapp_stays_the_text_it_is():
    document = read_one("WhatsApp Chat with Ann.txt", make.whatsapp())

    assert document.text == make.whatsapp()
    assert document.is_verbatim
    assert (document.title, document.unit, document.places) == ("WhatsApp: Ann", "line", ())
    assert document.metadata["participants"] == "Ann, Bob"


@pytest.mark.parametrize(
    "begin",
    [
        "[12/31/23, 10:00:00 PM] ",
        "[31.12.23, 22:00:00] ",
        "\u200e[31/12/2023 22:00:00] ",
        "12/31/23, 10:00\u202fPM - ",
        "31/12/2023 à 22:00 - ",
        "2023/12/31 22:00 - ",
        "31-12-2023 22:00 - ",
        "31.12.23, 22.00 – ",
    ],
)
def test_whatsapp_is_recognised_in_many_countries(begin):
    chat = f"{begin}Ann: Hello\n{begin}~ Bob: Hi\n"

    assert chats.recognise(chat.encode()) == "whatsapp"


@pytest.mark.parametrize(
    "name",
    ["a.ipynb", "chatgpt.json", "claude.json"],
)
def test_json_nested_without_end_is_refused(name):
    begin = {
        "a.ipynb": b'{"cells": ',
        "chatgpt.json": b'[{"mapping": {"a": {"id": ',
        "claude.json": b'[{"chat_messages": ',
    }[name]

    with pytest.raises(Unreadable, match="nested too deeply"):
        read(name, begin + b"[" * 200_000)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ipynb", make.notebook()),
        ("a.json", make.chatgpt()),
        ("a.json", make.claude()),
        ("a.json", make.slack()),
        ("a.json", make.telegram()),
        ("a.json", make.discord()),
    ],
    ids=["notebook", "chatgpt", "claude", "slack", "telegram", "discord"],
)
def test_values_of_the_wrong_type_anywhere_never_fail_otherwise(name, data):
    for damaged in with_wrong_values(json.loads(data)):
        for document in read_if_possible(name, json.dumps(damaged).encode()):
            assert document.text.decode("utf-8")


def with_wrong_values(whole):
    """Give the JSON over and over, each time with one value somewhere replaced by a wrong one."""
    waiting = [whole]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            right = holder[key]
            for wrong in WRONG_VALUES:
                holder[key] = wrong
                yield whole
            holder[key] = right
            if isinstance(right, dict | list):
                waiting.append(right)
