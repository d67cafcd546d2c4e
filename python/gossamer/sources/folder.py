"""Walking folders: which files are there to be read, and which are left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.sources.ignore import IgnoreRules
from gossamer.sources.junk import folder_reason, is_junk
from gossamer.sources.rules import Rules

__all__ = ["Bounds", "FoundFile", "Report", "WalkOptions", "as_stored_time", "walk", "walk_each"]

# Told of what is left out though a user might expect it: the path and why.
Report = Callable[[Path, str], None]

_LEAST_TIME, _MOST_TIME = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """What a walk takes. Patterns are those of .gitignore, relative to each root."""

    exclude: Sequence[str] = ()
    include: Sequence[str] = ()  # if any: only files that match, or are in a folder that does
    include_hidden: bool = False
    include_junk: bool = False  # also what programs make for themselves: node_modules, .git, ...
    use_ignore_files: bool = True  # .gitignore and .gossamerignore
    # Links to folders, and to files outside of the roots; links to files below one are always
    # followed, once. What somebody else put into a folder may lead to anything on this disk.
    follow_links: bool = False


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file, as it was when the walk passed it."""

    path: Path  # absolute; a link that was followed keeps its own path
    root: Path  # of the roots given, the one that it was found under
    size: int
    mtime_ns: int


def walk(roots: Sequence[Path], options: WalkOptions, report: Report) -> Iterator[FoundFile]:
    """Give each file under the roots once: sorted root by root, files behind links last.

    A file that is itself a root is always given. Nothing is raised for what the disk holds:
    folders that cannot be read, files that vanish and names that are not Unicode go to `report`.
    """
    bounds = Bounds(roots)
    return _run([(_Walk(options, report, bounds), sorted(_absolute(roots), key=str))])


def walk_each(
    roots: Mapping[Path, WalkOptions],
    report: Report,
    unreadable: Report,
    empty: Callable[[Path], None],
    other_roots: Iterable[Path] = (),
) -> Iterator[FoundFile]:
    """Walk several roots, each by its own options; every file is given once in all.

    Paths that the disk would not show go to `unreadable` too: what is below one may be there.
    Folders with nothing in them, not even what is left out, go to `empty`. Links may lead below
    `other_roots` too, which are not walked.
    """
    bounds = Bounds([*roots, *other_roots])
    given: set[str] = set()
    return _run(
        [
            (_Walk(roots[root], report, bounds, unreadable, empty, given), [root])
            for root in sorted(roots, key=str)
        ]
    )


def as_stored_time(mtime_ns: int) -> int:
    """Give the time of a file in 64 bits: some disks have dates beyond the year 2262."""
    return min(max(mtime_ns, _LEAST_TIME), _MOST_TIME)


def _run(walks: Sequence[tuple[_Walk, Sequence[Path]]]) -> Iterator[FoundFile]:
    """Give all files that have a path of their own before any that a link leads to."""
    for one, roots in walks:
        for root in roots:
            yield from one.run(root)
    for one, _ in walks:
        yield from one.follow_links()


def _absolute(roots: Sequence[Path]) -> set[Path]:
    return {Path(os.path.abspath(root)) for root in roots}


class Bounds:
    """The folders and files that were named, without links: what is in them is meant to be read."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._exact = {os.path.normcase(os.path.realpath(root)) for root in roots}
        self._below = tuple(os.path.join(root, "") for root in self._exact)

    def holds(self, real: str) -> bool:
        """Whether a path without links is one of them, or below one."""
        real = os.path.normcase(real)
        return real in self._exact or real.startswith(self._below)


@dataclass(slots=True)
class _Folder:
    path: str
    real: str  # without links, to know what was given already
    rules: Rules
    is_included: bool  # all files in it match an `include` pattern


class _Walk:
    def __init__(
        self,
        options: WalkOptions,
        report: Report,
        bounds: Bounds,
        unreadable: Report = lambda *_: None,
        empty: Callable[[Path], None] = lambda _: None,
        given: set[str] | None = None,
    ) -> None:
        self._options = options
        self._report_path = report
        self._bounds = bounds
        self._unreadable = unreadable
        self._empty = empty
        self._exclude = IgnoreRules(options.exclude)
        self._include = IgnoreRules(options.include)
        self._given = set() if given is None else given  # real paths
        self._visited: set[tuple[int, int]] = set()  # folders, by device and inode
        self._links: list[tuple[str, Path, _Folder]] = []
        self._root = Path()
        self._root_length = 0

    def run(self, root: Path) -> Iterator[FoundFile]:
        self._root = root
        self._root_length = _length_with_separator(str(root))
        yield from self._walk_root(str(root))

    def follow_links(self) -> Iterator[FoundFile]:
        while self._links:
            links, self._links = sorted(self._links, key=lambda link: link[0]), []
            for path, root, folder in links:
                self._root = root
                self._root_length = _length_with_separator(str(root))
                yield from self._follow(path, folder)

    def _walk_root(self, path: str) -> Iterator[FoundFile]:
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:
            self._report_unreadable(path, error)
            return
        if not stat.S_ISDIR(status.st_mode):
            if (found := self._found(path, os.path.realpath(path), status)) is not None:
                yield found
            return
        rules = Rules.above(path) if self._options.use_ignore_files else Rules()
        is_included = not self._include
        yield from self._walk_folder(_Folder(path, os.path.realpath(path), rules, is_included))

    def _walk_folder(self, folder: _Folder) -> Iterator[FoundFile]:
        """Go through a folder in the order of paths; the stack is ours, so depth is no matter."""
        stack = [(folder, iter(self._entries(folder)))]
        while stack:
            folder, entries = stack[-1]
            entry = next(entries, None)
            if entry is None:
                stack.pop()
            elif _is_folder(entry):
                below = self._enter(folder, entry)
                stack.append((below, iter(self._entries(below))))
            elif (found := self._found_entry(folder, entry)) is not None:
                yield found

    def _entries(self, folder: _Folder) -> list[os.DirEntry[str]]:
        """Give what is to be taken of a folder, sorted; links are put off."""
        try:
            status = os.stat(folder.path)
            identity = (status.st_dev, status.st_ino)
            if identity in self._visited:
                return []
            self._visited.add(identity)
            with os.scandir(folder.path) as scan:
                entries = {entry.name: entry for entry in scan}
        except OSError as error:
            self._report_unreadable(folder.path, error)
            return []
        if not entries:
            self._empty(Path(folder.path))
            return []
        if (reason := folder_reason(entries, self._options.include_junk)) is not None:
            self._report(folder.path, reason)
            return []
        if self._options.use_ignore_files:
            folder.rules = folder.rules.within(folder.path, entries)
        taken = [entry for entry in entries.values() if self._is_taken(folder, entry)]
        # The order of whole paths: a folder's name is followed by a separator there.
        taken.sort(key=lambda entry: entry.name + os.sep if _is_folder(entry) else entry.name)
        return taken

    def _is_taken(self, folder: _Folder, entry: os.DirEntry[str]) -> bool:
        name = entry.name
        if not name.isascii() and not _is_unicode(name):
            self._report(entry.path, "its name is not valid Unicode; rename it")
            return False
        if entry.is_symlink():
            self._put_off(folder, entry)
            return False
        return self._is_wanted(folder, entry.path, name, _is_folder(entry))

    def _is_wanted(self, folder: _Folder, path: str, name: str, is_folder: bool) -> bool:
        if self._exclude and self._exclude.is_ignored(self._relative(path), name, is_folder):
            return False
        if folder.rules.is_ignored(path, name, is_folder):
            return False
        if self._is_left_out_by_name(name):
            return folder.rules.is_named(path, name, is_folder)
        return is_folder or folder.is_included or self._is_included(path, name, False)

    def _is_left_out_by_name(self, name: str) -> bool:
        options = self._options
        if name[0] == "." and not options.include_hidden:
            return True
        return not options.include_junk and is_junk(name)

    def _is_included(self, path: str, name: str, is_folder: bool) -> bool:
        return self._include.is_ignored(self._relative(path), name, is_folder) is True

    def _enter(self, folder: _Folder, entry: os.DirEntry[str]) -> _Folder:
        is_included = folder.is_included or self._is_included(entry.path, entry.name, True)
        real = os.path.join(folder.real, entry.name)
        return _Folder(entry.path, real, folder.rules, is_included)

    def _found_entry(self, folder: _Folder, entry: os.DirEntry[str]) -> FoundFile | None:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None  # it vanished since the folder was listed
        except OSError as error:
            self._report_unreadable(entry.path, error)
            return None
        return self._found(entry.path, os.path.join(folder.real, entry.name), status)

    def _found(self, path: str, real: str, status: os.stat_result) -> FoundFile | None:
        """Give a file to the caller of the walk; None if it was given, or is none."""
        if real in self._given:
            return None
        if not stat.S_ISREG(status.st_mode):
            self._report(path, "not a regular file (a pipe, socket or device)")
            return None
        self._given.add(real)
        return FoundFile(Path(path), self._root, status.st_size, as_stored_time(status.st_mtime_ns))

    def _put_off(self, folder: _Folder, entry: os.DirEntry[str]) -> None:
        """Follow links when all else was given: what they lead to may have a path of its own."""
        self._links.append((entry.path, self._root, folder))

    def _follow(self, path: str, folder: _Folder) -> Iterator[FoundFile]:
        name = os.path.basename(path)
        try:
            status = os.stat(path)
            real = os.path.realpath(path)
        except OSError as error:
            if self._is_wanted(folder, path, name, False):
                self._report(path, f"a link that leads nowhere: {_words_of(error)}")
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        # Git takes a link for a file, whatever it leads to.
        if not self._is_wanted(folder, path, name, is_folder):
            return
        if not is_folder:
            if not self._options.follow_links and not self._bounds.holds(real):
                self._report(path, "a link that leads out of the folders that were added")
            elif (found := self._found(path, real, status)) is not None:
                yield found
        elif self._options.follow_links:
            is_included = folder.is_included or self._is_included(path, name, True)
            yield from self._walk_folder(_Folder(path, real, folder.rules, is_included))
        elif (status.st_dev, status.st_ino) not in self._visited:
            self._report(path, "a link to a folder (follow_links is off)")

    def _relative(self, path: str) -> str:
        return path[self._root_length :].replace(os.sep, "/")

    def _report_unreadable(self, path: str, error: OSError | ValueError) -> None:
        reason = _words_of(error)
        self._report(path, reason)
        self._unreadable(Path(path), reason)

    def _report(self, path: str, reason: str) -> None:
        self._report_path(Path(path), reason)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _length_with_separator(path: str) -> int:
    return len(path) + (not path.endswith(os.sep))


def _words_of(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "not there"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
