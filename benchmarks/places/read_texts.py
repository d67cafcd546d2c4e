"""Messages, notebooks, tables and pages of a PDF, read by the standard library or PDFium."""

import json
import mailbox
import re
from collections.abc import Mapping
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import Any

from benchmarks.places.held import Units


def file_lines(path: Path) -> Units:
    """The lines of a text as it stands."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return Units({("", number): line for number, line in enumerate(lines, 1)})


def jsonl(path: Path) -> Units:
    """The strings of the record on each line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return Units(
        {
            ("", at): "\n".join(_strings(json.loads(line)))
            for at, line in enumerate(lines, 1)
            if line
        }
    )


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.items() if isinstance(value, dict) else ()
    return [f"{key}: {said}" for key, one in inner for said in _strings(one)]


def notebook(path: Path) -> Units:
    """The cells, with what they printed."""
    texts = {}
    for number, cell in enumerate(json.loads(path.read_bytes())["cells"], 1):
        printed = ["".join(output["text"]) for output in cell.get("outputs", ())]
        texts["", number] = "\n".join(["".join(cell["source"]), *printed])
    return Units(texts)


def mbox(path: Path) -> Units:
    """The messages by their ids and their numbers in the file."""
    texts = {}
    with closing(mailbox.mbox(path)) as box:
        for number, message in enumerate(box, 1):
            headers = " ".join(f"{name}: {message[name]}" for name in ("From", "Subject"))
            texts[message["Message-ID"].strip("<>"), number] = f"{headers}\n{_payload(message)}"
    return Units(texts)


def _payload(message: Message) -> str:
    data = message.get_payload(decode=True)
    assert isinstance(data, bytes)
    return re.sub(r"<[^>]*>", "\n", data.decode(message.get_content_charset() or "ascii"))


def telegram(path: Path) -> Units:
    """The entries of each chat in the order of the export."""
    texts = {}
    for chat in json.loads(path.read_bytes())["chats"]["list"]:
        for number, message in enumerate(chat["messages"], 1):
            said = message["text"]
            pieces = [said] if isinstance(said, str) else said
            text = "".join(one if isinstance(one, str) else one["text"] for one in pieces)
            texts[str(chat["id"]), number] = f"{message['from']}: {text}"
    return Units(texts)


def chatgpt(path: Path) -> Units:
    """The messages of each conversation that were shown last."""
    texts = {}
    for chat in json.loads(path.read_bytes()):
        nodes: Mapping[str, Any] = chat["mapping"]
        shown: list[Any] = []
        at = chat["current_node"]
        while at is not None:
            if nodes[at]["message"]:
                shown.insert(0, nodes[at]["message"])
            at = nodes[at]["parent"]
        for number, message in enumerate(shown, 1):
            name = message["author"]["role"]
            said = "\n".join(message["content"]["parts"])
            texts[chat["conversation_id"], number] = f"{name}: {said}"
    return Units(texts)


def pdf(path: Path) -> Units:
    """The pages."""
    import pypdfium2

    texts = {}
    with pypdfium2.PdfDocument(path) as document:
        for number, page in enumerate(document, 1):
            texts["", number] = page.get_textpage().get_text_range()
    return Units(texts)
