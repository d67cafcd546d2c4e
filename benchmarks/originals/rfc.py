"""RFCs as the RFC editor's archive of texts holds them."""

import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet

ARCHIVE = "RFC-all.tar.gz"
# Where the archive is no longer offered, one made of `rsync ftp.rfc-editor.org::rfcs-text-only`
# under the same name does as well.
SOURCES = (Source(ARCHIVE, f"https://www.rfc-editor.org/in-notes/tar/{ARCHIVE}", 3000 * MB),)
MOST_BYTES = 20 * MB  # of one text
NAME = re.compile(r"rfc0*([1-9]\d*)\.txt")
NO_TEXT = 1000  # characters: such a file only says that the RFC is not to be had as text
# A line between two pages: name and page number, or number, title and date.
FOOTER = re.compile(r"\S.*\[Page \d+\]\s*")
HEADER = re.compile(r"RFC \d+\s.*\s(19|20)\d\d\s*")
# Lines above the title have two columns; the title stands in the middle, after an empty line.
TITLE = re.compile(r"\n\s*\n {4,}(\S[^\n]*(?:\n {4,}\S[^\n]*)*)\n\s*\n")


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the archive."""
    with tarfile.open(files[ARCHIVE]) as archive:
        return convert(_texts(archive))


def convert(texts: Iterable[tuple[str, bytes]]) -> TextSet:
    """Take files by name; page breaks with what stands around them are left out."""
    documents: dict[int, dict[str, str]] = {}
    for name, data in texts:
        if found := NAME.fullmatch(PurePosixPath(name).name):
            text = _without_pages(data.decode("utf-8", "replace"))
            if len(text) >= NO_TEXT:
                number = int(found[1])
                documents[number] = {"id": f"rfc{number}", "title": _title(text), "text": text}
    return TextSet([documents[number] for number in sorted(documents)])


def _texts(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in archive:
        if member.isfile() and member.size <= MOST_BYTES and (file := archive.extractfile(member)):
            yield member.name, file.read()


def _without_pages(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\f", "\n").lstrip("\ufeff").split("\n")
    kept = [line for line in lines if not (FOOTER.fullmatch(line) or HEADER.fullmatch(line))]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept)).strip("\n")


def _title(text: str) -> str:
    found = TITLE.search(text[:5000])
    return " ".join(found[1].split()) if found else ""
