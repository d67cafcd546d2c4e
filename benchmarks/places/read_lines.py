"""HTML and mails, read by the standard library: which line of the file each word begins on."""

import base64
import quopri
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path

from benchmarks.places.held import Lines, Words

INLINE = (
    "a",
    "b",
    "i",
    "em",
    "strong",
    "code",
    "span",
    "tt",
    "cite",
    "var",
    "kbd",
    "q",
    "sub",
    "sup",
)
UNSEEN = ("script", "style", "title")


def html(path: Path) -> Lines:
    """The words that a reader of the page sees."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    text = "".join(piece for piece, _ in page.pieces)
    lines = [line for piece, first in page.pieces for line in _lines_of(piece, first)]
    return Lines([(word, lines[at]) for word, at in _words_in(text)], text)


def _words_in(text: str) -> list[tuple[str, int]]:
    """Give the words of a text in small letters, and where they begin."""
    return [(found[0].lower(), found.start()) for found in re.finditer(r"[^\W_]+", text)]


def _lines_of(piece: str, first: int) -> Sequence[int]:
    ends = accumulate((character == "\n" for character in piece), initial=0)
    return [first + before for before in list(ends)[:-1]]


class _Page(HTMLParser):
    """Pieces of text with the line on which each begins."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.pieces: list[tuple[str, int]] = []
        self._unseen = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self._unseen = tag
        if tag == "img":
            self._add(f" {dict(attrs).get('alt') or ''} ")
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen:
            self._unseen = ""
        self._part(tag)

    def handle_data(self, data: str) -> None:
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        self._add(self.unescape_one(f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self._add(self.unescape_one(f"&#{name};"))

    @staticmethod
    def unescape_one(reference: str) -> str:
        """Give the characters that a reference stands for."""
        from html import unescape

        return unescape(reference)

    def _part(self, tag: str) -> None:
        if tag not in INLINE:
            self._add(" ")

    def _add(self, text: str) -> None:
        if not self._unseen:
            self.pieces.append((text, self.getpos()[0]))


def mail(path: Path) -> Lines:
    """The words of the headers that are shown and of the first part that is text."""
    lines = path.read_bytes().split(b"\n")
    words: list[tuple[str, int]] = []
    encoding = charset = ""
    is_html = False
    body: list[tuple[bytes, int]] = []
    is_head = True
    for number, line in enumerate(lines, 1):
        said = line.decode("latin-1")
        if is_head:
            is_head = bool(said)
            if found := re.match(r"(?:From|Subject): ", said):
                words += [(word, number) for word, _ in _words_in(said)]
            elif found := re.match(r"Content-Transfer-Encoding: (.*)", said):
                encoding = found[1]
            elif said.startswith(("Content-Type: multipart", "Content-Disposition: attachment")):
                encoding = ""
            if found := re.search(r"text/(plain|html); charset=\"?([\w-]+)", said):
                is_html, charset = found[1] == "html", found[2]
        elif said.startswith("--==="):
            is_head = True
            if body:
                break
        elif charset:
            body.append((_decoded(line, encoding), number))
    text, found_words = _words_of_body(body, charset, is_html)
    return Lines([*words, *found_words], text)


def _decoded(line: bytes, encoding: str) -> bytes:
    if encoding == "base64":
        return base64.b64decode(line)
    if encoding == "quoted-printable":
        return quopri.decodestring(line.removesuffix(b"=")) + (
            b"" if line.endswith(b"=") else b"\n"
        )
    return line + b"\n"


def _words_of_body(
    body: Sequence[tuple[bytes, int]], charset: str, is_html: bool
) -> tuple[str, Words]:
    whole = b"".join(data for data, _ in body)
    lines = [number for data, number in body for _ in data]
    text = whole.decode(charset)
    begins = list(accumulate((len(one.encode(charset)) for one in text), initial=0))
    if is_html:  # tags become spaces, and nothing moves
        text = re.sub(r"<[^>]*>", lambda tag: " " * len(tag[0]), text)
    return text, [(word, lines[begins[at]]) for word, at in _words_in(text)]
