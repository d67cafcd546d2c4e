"""Journals of SQLite that a killed process left beside a database, before SQLite acts on them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from gossamer.errors import Damaged
from gossamer.files import open_regular

__all__ = ["journal_of", "refuse_foreign_journal"]

# A journal ends with this where it names another file (https://sqlite.org/fileformat2.html).
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")


def journal_of(database: Path) -> Path:
    """Give where SQLite keeps what a change overwrites, until it is committed."""
    return database.with_name(f"{database.name}-journal")


def refuse_foreign_journal(database: Path) -> None:
    """Raise Damaged if the database, or its journal, is not one that was written here.

    Call it before a database is opened to be written. SQLite rolls a journal back then, and if
    that names a file, as those of changes to several databases do, SQLite deletes the file in the
    end. Ours never name any; one in a folder that somebody else made may name any file of this
    machine. Links lead to files elsewhere too.
    """
    journal = journal_of(database)
    if database.is_symlink():
        raise Damaged(f"{database} is a link, where a file belongs; delete it")
    with suppress(FileNotFoundError), open_regular(journal, follow=False) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - len(_NAMES_ANOTHER)))
        if file.read() == _NAMES_ANOTHER:
            raise Damaged(
                f"{journal} names another file, which SQLite would delete; none of ours does. "
                "Delete it"
            )
