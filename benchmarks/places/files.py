"""The files of each kind: real ones where they can be had, else made ones."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import documentation
from benchmarks.places import (
    make_messages,
    make_office,
    make_texts,
    read_lines,
    read_office,
    read_texts,
)
from benchmarks.places.held import Held, Units
from benchmarks.places.texts import Texts
from benchmarks.scale import scaled

MAILS = 15
# So many pages of Python's documentation, evenly taken, of those that say enough.
PAGES = scaled(12, smoke=2, small=6)
LEAST_PAGE_BYTES = 20_000


@dataclass(frozen=True)
class Kind:
    """A kind of file: some of it by name, made from texts, and how this benchmark reads one."""

    files: Callable[[Texts], Mapping[str, bytes]]
    read: Callable[[Path], Held]
    is_real: bool = False


def _pdf(_: Texts) -> Mapping[str, bytes]:
    return {"policy.pdf": _policy("pdf")}


def _pages(_: Texts) -> Mapping[str, bytes]:
    corpus = documentation.corpus("python")
    pages = [page for page in corpus.files if page.stat().st_size >= LEAST_PAGE_BYTES]
    chosen = pages[:: max(len(pages) // PAGES, 1)][:PAGES]
    return {corpus.name_of(page).replace("/", "-"): page.read_bytes() for page in chosen}


def _books(texts: Texts) -> Mapping[str, bytes]:
    return {"novel.epub": make_texts.epub(texts), "policy.epub": _policy("epub")}


def _read_book(path: Path) -> Held:
    """Of the real book its chapters: what follows them has no name that is said in one way."""
    units = read_office.epub(path)
    if path.name != "policy.epub":
        return units
    return Units({(key, number): text for (key, number), text in units.texts.items() if not key})


def _policy(kind: str) -> bytes:
    documentation.corpus("policy")  # fetches the package
    found = documentation.documentation_folder("policy").parent / f"policy.{kind}"
    if found.is_file():
        return found.read_bytes()
    return gzip.decompress(found.with_name(f"{found.name}.gz").read_bytes())


def _paged(
    make: Callable[[Texts, bool], bytes], kind: str
) -> Callable[[Texts], Mapping[str, bytes]]:
    return lambda texts: {
        f"contract.{kind}": make(texts, False),
        f"report.{kind}": make(texts, True),
    }


def _mails(texts: Texts) -> Mapping[str, bytes]:
    return {f"mail{number}.eml": make_messages.eml(texts, number) for number in range(MAILS)}


KINDS: Mapping[str, Kind] = {
    "PDF": Kind(_pdf, read_texts.pdf, is_real=True),
    "HTML": Kind(_pages, read_lines.html, is_real=True),
    "xlsx": Kind(lambda texts: {"budget.xlsx": make_office.xlsx(texts)}, read_office.xlsx),
    "pptx": Kind(lambda texts: {"review.pptx": make_office.pptx(texts)}, read_office.pptx),
    "docx": Kind(_paged(make_office.docx, "docx"), read_office.docx),
    "odt": Kind(_paged(make_office.odt, "odt"), read_office.odt),
    "epub": Kind(_books, _read_book, is_real=True),
    "ipynb": Kind(lambda texts: {"nb.ipynb": make_texts.notebook(texts)}, read_texts.notebook),
    "csv": Kind(lambda texts: {"people.csv": make_texts.csv(texts)}, read_texts.file_lines),
    "jsonl": Kind(lambda texts: {"log.jsonl": make_texts.jsonl(texts)}, read_texts.jsonl),
    "eml": Kind(_mails, read_lines.mail),
    "mbox": Kind(lambda texts: {"inbox.mbox": make_messages.mbox(texts)}, read_texts.mbox),
    "WhatsApp": Kind(
        lambda texts: {"WhatsApp Chat with Ann.txt": make_messages.whatsapp(texts)},
        read_texts.file_lines,
    ),
    "Telegram": Kind(
        lambda texts: {"result.json": make_messages.telegram(texts)}, read_texts.telegram
    ),
    "ChatGPT": Kind(
        lambda texts: {"conversations.json": make_messages.chatgpt(texts)}, read_texts.chatgpt
    ),
}
