"""Documentation that Debian packages bring, Python's sources, and questions with right places.

A label (a line of `questions/*.jsonl`) names the files that answer its question and, for each,
phrases that stand in the right passages; a hit that holds one of them is right. Questions of
`exact.jsonl` are looked up rather than answered: there the phrase is what was asked for.
"""

import html
import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.datasets import cache_folder
from benchmarks.report import Skipped
from gossamer.records import Hit

QUESTIONS = Path(__file__).parent / "questions"
SOURCES = "sources"
# The package of each documentation, and where in it the pages lie.
PACKAGES = {
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
    "policy": ("debian-policy", "usr/share/doc/debian-policy/policy.html"),
}
# Made by other programs: DocBook, Javadoc, Texinfo, AsciiDoc, GTK-Doc, MkDocs.
OTHER_PACKAGES = {
    "postgresql": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "jsoup": ("libjsoup-java-doc", "usr/share/doc/libjsoup-java/api"),
    "fftw": ("libfftw3-doc", "usr/share/doc/libfftw3-dev/html"),
    "git": ("git-doc", "usr/share/doc/git-doc"),
    "glib": ("libglib2.0-doc", "usr/share/gtk-doc/html"),
    "mkdocs": ("mkdocs-doc", "usr/share/doc/mkdocs/html"),
    "developers": ("developers-reference", "usr/share/developers-reference"),
}
# Lists of names and of changes: who asks a question is not answered by them.
NO_ANSWERS = re.compile(r"genindex.*\.html|search\.html|py-modindex\.html|whatsnew/.*")
LIBRARY_PACKAGES = ("collections", "concurrent", "http", "json", "logging", "urllib")
LIBRARY_MODULES = (
    *("argparse", "bisect", "configparser", "contextlib", "csv", "dataclasses", "difflib"),
    *("enum", "fnmatch", "functools", "heapq", "ipaddress", "os", "queue", "random", "secrets"),
    *("selectors", "shlex", "shutil", "socket", "socketserver", "statistics", "string"),
    *("subprocess", "tarfile", "tempfile", "textwrap", "threading"),
)
# Tags within a word or beside it; the others part words.
INLINE_TAG = re.compile(r"</?(?:a|b|cite|code|em|i|kbd|span|strong|tt|var)\b[^>]*>")
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Corpus:
    """Files of one folder."""

    name: str
    folder: Path
    files: tuple[Path, ...]

    def part(self, names: set[str], every: int) -> "Corpus":
        """Give the named files, and every so-many-th of the others."""
        named = [file for file in self.files if self.name_of(file) in names]
        others = [file for file in self.files if self.name_of(file) not in names]
        return Corpus(self.name, self.folder, tuple(sorted([*named, *others[::every]])))

    def name_of(self, file: Path) -> str:
        """Give what labels call a file."""
        return file.relative_to(self.folder).as_posix()


@dataclass(frozen=True)
class Label:
    """A question, and where its answers stand: phrases by file."""

    question: str
    corpus: str
    places: dict[str, list[str]]


def labels(name: str) -> list[Label]:
    """Read the labels of one file: "python", "policy" or "exact"."""
    lines = (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Label(**json.loads(line)) for line in lines]


def corpus(name: str) -> Corpus:
    """Give a corpus; its package is fetched and unpacked once. Skipped: it cannot be had."""
    if name == SOURCES:
        return _sources()
    folder = fetched(name)
    pages = sorted(folder.rglob("*.html"))
    kept = [page for page in pages if not NO_ANSWERS.fullmatch(page.relative_to(folder).as_posix())]
    return Corpus(name, folder, tuple(kept))


def fetched(name: str) -> Path:
    """Give the folder of a documentation's pages; its package is fetched and unpacked once."""
    folder = documentation_folder(name)
    if not folder.is_dir():
        _unpack(name)
    return folder


def documentation_folder(name: str) -> Path:
    """Say where the pages of a documentation are, if they were fetched."""
    return _package_folder(name) / (PACKAGES | OTHER_PACKAGES)[name][1]


def is_right(hit: Hit, label: Label, corpus: Corpus) -> bool:
    """Whether a hit is of a right file and holds a right place (for sources: cites its line)."""
    file = Path(hit.path)
    phrases = label.places.get(corpus.name_of(file), [])
    if corpus.name == SOURCES:
        lines = [line for phrase in phrases for line in lines_with(file, phrase)]
        return any(hit.first <= line <= hit.last for line in lines)
    said = spaced_words(hit.text)
    return any(spaced_words(phrase) in said for phrase in phrases)


def shows(hit: Hit, label: Label, corpus: Corpus) -> bool:
    """Whether what is shown of a right hit holds the words that answer."""
    said = spaced_words(hit.snippet)
    phrases = label.places[corpus.name_of(Path(hit.path))]
    return any(spaced_words(phrase) in said for phrase in phrases)


def lines_with(file: Path, phrase: str) -> list[int]:
    """Give the lines that hold a phrase as whole words, as `grep -nwF` does."""
    pattern = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
    lines = _text(file).splitlines()
    return [number for number, line in enumerate(lines, 1) if pattern.search(line)]


def absent_places(labels: Sequence[Label], corpus: Corpus) -> list[str]:
    """Name every place of these labels that is not in its file."""
    places = (
        (corpus.folder / name, phrase)
        for label in labels
        for name, phrases in label.places.items()
        for phrase in phrases
    )
    return [f"{file}: {phrase}" for file, phrase in places if not _stands_in(file, phrase, corpus)]


def spaced_words(text: str) -> str:
    """Give the words of a text in small letters, with a space around each."""
    return " ".join(["", *re.findall(r"\w+", text.lower()), ""])


def _stands_in(file: Path, phrase: str, corpus: Corpus) -> bool:
    if not file.is_file():
        return False
    if corpus.name == SOURCES:
        return bool(lines_with(file, phrase))
    return spaced_words(phrase) in _words_of_page(file)


@cache
def _words_of_page(file: Path) -> str:
    """Read a page without the product's own reader."""
    return spaced_words(html.unescape(TAG.sub(" ", INLINE_TAG.sub("", _text(file)))))


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _sources() -> Corpus:
    """A part of the standard library of the Python that runs."""
    folder = Path(sysconfig.get_path("stdlib")).resolve()
    files = [file for name in LIBRARY_PACKAGES for file in (folder / name).rglob("*.py")]
    files += [folder / f"{name}.py" for name in LIBRARY_MODULES]
    return Corpus(SOURCES, folder, tuple(sorted(file for file in files if file.is_file())))


def _package_folder(name: str) -> Path:
    return cache_folder() / "documentation" / (PACKAGES | OTHER_PACKAGES)[name][0]


def _unpack(name: str) -> None:
    folder = _package_folder(name)
    # Under its name only when it is whole.
    aside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    _call(["dpkg-deb", "--extract", str(_package(name)), str(aside)], name)
    shutil.rmtree(folder, ignore_errors=True)
    aside.rename(folder)


def _package(name: str) -> Path:
    """Give the package's file, by apt if it is not in the cache yet."""
    package, folder = (PACKAGES | OTHER_PACKAGES)[name][0], _package_folder(name).parent
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{package}_*.deb")):
        _call(["apt-get", "download", package], name)
    return max(folder.glob(f"{package}_*.deb"))


def _call(command: list[str], name: str) -> None:
    package, folder = (PACKAGES | OTHER_PACKAGES)[name][0], _package_folder(name).parent
    try:
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        raise Skipped(
            f"the Debian package {package} could not be had ({reason.strip()}); put what "
            f"`apt-get download {package}` gives into {folder}, or unpack it by "
            f"`dpkg-deb --extract` into {folder / package}"
        ) from error
