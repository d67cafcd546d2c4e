"""Mails and chats, made in memory."""

import json
from email.message import EmailMessage

from benchmarks.places.texts import Texts

ENCODINGS = ("8bit", "quoted-printable", "base64")
CHARSETS = ("utf-8", "iso-8859-1")


def eml(texts: Texts, number: int) -> bytes:
    """Give a mail; kinds of parts, encodings and charsets take turns."""
    encoding, charset = ENCODINGS[number % 3], CHARSETS[number // 3 % 2]
    message = _mail(texts, number)
    paragraphs = [texts.paragraph(3) + " Grüße." for _ in range(4)] + [texts.row()]
    if number % 4 < 2:
        text = "\n\n".join(paragraphs) + "\n"
        message.set_content(text, charset=charset, cte=encoding)
    else:
        page = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        page = f"<html><body><h1>{texts.row()}</h1>\n{page}</body></html>\n"
        message.set_content(page, subtype="html", charset=charset, cte=encoding)
    if number % 5 == 1:
        message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="a.pdf")
    return message.as_bytes()


def mbox(texts: Texts, count: int = 150) -> bytes:
    """Give a mailbox; every fifth message is HTML, every seventh is empty."""
    out = []
    for number in range(1, count + 1):
        message = _mail(texts, number)
        text = texts.paragraph(2) if number % 7 else ""
        message.set_content(
            f"<p>{text}</p>\n" if number % 5 == 0 else f"{text}\n",
            subtype="html" if number % 5 == 0 else "plain",
        )
        out.append(b"From ann@example.org Wed May  1 12:00:00 2024\n" + message.as_bytes() + b"\n")
    return b"".join(out)


def _mail(texts: Texts, number: int) -> EmailMessage:
    message = EmailMessage()
    message["Received"] = "from here.example.org " * 6  # folded: it takes several lines
    message["From"] = f"Ann{number} <ann{number}@example.org>"
    message["Date"] = "Wed, 01 May 2024 12:00:00 +0200"
    message["Subject"] = texts.row()[:60]
    message["Message-ID"] = f"<{number}@example.org>"
    return message


def whatsapp(texts: Texts, count: int = 250) -> bytes:
    """Give a chat; every third message goes on for a second line."""
    lines = ["31.12.23, 10:00 - Messages and calls are end-to-end encrypted."]
    for number in range(count):
        more = f"\n{texts.row()}" if number % 3 == 0 else ""
        name = ("Ann", "Bob")[number % 2]
        lines.append(f"31.12.23, {number // 60:02}:{number % 60:02} - {name}: {texts.row()}{more}")
    return "\n".join(lines).encode() + b"\n"


def telegram(texts: Texts, count: int = 150) -> bytes:
    """Give an export of two chats, with service messages."""
    chats = []
    for id_ in (7, 8):
        messages: list[object] = []
        for number in range(count):
            about = {"id": 1000 + number, "date": "2024-05-01T10:00:00", "from": "Ann"}
            if number % 10 == 0:
                messages.append({**about, "type": "service", "text": ""})
                continue
            style = [texts.row() + " ", {"type": "bold", "text": texts.row()}]
            text = style if number % 4 == 0 else texts.row()
            messages.append({**about, "type": "message", "text": text})
        chats.append(
            {"name": f"Chat {id_}", "type": "private_group", "id": id_, "messages": messages}
        )
    return json.dumps({"chats": {"list": chats}}, indent=1).encode()


def chatgpt(texts: Texts, count: int = 5, length: int = 30) -> bytes:
    """Give an export of conversations, some branches of which were given up."""
    chats = []
    for number in range(count):
        nodes: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None}}
        parent = "root"
        for at in range(length):
            role = ("user", "assistant")[at % 2]
            text = texts.sentence() if at % 2 == 0 else "\n\n".join([texts.row(), texts.row()])
            nodes[f"m{at}"] = _node(f"m{at}", parent, role, text)
            if at % 6 == 5:
                nodes[f"lost{at}"] = _node(f"lost{at}", parent, role, texts.row())
            parent = f"m{at}"
        chats.append(
            {
                "title": f"Conversation {number}",
                "create_time": 1714550000.0,
                "mapping": nodes,
                "current_node": parent,
                "conversation_id": f"c{number}",
            }
        )
    return json.dumps(chats).encode()


def _node(id_: str, parent: str, role: str, text: str) -> object:
    content = {"content_type": "text", "parts": [text]}
    message = {"id": id_, "author": {"role": role}, "content": content}
    return {"id": id_, "message": message, "parent": parent, "children": []}
