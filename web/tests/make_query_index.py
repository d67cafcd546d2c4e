"""Writes a small index as one file and what Python finds in it: tests/data/query/index*.

python web/tests/make_query_index.py
"""

import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from gossamer import Index
from gossamer.query.results import Results, record_results
from gossamer.single.engine import EngineChoice
from gossamer.single.export import ExportOptions, write_single_file
from gossamer.single.importing import import_single_file

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
SEARCHES = (
    ("how are vectors compressed to codes", None),
    ("whales that live in the sea", None),
    ("codebook model pack", None),
    ("who wins when two edges change the same text", None),
    ("鯨 海", None),
    ("größte Tier", 'lang == "de"'),
    ("recall effort calibration", 'type == "markdown"'),
    ("text", '"decisions" in path and extension == "md"'),
    ("mammals", "year >= 2020"),
    ("scan or walk the graph", 'not (type == "text")'),
    ("anything at all", 'lang == "xx"'),
    ("zzzyqx unheard", None),
)
MODES = ("hybrid", "semantic", "lexical")


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
        index.add_texts(TEXTS)
        _write(index, folder, "index", ExportOptions(replaces=True))
        _write(
            index,
            folder,
            "index-vectors",
            ExportOptions(EngineChoice("f16", "full"), replaces=True),
        )


def _write(index: Index, folder: Path, name: str, options: ExportOptions) -> None:
    """Export, and search what was exported: the same file that the page reads."""
    path = FOLDER / f"{name}.gossamer"
    write_single_file(index.opened.state, path, options)
    import_single_file(path, folder / name / "imported")
    imported = Index.open(folder / name / "imported")
    found = [
        {
            "question": question,
            "mode": mode,
            "filter": where,
            "hits": _hits(question, imported.search(question, 6, mode=mode, where=where)),
        }
        for question, where in SEARCHES
        for mode in MODES
    ]
    first = imported.search("whales", 1).hits[0].id
    similar = [hit.id for hit in imported.similar(first, 4)]
    before, hit, after = imported.context(first, 40)
    around = {"before": before, "text": hit.text, "after": after}
    value = {"searches": found, "similar": {"id": first, "ids": similar}, "context": around}
    text = json.dumps(value, ensure_ascii=True, indent=1, allow_nan=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", "ascii")


def _hits(question: str, results: Results) -> list[dict[str, object]]:
    described = record_results(question, results).hits
    return [
        {
            "id": hit.id,
            "location": record.location,
            "first": hit.first,
            "last": hit.last,
            "title": hit.title,
            "score": hit.score,
            "distance": hit.distance,
            "ranks": dict(hit.ranks),
            "snippet": record.snippet,
            "metadata": dict(hit.metadata),
        }
        for hit, record in zip(results, described, strict=True)
    ]


if __name__ == "__main__":
    main()
