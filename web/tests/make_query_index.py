"""Writes a small index as one file and what Python finds in it: tests/data/query/index*.

python web/tests/make_query_index.py
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from gossamer import Index
from gossamer.query.results import Results
from gossamer.single.engine import EngineChoice
from gossamer.single.export import ExportOptions, write_single_file
from gossamer.single.importing import import_single_file
from gossamer.store.changes import Changes
from gossamer.store.manifest import Site

FOLDER = Path(__file__).parent / "data" / "query"
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
MODEL = "pocket"

TEXTS = (
    {
        "id": "whales",
        "text": "Whales are mammals that live in the sea. The blue whale is the largest animal.",
        "title": "About whales",
        "metadata": {"lang": "en", "year": 2021},
    },
    {
        "id": "wale",
        "text": "Wale sind Säugetiere, die im Meer leben. 😀 Der Blauwal ist das größte Tier.",
        "title": "Über Wale",
        "metadata": {"lang": "de", "year": 2019, "draft": True},
    },
    {
        "id": "鯨",
        "text": "鯨は海に住む哺乳類です。シロナガスクジラは最大の動物です。",
        "metadata": {"lang": "ja"},
    },
)
STALE = {
    "id": "walrus",
    "text": "A walrus has tusks, and walruses lie on the ice.",
}
SEARCHES: tuple[tuple[str, dict[str, object]], ...] = (
    ("how are vectors compressed to codes", {}),
    ("whales that live in the sea", {}),
    ("codebook model pack", {}),
    ("who wins when two edges change the same text", {}),
    ("鯨 海", {}),
    ("Säugetiere 😀 Blauwal", {}),
    ("哺乳類 最大 動物", {}),
    ("walrus tusks", {}),
    ("größte Tier", {"where": 'lang == "de"'}),
    ("recall effort calibration", {"where": 'type == "markdown"'}),
    ("text", {"where": '"decisions" in path and extension == "md"'}),
    ("mammals", {"where": "year >= 2020"}),
    ("scan or walk the graph", {"where": 'not (type == "text")'}),
    ("anything at all", {"where": 'lang == "xx"'}),
    ("codes of vectors", {"paths": ["decisions/000*.md", "!*-codebooks-*"]}),
    ("files of an index", {"types": [".MD", "pdf"]}),
    ("whales", {"types": ["text"]}),
    ("browser", {"after": "2023-11-14", "before": "2023-11-15"}),
    ("browser", {"before": "2023"}),
    ("model", {"types": ["markdown"], "paths": ["*model*"], "where": "size > 100"}),
    ("zzzyqx unheard", {}),
    ("whales that live in the sea", {"rerank": "none"}),
    ("how are vectors compressed to codes", {"rerank": "none"}),
    ("recall effort calibration", {"recall": 0.99}),
    ('"blue whale"', {}),
    ('vectors "model pack" codebook', {}),
    ("+calibration recall", {}),
    ("codes of vectors -codebook -graph", {}),
    ('index -"the model" +file', {}),
    ("browser path:decisions -path:browser type:markdown", {}),
    ("whales -type:markdown", {}),
    ("sea title:whales", {}),
    ('index title:"stays in"', {}),
    ("recall of the walk title:submarine", {}),
    ("recall path:00*", {"where": "size > 100"}),
    ("crc32c", {}),
    ("what does QuerySession need", {}),
    ("E99731", {}),
    ('graph "no such phrase" +walk', {}),
    ("whales +unheardof", {}),
    ('"blue whale" -animal path:decisions', {"plain": True}),
    ('最大 "鯨は海"', {}),
)
MODES = ("hybrid", "semantic", "lexical")
HIT = (
    *("id", "location", "line", "first", "last", "title", "snippet"),
    *("score", "distance", "tokens", "words", "headings", "url"),
)
SITE = Site("https://example.org/docs/", "folder")
_ADD_TEXT = Changes.add_text


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as aside:
        folder = Path(aside)
        shutil.copytree(DECISIONS, folder / "decisions")
        for path in sorted((folder / "decisions").iterdir()):
            os.utime(path, (1_700_000_000, 1_700_000_000))
        index = Index.create(folder / "index", model=MODEL, chunk_tokens=96)
        index.add_paths([folder / "decisions"])
        index.add_texts([*TEXTS, STALE])
        _write(index, folder, "index", ExportOptions(replaces=True, site=SITE))
        _write(
            index,
            folder,
            "index-vectors",
            ExportOptions(EngineChoice("f16", "full"), replaces=True, site=SITE),
        )


def _write(index: Index, folder: Path, name: str, export: ExportOptions) -> None:
    with patch.object(Changes, "add_text", _add_other_text):
        write_single_file(*index.now(), FOLDER / f"{name}.gossamer", export)
    _search(folder, name)


def _search(folder: Path, name: str) -> None:
    """Search what was exported: the same file that the page reads."""
    import_single_file(FOLDER / f"{name}.gossamer", folder / name / "imported")
    imported = Index.open(folder / name / "imported")
    found = [
        {
            "question": question,
            "mode": mode,
            "options": _options_of_page(options),
            **_found(imported.search(question, 6, mode=mode, **options)),
        }
        for question, options in SEARCHES
        for mode in MODES
    ]
    first = imported.search("whales", 1).hits[0].id
    similar = [hit.id for hit in imported.similar(first, 4)]
    before, hit, after = imported.context(first, 40)
    around = {"before": before, "text": hit.text, "after": after}
    value = {"searches": found, "similar": {"id": first, "ids": similar}, "context": around}
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    text = text.replace('{"question"', '\n{"question"')
    (FOLDER / f"{name}.json").write_text(text + "\n", "ascii")


def _options_of_page(options: Mapping[str, object]) -> dict[str, object]:
    """Name what is asked for as the page's package does."""
    return {"filter" if name == "where" else name: value for name, value in options.items()}


def _add_other_text(changes: Changes, text: bytes) -> tuple[int, int]:
    """Keep another text than was indexed of what is to be stale."""
    is_stale = text == STALE["text"].encode()
    return _ADD_TEXT(changes, b"-" * len(text) if is_stale else text)


def _found(results: Results) -> dict[str, object]:
    hits = [
        {
            **{name: getattr(hit, name) for name in HIT},
            "shown": [hit.snippet[start:end] for start, end in hit.highlights],
            "ranks": dict(hit.ranks),
            "metadata": dict(hit.metadata),
        }
        for hit in results
    ]
    # A page knows no files, so that nothing is gone there.
    stale = [*results.stale, *results.gone]
    return {"hits": hits, "stale": stale, "absent": results.absent}


if __name__ == "__main__":
    main()
