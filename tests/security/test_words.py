"""The lexical index in SQLite: killed, damaged, or made by somebody else."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tiny_embedder import TinyEmbedder

from gossamer.errors import Damaged, WrongState
from gossamer.index import Index
from gossamer.journals import journal_of
from gossamer.lexical import WORDS
from gossamer.lexical.fts5 import FtsIndex
from gossamer.lexical.fts5_sum import crc_of_words, read_sum, sum_of, write_sum
from gossamer.store.lock import LOCK, try_lock

TEXTS = ("The banana bread needs an hour.", "The lease is due in March.", "Owls hunt at night.")


@pytest.fixture
def index(embedder: TinyEmbedder, tmp_path: Path) -> Index:
    made = Index.create(tmp_path / "index", lexical="fts5")
    made.add_texts([{"id": f"filler{n}", "text": f"word{n} other{n} " * 40} for n in range(40)])
    made.add_texts([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
    made.remove([f"filler{n}" for n in range(30)])
    return made


@pytest.fixture
def words(index: Index) -> Path:
    return index.folder / WORDS


def interrupt(words: Path) -> None:
    """Leave the file and its journal as a process does that is killed while SQLite commits."""
    other = words.with_name("other.sqlite")
    shutil.copy(words, other)
    with closing(sqlite3.connect(other, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")  # the change is written before it is committed
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE state SET generation = generation + 1")
        rows = ((1000 + n, " ".join(f"half{n}x{m}" for m in range(200))) for n in range(300))
        database.executemany("INSERT INTO chunks(rowid, terms) VALUES (?, ?)", rows)
        database.execute("DELETE FROM chunks WHERE rowid < 1000")
        before = words.read_bytes()
        shutil.copy(other, words)
        shutil.copy(journal_of(other), journal_of(words))
    other.unlink()
    assert words.read_bytes() != before


def is_looked_up(folder: Path) -> bool:
    """Ask, compare the answer, and say whether it came from the lexical index."""
    found = Index.open(folder).search("banana", k=1, mode="lexical")
    assert [hit.text for hit in found] == [TEXTS[0]]
    return found.explanation.lexical_bytes == 0


def severities(folder: Path) -> set[str]:
    return {finding.severity for finding in Index.open(folder).check()}


# Of an earlier release.


def test_words_that_were_folded_in_another_way_are_not_asked_and_the_next_update_makes_them_anew(
    index: Index, words: Path
):
    with closing(sqlite3.connect(words)) as database:
        database.execute("PRAGMA user_version = 1")

    assert severities(index.folder) == {"note"}
    assert not is_looked_up(index.folder)
    Index.open(index.folder).add_texts([{"id": "more", "text": "Die Straßenbahn fährt."}])
    assert is_looked_up(index.folder)
    found = Index.open(index.folder).search("strassenbahn", k=1, mode="lexical")
    assert [hit.text for hit in found] == ["Die Straßenbahn fährt."]
    assert found.explanation.lexical_bytes == 0
    assert Index.open(index.folder).check() == []


# Killed.


def test_a_search_takes_back_what_a_killed_commit_left(index: Index, words: Path):
    before = words.read_bytes()
    interrupt(words)

    assert severities(index.folder) == {"note"}
    assert is_looked_up(index.folder)
    assert words.read_bytes() == before
    assert index.check() == []


def test_an_add_that_changes_nothing_takes_it_back(index: Index, words: Path):
    before = words.read_bytes()
    interrupt(words)

    assert index.add_texts([{"id": "0", "text": TEXTS[0]}]).is_nothing
    assert words.read_bytes() == before
    assert index.check() == []


def test_a_search_takes_nothing_back_while_somebody_changes_the_index(index: Index, words: Path):
    interrupt(words)
    held = try_lock(index.folder / LOCK, "another")
    assert held is not None

    with held:
        assert not is_looked_up(index.folder)
        assert journal_of(words).exists()
    assert is_looked_up(index.folder)


def test_an_index_of_others_is_not_changed_by_a_search(index: Index, words: Path, tmp_path: Path):
    interrupt(words)
    shutil.copytree(index.folder, tmp_path / "copied")  # which nobody accepted there

    assert not is_looked_up(tmp_path / "copied")
    assert journal_of(tmp_path / "copied" / WORDS).exists()


def test_a_journal_that_names_another_file_does_not_have_it_deleted(
    index: Index, words: Path, tmp_path: Path
):
    """SQLite deletes the file that it takes for the journal of several databases."""
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    interrupt(words)
    name = os.fsencode(victim)
    page = (1 << 30) // 4096 + 1
    with open(journal_of(words), "ab") as journal:
        journal.write(struct.pack(">I", page) + name)
        journal.write(
            struct.pack(">II", len(name), sum(name)) + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
        )

    assert severities(index.folder) == {"error"}
    assert not is_looked_up(index.folder)
    assert victim.exists()
    index.add_texts([{"id": "new", "text": "Whales sing."}])
    assert victim.exists()
    assert is_looked_up(index.folder)
    assert index.check() == []


def test_readers_of_a_state_that_has_left_are_told_so(tmp_path: Path):
    with FtsIndex(tmp_path / WORDS, 0, 0) as writer:
        writer.begin()
        writer.add([0], [b"whale"])
        writer.commit(1, 1)
        with FtsIndex(tmp_path / WORDS, 1, 1, is_read_only=True) as reader:
            for generation in (2, 3):
                writer.begin()
                writer.remove([0])
                writer.commit(generation, 1)

            with pytest.raises(WrongState, match="generation 3, and 1 no more"):
                reader.search("whale", 9)
        with FtsIndex(tmp_path / WORDS, 1, 1, is_read_only=True) as reader:
            assert not reader.is_complete


# Damaged.


def test_a_check_names_every_byte_that_is_not_as_it_was(index: Index, words: Path):
    whole = words.read_bytes()
    random = np.random.default_rng(0)
    places = [*range(100), *random.integers(100, len(whole), 400).tolist()]

    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(random.integers(8))
        words.write_bytes(changed)
        assert index.check(), f"byte {place}"

    words.write_bytes(whole)
    assert index.check() == []


def test_damage_is_not_signed_by_the_next_commit(index: Index, words: Path):
    whole = bytearray(words.read_bytes())
    whole[whole.index(b"banana")] ^= 1
    words.write_bytes(whole)

    index.add_texts([{"id": "new", "text": "Whales sing."}])
    assert severities(index.folder) == {"note"}  # it is missing now
    assert not is_looked_up(index.folder)

    index.add_texts([])
    assert is_looked_up(index.folder)
    assert index.check() == []


@pytest.mark.parametrize(
    "what", ["longer", "no checksum", "checksum of nothing", "checksum before"]
)
def test_a_search_does_without_a_file_that_does_not_fit_its_checksum(
    index: Index, words: Path, what: str
):
    noted = read_sum(words)
    assert noted is not None
    if what == "longer":
        with open(words, "ab") as file:
            file.write(bytes(4096))
    elif what == "no checksum":  # as earlier releases left it
        sum_of(words).unlink()
    elif what == "checksum of nothing":
        sum_of(words).write_bytes(b'{"pages": 1e999}')
    else:
        write_sum(words, type(noted)(noted.generation - 1, noted.size, noted.pages, noted.crc))

    assert severities(index.folder) == {"note"}
    assert not is_looked_up(index.folder)

    index.add_texts([])
    assert is_looked_up(index.folder)
    assert index.check() == []


@pytest.mark.skipif(sys.platform == "win32", reason="locks belong to handles there")
def test_a_checksum_takes_no_locks_away(index: Index, words: Path):
    """Closing a file drops all locks that the process has on it, by the rules of POSIX."""
    code = (
        "import sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try: database.execute('BEGIN IMMEDIATE')\n"
        "except sqlite3.OperationalError as error: print(error)\n"
    )
    with closing(sqlite3.connect(words, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        crc_of_words(words)
        crc_of_words(words)

        command = [sys.executable, "-c", code, str(words)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert said.strip() == "database is locked"


# Made by somebody else.


def sign(words: Path) -> None:
    """Write the checksum that fits, as anybody can."""
    noted = read_sum(words)
    assert noted is not None
    size, crc = crc_of_words(words)
    with closing(sqlite3.connect(words)) as database:
        names = ("page_count", "page_size", "freelist_count")
        pages = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    write_sum(words, type(noted)(noted.generation, size, (pages[0], pages[1], pages[2]), crc))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER more AFTER UPDATE ON state BEGIN DELETE FROM leaving; END",
        "CREATE VIEW more AS SELECT * FROM state",
        "CREATE VIRTUAL TABLE more USING fts5(x)",
        "CREATE TABLE more(x DEFAULT (abs(-9223372036854775808)))",
        "CREATE INDEX more ON state(generation)",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_a_file_with_more_than_our_tables_is_not_used(index: Index, words: Path, statement: str):
    with closing(sqlite3.connect(words, isolation_level=None)) as database:
        database.execute(statement)
    sign(words)

    manifest = index.snapshot.manifest
    with pytest.raises(Damaged):
        FtsIndex(words, manifest.generation, manifest.next_chunk_id, is_read_only=True)
    assert severities(index.folder) == {"error"}
    assert not is_looked_up(index.folder)

    index.add_texts([])
    assert is_looked_up(index.folder)
    assert index.check() == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_the_file_is_not_followed(index: Index, words: Path, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere.sqlite"
    words.rename(elsewhere)
    words.symlink_to(elsewhere)
    before = elsewhere.read_bytes()

    assert not is_looked_up(index.folder)
    index.add_texts([{"id": "new", "text": "Whales sing."}])

    assert elsewhere.read_bytes() == before
    assert not words.is_symlink()
    assert is_looked_up(index.folder)
