"""Writes chunks.json: texts, and where Python cuts them; the page must cut them alike.

`python web/tests/make_chunk_data.py` from the root of the repository.
"""

import json
import re
from pathlib import Path

import numpy as np

from gossamer.chunking import chunk_document
from gossamer.records import Document
from gossamer.text.tokenizer import bert_uncased

_ROOT = Path(__file__).parents[2]
_TOKEN = re.compile(rb"[A-Za-z0-9]{1,4}|[\xc0-\xff][\x80-\xbf]{1,3}|[!-/:-@\[-`{-~]")


class _Simple:
    """A tokenizer that the test has too: up to four letters, or any other character."""

    def token_starts(self, text):
        return np.asarray([match.start() for match in _TOKEN.finditer(text)], np.uint32)


def _part(name, begin, length):
    data = (_ROOT / name).read_bytes()[begin : begin + length]
    return data.decode("utf-8", "ignore")


def _texts():
    yield "a guide", "markdown", _part("docs/how-it-works.md", 0, 9000)
    yield "tables", "markdown", _part("docs/format.md", 4000, 8000)
    yield "a changelog", "markdown", _part("CHANGELOG.md", 0, 5000)
    yield "a licence", "plain", _part("LICENSE", 0, 7000)
    yield (
        "front matter",
        "markdown",
        (
            "---\ntitle: Tea\ntags: [a, b]\n---\n\n# Tea\n\n"
            + "Leaves of tea. Water! " * 60
            + "\n\n## Green\n\n```\n"
            + "x = 1\n\n" * 80
            + "```\n\nUnder\n-----\n\n- one\n- two\n" * 3
        ),
    )
    yield (
        "fences",
        "markdown",
        (
            "# A #\n\n~~~ py\nprint(1)\n~~~\n\n```inline``` is no fence\n\n```\nnever closed\n\n"
            + "* item with words. And more of them\n" * 90
        ),
    )
    yield (
        "windows",
        "markdown",
        "\ufeff# Line ends\r\n\r\n" + "One sentence. Another one.\r\n\r\n" * 90,
    )
    yield (
        "numbered",
        "plain",
        "".join(
            f"{n}.  Title {n}\n\n"
            + "Some words in a row, e.g. these. Then more! " * 12
            + "\n\n"
            + f"{n}.1. Inner title\n\n"
            + "Others? Yes. " * 40
            + "\n\n"
            for n in range(1, 6)
        ),
    )
    yield "one line", "plain", "word " * 3000
    yield "no space", "plain", "abcdefghij" * 1500
    yield "wide", "plain", "日本語の文章です。もう一つの文。" * 120
    yield (
        "mixed",
        "plain",
        "Straße naïve — “quoted.” Ends! ह\u0964 " * 150 + "\u2028\u3000\x85 \x1c",
    )
    yield "space", "plain", " \n\t\r\n" * 300
    yield (
        "csv",
        "rows",
        "name,city,notes\n"
        + "".join(f'"Person {n}",Town {n},"says ""hi""\nand more, {n}"\n' for n in range(200)),
    )
    yield "lone quote", "rows", 'a,b\n1,"2\n' + "3,4\n" * 400
    yield "one row", "rows", "a,b,c " * 500
    yield (
        "titles",
        "rst",
        "".join(
            f"Title {n}\n=======\n\nWords and words. More of them.\n\nSub\n---\n\n"
            + "- item one two\n" * 30
            for n in range(5)
        ),
    )
    yield (
        "deep",
        "markdown",
        "".join(
            f"{'#' * (1 + n % 6)} Level {n} of a long, long heading that goes on\n\n"
            + "Body text. " * 20
            + "\n\n"
            for n in range(24)
        ),
    )


def _cases():
    tokenizers = {"simple": _Simple(), "bert": bert_uncased()}
    for name, markup, text in _texts():
        document = Document(text.encode(), "text", markup)
        for size, line in (
            (64, "Tea"),
            (200, ""),
            (40, "a title of some words that is rather long for this"),
        ):
            spans = {
                tokenizer: [
                    [span.start, span.end, [list(one) for one in span.context]]
                    for span in chunk_document(document, cutter, size, line)
                ]
                for tokenizer, cutter in tokenizers.items()
            }
            yield {"name": name, "size": size, "line": line, "spans": spans}


def main():
    """Write the file."""
    texts = {name: {"markup": markup, "text": text} for name, markup, text in _texts()}
    data = {"texts": texts, "cases": list(_cases())}
    (Path(__file__).parent / "data" / "chunks.json").write_text(
        json.dumps(data, separators=(",", ":")), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
