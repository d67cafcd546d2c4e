"""Writes data/format: files as Python writes them, and what it reads in them (expected.json).

`python web/tests/make_data.py` from the root of the repository.
"""

import json
import random
import sys
import tempfile
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "tests"))

from tiny_embedder import use_tiny  # noqa: E402

from gossamer.index import Index  # noqa: E402
from gossamer.records import ChunkSpan  # noqa: E402
from gossamer.single.words import WordsReader, WordsWriter  # noqa: E402
from gossamer.store import (  # noqa: E402
    Catalogue,
    Changes,
    ChunkedDocument,
    DocumentRecord,
    SourceRecord,
    Status,
)
from gossamer.store.hashes import check_of, digest_of, hash_of_bytes  # noqa: E402
from gossamer.store.manifest import FileEntry, Manifest, ModelStamp, Settings  # noqa: E402
from gossamer.store.texts import Packing, TextsWriter  # noqa: E402
from gossamer.text.zstd import compress  # noqa: E402

_OUT = Path(__file__).parent / "data" / "format"
_NAMES = ("été", "日本", "plain", "\U0001f375 tea", "\uffee half", "a b", "odd \udc80 byte")


def _main():
    _OUT.mkdir(parents=True, exist_ok=True)
    catalogues = {
        "empty": Catalogue.empty(),
        "varied": _varied_catalogue(),
        "many": _many_catalogue(),
        "changed": _changed_catalogue(),
    }
    for name, catalogue in catalogues.items():
        (_OUT / f"{name}.gsc").write_bytes(catalogue.to_bytes())
    expected = {
        "catalogues": {name: _content_of(catalogue) for name, catalogue in catalogues.items()},
        "hashes": [
            {"text": text, "check": check_of(text), "hash": str(hash_of_bytes(text.encode()))}
            for text in ("", "tea", "Straße", *("é" * n for n in (63, 64, 65, 127, 128, 129, 1000)))
        ],
        "texts": _write_texts(),
        "words": _write_words(),
        "zstd": _write_frames(),
    }
    _write_manifest()
    expected["single"] = _write_single()
    text = json.dumps(expected, sort_keys=True, separators=(",", ":"))
    (_OUT / "expected.json").write_text(text + "\n", "ascii")


def _varied_catalogue(first=1, seed=5):
    """Every kind of source and document that there is."""
    chance = random.Random(seed)
    changes = Changes(Catalogue.empty(), first)
    for number, name in enumerate(_NAMES * 2):
        root = ("", "/data", "/", "/home/ü")[number % 4]
        size = chance.randrange(300, 4000)
        documents = [_a_document(chance, size, which) for which in range(number % 4)]
        source = SourceRecord(
            root,
            f"{name}{number // len(_NAMES)}",
            size,
            chance.randrange(-(2**60), 2**62),
            chance.randrange(2**64),
            ("", "markdown", "mail")[number % 3],
            Status(0 if documents else number % 3),
            "" if documents else f"reason {number % 2}",
            number * 7,
        )
        changes.replace_source(source, documents)
    changes.replace_source(SourceRecord("", "same", 1, 0, 0))
    changes.replace_source(SourceRecord("/", "same", 1, 0, 0))
    changes.replace_source(SourceRecord("", "/same", 1, 0, 0))
    return changes.finish()


def _a_document(chance, size, which):
    segment = (0, 3, 2**31)[which]
    length = size if segment == 0 else chance.randrange(200, 10_000)
    spans = []
    for start in range(0, length - 50, 400):
        depth = chance.randrange(4)
        context = tuple((level * 5, level * 5 + 4) for level in range(depth))
        if chance.random() < 0.3:
            context += ((length - 3, length),)  # headings may stand behind
        spans.append(ChunkSpan(start, min(length, start + 1 + chance.randrange(500)), context))
    places = tuple((at, 3 * at + 1) for at in range(0, length, 90)) if which else ()
    metadata = {"title": "x\x7fé\U0001f375", "year": 2000 + which, "half": 0.5, "is": True}
    record = DocumentRecord(
        text_length=length,
        kind=("markdown", "pdf", "mail")[which],
        segment=segment,
        offset=2**33 + 5 if which == 1 else 0,
        key=f"key {which} é" if which else "",
        title="A title" if which == 1 else "",
        title_span=(3, 20) if which == 2 else None,
        unit=("line", "page", "message")[which],
        places=places,
        metadata=metadata if which else {},
    )
    return ChunkedDocument(record, spans, [chance.randrange(2**32) for _ in spans])


def _many_catalogue():
    """So many that columns are compressed and have gaps between their ids."""
    changes = Changes(Catalogue.empty(), 10**9)
    for number in range(700):
        record = DocumentRecord(600, "python", 1, number * 600, unit="line", title_span=(0, 9))
        spans = [ChunkSpan(at, at + 200, ((0, 9),)) for at in (0, 200, 400)]
        source = SourceRecord("/src", f"{number:05}.py", 600, 10**18 + number, number, "python")
        changes.replace_source(source, [ChunkedDocument(record, spans, [number] * 3)])
    whole = changes.finish()
    changes = Changes(whole, 2 * 10**9)
    changes.remove_sources(range(0, 700, 7))
    return changes.finish()


def _changed_catalogue():
    """What the page must make of `varied` by the same change."""
    old = _varied_catalogue()
    changes = Changes(old, 10_000)
    chance = random.Random(9)
    source = SourceRecord("", "été0", 700, 5, 6, "note", reader_version=2)
    changes.replace_source(source, [_a_document(chance, 700, 1), _a_document(chance, 700, 2)])
    changes.replace_source(SourceRecord("/new", "\ue000.md", 9, 7, 2**64 - 1, "markdown"))
    changes.remove_named(True, "/same")
    changes.touch(False, "same", -(2**61), 12)
    return changes.finish()


def _content_of(catalogue):
    ids = catalogue.chunk_ids
    if catalogue.source_count > 100:
        return {"digest": catalogue.digest().hex(), "ids": [int(ids.sum()), len(ids)]}
    starts, ends = catalogue.spans(ids)
    return {
        "digest": catalogue.digest().hex(),
        "words": catalogue.words,
        "paths": catalogue.paths,
        "sources": [_source_of(catalogue, row) for row in range(catalogue.source_count)],
        "documents": [_document_of(catalogue, row) for row in range(catalogue.document_count)],
        "ids": ids.tolist(),
        "documentRows": catalogue.document_rows(ids).tolist(),
        "starts": starts.tolist(),
        "ends": ends.tolist(),
        "checks": catalogue.checks(ids).tolist(),
        "contexts": catalogue.contexts(ids),
    }


def _source_of(catalogue, row):
    record = catalogue.source(row)
    return {
        "root": record.root,
        "name": record.name,
        "size": record.size,
        "mtimeNs": str(record.mtime_ns),
        "contentHash": str(record.content_hash),
        "kind": record.kind,
        "status": record.status.name.lower(),
        "reason": record.reason,
        "readerVersion": record.reader_version,
    }


def _document_of(catalogue, row):
    record = catalogue.document(row)
    return {
        "textLength": record.text_length,
        "kind": record.kind,
        "segment": record.segment,
        "offset": record.offset,
        "key": record.key,
        "title": record.title,
        "titleSpan": record.title_span,
        "unit": record.unit,
        "places": record.places,
        "metadata": dict(record.metadata),
    }


def _a_text(seed, length):
    chance = random.Random(seed)
    words = ["tea", "Straße", "日本", "leaf", "water", "cup", "kettle", "\U0001f375"]
    text = ""
    while len(text) < length:
        text += chance.choice(words) + (
            str(chance.randrange(10**9)) if chance.random() < 0.1 else " "
        )
    return text.encode()[:length]


def _write_texts():
    path = _OUT / "texts-1.gst"
    path.unlink(missing_ok=True)
    writer = TextsWriter(path, Packing(block_bytes=1 << 13, level=19, has_dictionary=False))
    texts = [_a_text(seed, length) for seed, length in enumerate((0, 10, 9000, 8192, 20_000))]
    offsets = [writer.add(text) for text in texts]
    writer.close()
    return [
        {"offset": at, "length": len(t), "digest": digest_of(t)}
        for at, t in zip(offsets, texts, strict=True)
    ]


def _write_words():
    writer = WordsWriter()
    for chunk in range(150):
        writer.add(chunk, [_a_text(chunk, 60 + chunk), f"only{chunk} ".encode() * (chunk % 5)])
    data = writer.to_bytes(151)
    (_OUT / "words.gsw").write_bytes(data)
    reader = WordsReader(data)
    chosen = [*list(reader)[::20], "nowhere", "", "zzzz"]
    found = {term: reader.find(term) for term in chosen}
    return {term: [list(counts), list(counts.values())] for term, counts in found.items()}


def _write_manifest():
    manifest = Manifest(
        uuid="c0ffee",
        generation=3,
        created="2026-01-01T00:00:00Z",
        changed="2026-01-02T00:00:00Z",
        model=ModelStamp("tiny", "71" * 16, 2, 254, 128, (0.25, -1e-7)),
        settings=Settings(8, True, "none", "scan", {"effort": {"beam": 9}, "é": None}),
        roots=("/home/ü",),
        next_chunk_id=12,
        files=(
            FileEntry("catalogue-3.gsc", 10, "ab" * 16),
            FileEntry("texts-2.gst", 11, "cd" * 16),
            FileEntry("vectors-3.gsm", 12, "ef" * 16),
        ),
        counts={"chunks": 4},
        origin={"url": "http://localhost", "version": 2},
    )
    (_OUT / "MANIFEST.gossamer").write_bytes(manifest.to_bytes())


def _write_frames():
    """Frames of zstd of all levels and kinds: repeated, random, both, and large."""
    chance = np.random.default_rng(4)
    noise = chance.integers(0, 256, 3000, np.uint8).tobytes()
    skewed = (chance.geometric(0.2, 12_000) % 256).astype(np.uint8).tobytes()
    contents = [b"", b"a", b"ab" * 40_000, noise, skewed, _a_text(1, 30_000), noise[:900] * 3]
    contents.append(skewed[:2000] + bytes(200_000) + skewed[:2000])
    frames = []
    for content in contents:
        for level in (-5, 1, 9, 19):
            frame = compress(content, level)
            if len(frame) > 4000 and level not in (1, 19):
                continue
            frames.append(
                {
                    "frame": b64encode(frame).decode(),
                    "size": len(content),
                    "digest": digest_of(content),
                }
            )
    (_OUT / "frames.json").write_text(json.dumps(frames, separators=(",", ":")) + "\n", "ascii")
    return len(frames)


def _write_single():
    texts = [
        _a_text(100 + number, 300 + 200 * number).decode("utf-8", "ignore") for number in range(9)
    ]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        index = Index.create(Path(folder) / "index", store_text=True)
        for number, text in enumerate(texts):
            given = f"# Heading {number}\n\n{text}"
            index.add_texts([{"id": f"text {number}", "text": given, "markup": "markdown"}])
        index.remove(["text 3"])
        index.export(_OUT / "single.gossamer", replace=True)
    return {"texts": len(texts)}


if __name__ == "__main__":
    _main()
