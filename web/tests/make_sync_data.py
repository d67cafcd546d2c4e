"""Records packages of a server, and what they lead to: tests/data/sync.

python web/tests/make_sync_data.py
"""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from gossamer import Index
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package
from gossamer.sync.records import Base, Building, Mode

FOLDER = Path(__file__).parent / "data" / "sync"
MODEL = "pocket"
TOKEN = "whale-song"
# Nanoseconds that a double cannot hold.
TIMES = (1_700_000_000_123_456_789, 1_700_000_001_987_654_321)
PROFILES = {
    "codes": ("codes", "kept"),
    "away": ("codes", "away"),
    "slim": ("slim:int8:8", "kept"),
}
# Without a codebook that fits, an index this small keeps vectors.
OWN_CODE_BYTES = 16

Step = Callable[[Index, Path], object]


def main() -> None:
    """Write all files."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    expected = {"token": TOKEN, "steps": _record_steps(), "vectors": _record_vectors()}
    text = json.dumps(expected, ensure_ascii=True, indent=1)
    (FOLDER / "expected.json").write_text(text + "\n", "ascii")


def _record_steps() -> list[dict[str, object]]:
    with TemporaryDirectory() as aside:
        folder = Path(aside)
        notes = folder / "notes"
        notes.mkdir()
        index = Index.create(folder / "index", model=MODEL, chunk_tokens=64)
        bases: dict[str, Base] = {}
        steps = []
        for number, step in enumerate(STEPS):
            step(index, notes)
            # Each offer looks at the index anew.
            with closing(Offer(index, token=TOKEN)) as offer:
                for name, (mode, texts) in PROFILES.items():
                    bases[name] = _record(offer, f"{name}-{number}", mode, texts, bases.get(name))
                if number == len(STEPS) - 1:
                    for name, (mode, texts) in PROFILES.items():
                        _record(offer, f"{name}-all", mode, texts, None)
            steps.append(_described(index, folder))
        return steps


def _record_vectors() -> dict[str, object]:
    with TemporaryDirectory() as aside:
        index = Index.create(Path(aside) / "index", model=MODEL, code_bytes=OWN_CODE_BYTES)
        index.add_texts([{"id": f"note {n}", "text": NOTES[n]} for n in range(3)])
        with closing(Offer(index)) as offer:
            base = _record(offer, "vectors-0", "codes", "kept", None)
        index.add_texts([{"id": "note 1", "text": NOTES[3]}])
        with closing(Offer(index)) as offer:
            _record(offer, "vectors-1", "codes", "kept", base)
        return _described(index, Path(aside))


def _record(offer: Offer, name: str, mode: str, texts: str, base: Base | None) -> Base:
    """Write a package; give the state that it leads to."""
    found = offer.package(Mode.parse(mode), texts=texts, base=base)
    while isinstance(found, Building):
        time.sleep(0.05)
        found = offer.package(Mode.parse(mode), texts=texts, base=base)
    assert found is not None, name
    shutil.copyfile(found, FOLDER / f"{name}.gsp")
    with Package.open(found, TOKEN if name.split("-")[0] in PROFILES else "") as package:
        head = package.head
    # A slim graph that has changed much is made anew.
    assert head.base == base or name in ("slim-2", "slim-3"), name
    return Base(head.epoch, head.version, head.state)


def _described(index: Index, folder: Path) -> dict[str, object]:
    snapshot = index.snapshot
    catalogue = snapshot.catalogue
    sources = [
        {
            "path": catalogue.paths[row].replace(os.fspath(folder), ""),
            "mtime": str(catalogue.source(row).mtime_ns),
            "documents": len(catalogue.documents_of(row)),
        }
        for row in range(catalogue.source_count)
    ]
    found = index.search(QUESTION, 3, mode="semantic", recall=0.99)
    return {
        "sources": sources,
        "chunks": catalogue.chunk_ids.tolist(),
        "hits": [{"id": hit.id, "text": hit.text, "distance": hit.distance} for hit in found],
    }


QUESTION = "which animals live in the sea"
NOTES = (
    "Whales are mammals that live in the sea. The blue whale is the largest animal.",
    "The night train to Vienna leaves at nine from platform four.",
    "Green tea is brewed with water that is not quite boiling.",
    "Octopuses have three hearts, and hide in the reef.",
    "鯨は海に住む哺乳類です。シロナガスクジラは最大の動物です。",
)
LONG = " ".join(f"On day {n} of the voyage nothing was seen but waves." for n in range(160))


def _write(notes: Path, name: str, text: str, time_ns: int) -> None:
    (notes / name).write_text(text, "utf-8")
    os.utime(notes / name, ns=(time_ns, time_ns))


def _begin(index: Index, notes: Path) -> None:
    _write(notes, "voyage.md", f"# Voyage\n\n{LONG}\n", TIMES[0])
    _write(notes, "reef.txt", "The reef is home to many fish.\n", TIMES[0])
    index.add_paths([notes])
    index.add_texts([{"id": f"note {n}", "text": text} for n, text in enumerate(NOTES[:3])])


def _change(index: Index, _: Path) -> None:
    index.add_texts([{"id": "note 1", "text": NOTES[3], "metadata": {"year": 2024}}])
    index.add_texts([{"id": "note 3", "text": NOTES[4], "title": "鯨"}])
    index.remove(["note 2"])


def _touch(index: Index, notes: Path) -> None:
    os.utime(notes / "reef.txt", ns=(TIMES[1], TIMES[1]))
    _write(notes, "port.md", "# Port\n\nShips rest in the port.\n", TIMES[1])
    index.add_paths([notes])


def _drop(index: Index, notes: Path) -> None:
    index.remove(["note 0"])
    (notes / "voyage.md").unlink()
    index.add_paths([notes])


STEPS: tuple[Step, ...] = (_begin, _change, _touch, _drop)


if __name__ == "__main__":
    main()
