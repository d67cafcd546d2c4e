import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest

from gossamer.sources.folder import FoundFile, WalkOptions, walk
from gossamer.sources.ignore import IgnoreRules, parse_ignore_file

needs_links = pytest.mark.skipif(os.name == "nt", reason="making links needs rights on Windows")
needs_posix = pytest.mark.skipif(os.name == "nt", reason="there are no such files on Windows")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")


class Walked:
    """The files that a walk found, and what it reported, by paths relative to a folder."""

    def __init__(self, folder: Path, roots: Sequence[Path], options: WalkOptions) -> None:
        reports: list[tuple[Path, str]] = []
        self.found: list[FoundFile] = list(
            walk(roots, options, lambda path, reason: reports.append((path, reason)))
        )
        self.paths = [file.path.relative_to(folder).as_posix() for file in self.found]
        self.reports = {path.relative_to(folder).as_posix(): why for path, why in reports}


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n", encoding="utf-8")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def walked(folder: Path, *roots: Path, **options: object) -> Walked:
    return Walked(folder, roots or (folder,), WalkOptions(**options))  # type: ignore[arg-type]


def test_files_come_in_the_order_of_their_paths_with_size_and_time(tmp_path: Path):
    make(tmp_path, "b/x.md", "a.md", "b.md", "b-c/x.md", "Z.md")

    found = walked(tmp_path)

    assert found.paths == ["Z.md", "a.md", "b-c/x.md", "b.md", "b/x.md"]
    first = found.found[0]
    assert first.root == tmp_path
    assert (first.size, first.mtime_ns) == (5, first.path.stat().st_mtime_ns)


def test_an_ignore_file_holds_in_its_folder_and_below(tmp_path: Path):
    make(tmp_path, "a.log", "keep/b.log", "sub/c.log", "sub/deep/d.log", "sub/e.md")
    write(tmp_path / "sub" / ".gitignore", "*.log\n")

    assert walked(tmp_path).paths == ["a.log", "keep/b.log", "sub/e.md"]


def test_the_nearest_ignore_file_wins_and_can_take_back_in(tmp_path: Path):
    make(tmp_path, "a.log", "sub/b.log", "sub/c.log")
    write(tmp_path / ".gitignore", "*.log\n")
    write(tmp_path / "sub" / ".gitignore", "!b.log\n")

    assert walked(tmp_path).paths == ["sub/b.log"]


def test_anchored_and_folder_patterns_match_only_there_and_only_folders(tmp_path: Path):
    make(tmp_path, "out/a.md", "sub/out/b.md", "temp", "sub/temp/c.md", "sub/x/y/z.md")
    write(tmp_path / ".gitignore", "/out\ntemp/\nsub/**/z.md\n")

    assert walked(tmp_path).paths == ["sub/out/b.md", "temp"]


def test_nothing_is_taken_back_in_below_a_folder_that_is_ignored(tmp_path: Path):
    make(tmp_path, "out/a.md", "out/b.md")
    write(tmp_path / ".gitignore", "out/\n!out/b.md\n")

    assert walked(tmp_path).paths == []


def test_a_gossamerignore_goes_before_every_gitignore(tmp_path: Path):
    make(tmp_path, "a.md", "vendor/b.md", "notes/c.md", "notes/d.md")
    write(tmp_path / ".gitignore", "vendor/\n")
    write(tmp_path / "notes" / ".gitignore", "!c.md\n")
    write(tmp_path / ".gossamerignore", "!vendor/\nc.md\n")

    assert walked(tmp_path).paths == ["a.md", "notes/d.md", "vendor/b.md"]


def test_ignore_files_above_a_root_in_the_same_repository_hold_too(tmp_path: Path):
    make(tmp_path, "docs/a.md", "docs/b.tmp", "docs/c.bak")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    write(tmp_path / ".git" / "info" / "exclude", "*.bak\n")
    write(tmp_path / ".gitignore", "*.tmp\n")

    assert walked(tmp_path, tmp_path / "docs").paths == ["docs/a.md"]


def test_ignore_files_can_be_ignored(tmp_path: Path):
    make(tmp_path, "a.log")
    write(tmp_path / ".gitignore", "*.log\n")

    assert walked(tmp_path, use_ignore_files=False).paths == ["a.log"]


def test_a_file_that_is_a_root_is_given_even_if_it_is_ignored_and_hidden(tmp_path: Path):
    make(tmp_path, ".secret.log", "a.md")
    write(tmp_path / ".gitignore", "*.log\n")

    found = walked(tmp_path, tmp_path / ".secret.log", exclude=("*",))

    assert found.paths == [".secret.log"]
    assert found.found[0].root == tmp_path / ".secret.log"


def test_hidden_files_are_left_out_unless_asked_for(tmp_path: Path):
    make(tmp_path, ".hidden.md", ".dir/a.md", "b.md", ".git/config")

    assert walked(tmp_path).paths == ["b.md"]
    assert walked(tmp_path, include_hidden=True).paths == [".dir/a.md", ".hidden.md", "b.md"]


def test_a_gossamerignore_takes_hidden_folders_in_by_name_and_never_by_wildcard(tmp_path: Path):
    make(tmp_path, ".github/a.md", ".other/b.md", "c.md", "d.txt", "node_modules/e.md")
    write(tmp_path / ".gossamerignore", "*\n!*/\n!*.md\n!.github/\n")

    assert walked(tmp_path).paths == [".github/a.md", "c.md"]


@pytest.mark.parametrize(
    "junk",
    [
        "node_modules/a.md",
        "__pycache__/a.md",
        "x.dist-info/a.md",
        "env/pyvenv.cfg",
        "target/CACHEDIR.TAG",
    ],
)
def test_what_programs_make_for_themselves_is_left_out_unless_asked_for(tmp_path: Path, junk: str):
    make(tmp_path, junk, "b.md")

    assert walked(tmp_path).paths == ["b.md"]
    assert junk in walked(tmp_path, include_junk=True).paths


def test_an_index_folder_is_left_out_and_reported(tmp_path: Path):
    make(tmp_path, "index/MANIFEST.gossamer", "index/a.md", "b.md")

    found = walked(tmp_path, include_junk=True, include_hidden=True)

    assert found.paths == ["b.md"]
    assert found.reports == {"index": "a Gossamer index"}


def test_exclude_and_include_are_patterns_relative_to_the_root(tmp_path: Path):
    make(tmp_path, "a.md", "a.txt", "docs/b.txt", "docs/old/c.txt", "docs/d.md", "src/docs/e.txt")

    assert walked(tmp_path, include=("*.md", "/docs/"), exclude=("old/", "d.md")).paths == [
        "a.md",
        "docs/b.txt",
    ]


def test_overlapping_roots_give_each_file_once(tmp_path: Path):
    make(tmp_path, "a.md", "sub/b.md", ".hidden/c.md")
    roots = (tmp_path / "sub", tmp_path, tmp_path / "a.md", tmp_path / "." / "sub")

    assert walked(tmp_path, *roots, tmp_path / ".hidden").paths == [
        "a.md",
        "sub/b.md",
        ".hidden/c.md",
    ]


@needs_links
def test_a_link_to_a_file_is_followed_once_and_only_if_the_file_has_no_other_path(tmp_path: Path):
    make(tmp_path, "in/z.md", "in/.aside/far.md")
    (tmp_path / "in" / "a.md").symlink_to(tmp_path / "in" / "z.md")
    (tmp_path / "in" / "b.md").symlink_to(tmp_path / "in" / ".aside" / "far.md")
    (tmp_path / "in" / "c.md").symlink_to(tmp_path / "in" / ".aside" / "far.md")
    (tmp_path / "in" / "d.md").symlink_to(tmp_path / "nowhere")

    found = walked(tmp_path, tmp_path / "in")

    assert found.paths == ["in/z.md", "in/b.md"]
    assert "leads nowhere" in found.reports["in/d.md"]


@needs_links
def test_links_to_folders_are_followed_only_when_asked_and_never_in_circles(tmp_path: Path):
    make(tmp_path, "in/a.md", "out/b.md")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "far").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "back").symlink_to(tmp_path / "in")

    found = walked(tmp_path, tmp_path / "in")

    assert found.paths == ["in/a.md"]
    assert list(found.reports) == ["in/far"]
    assert walked(tmp_path, tmp_path / "in", follow_links=True).paths == ["in/a.md", "in/far/b.md"]


@needs_links
def test_a_root_may_be_a_link_to_a_folder(tmp_path: Path):
    make(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert walked(tmp_path, tmp_path / "link").paths == ["link/a.md"]
    assert walked(tmp_path, tmp_path / "link", tmp_path / "real").paths == ["link/a.md"]


def test_a_root_that_is_not_there_is_reported(tmp_path: Path):
    found = walked(tmp_path, tmp_path / "gone")

    assert found.paths == []
    assert found.reports == {"gone": "not there"}


@needs_posix
def test_pipes_and_sockets_are_reported_and_never_opened(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")

        found = walked(tmp_path)

    assert found.paths == []
    assert set(found.reports) == {"pipe", "socket"}


@needs_posix
def test_a_folder_without_permission_is_reported_and_the_rest_is_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make(tmp_path, "a.md", "closed/b.md", "z.md")
    real_scandir = os.scandir

    def scandir(path: str):
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)

    found = walked(tmp_path)

    assert found.paths == ["a.md", "z.md"]
    assert found.reports == {"closed": "no permission to read it"}


def test_files_and_folders_that_vanish_during_the_walk_are_reported(tmp_path: Path):
    make(tmp_path, "a.md", "b/c.md", "d/e.md")
    reports: list[str] = []
    found = walk([tmp_path], WalkOptions(), lambda path, _: reports.append(path.name))

    first = next(found)
    shutil.rmtree(tmp_path / "b")
    rest = list(found)

    assert first.path.name == "a.md"
    assert [file.path.name for file in rest] == ["e.md"]
    assert reports == ["b"]


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname == "Darwin", reason="names are bytes")
def test_a_name_that_is_not_unicode_is_reported(tmp_path: Path):
    make(tmp_path, "a.md", "schön.md")
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as file:
        file.write(b"text")

    found = walked(tmp_path)

    assert found.paths == ["a.md", "schön.md"]
    assert [("not valid Unicode" in why) for why in found.reports.values()] == [True]


@needs_posix
def test_folders_too_deep_to_have_a_path_are_reported(tmp_path: Path, monkeypatch):
    name = "d" * 200
    monkeypatch.chdir(tmp_path)
    for _ in range(25):
        os.mkdir(name)
        os.chdir(name)

    found = walked(tmp_path)

    assert found.paths == []
    assert len(found.reports) == 1


def test_patterns_are_read_as_git_reads_them():
    rules = parse_ignore_file(
        b"\xef\xbb\xbf# no\r\n\\#yes\r\n\\!too\r\nend\\ \r\ncut  \r\n[z\r\n/\n\n"
    )

    ignored = [
        name for name in ("# no", "#yes", "!too", "end ", "cut", "[z") if is_file(rules, name)
    ]

    assert ignored == ["#yes", "!too", "end ", "cut"]


def is_file(rules: IgnoreRules, path: str) -> bool | None:
    return rules.is_ignored(path, path.rpartition("/")[2], False)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 60 + "b", "a" * 255),
        ("**/a/" * 60 + "b", "a/" * 500 + "c"),
        ("**/*a*a*a/" * 60 + "b", "aaaaaaaaaaaaaaaaaaaa/" * 190 + "c"),
        ("?*" * 120 + "b", "a" * 255),
        ("*[a]" * 60 + "b", "a" * 255),
        ("*\\a" * 60 + "b", "a" * 255),
        ("a/**/" * 60 + "b", "a/" * 500 + "c"),
        ("**/*/*a*a/" * 60 + "b", "aaaaaaaaaaaaaaaaaaaa/" * 190 + "c"),
    ],
)
def test_a_hostile_pattern_is_matched_without_trying_every_way(pattern: str, path: str):
    assert is_file(IgnoreRules([pattern]), path) is None


PATTERNS = """\
*.txt
!b.txt
/a
a/b
a/*
!a/keep
**/foo
foo/**
a/**/b
[ab]c
[!a]c
[a-c]?
[[:upper:]]*
bar/
/bar
b*r
**/b/*.txt
\\a
a**c
""".splitlines()
NAMES = ("a", "b", "bc", "ac", "foo", "bar", "keep", "A", "b.txt", "c.txt")


@needs_git
@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_git_ignores_the_same(tmp_path: Path, step: int):
    lines = PATTERNS[::step]
    write(tmp_path / ".gitignore", "\n".join(lines) + "\n")
    paths = [f"{x}/{y}/{z}" for x in NAMES for y in NAMES for z in NAMES]
    for path in paths:
        write(tmp_path / path, "text")

    assert walked(tmp_path, include_hidden=True).paths == listed_by_git(tmp_path)


PIECES = ("a", "b", "ab", "foo", "x", ".", "-", "*", "?", "[ab]", "[!a]", "[[:alpha:]]", "\\a")


def random_pattern(random: Random) -> str:
    segments = [
        "**" if random.random() < 0.2 else "".join(random.choices(PIECES, k=random.randint(1, 3)))
        for _ in range(random.choice((1, 1, 1, 2, 2, 3)))
    ]
    first = random.choice(("", "", "!", "/", "!/"))
    return first + "/".join(segments) + random.choice(("", "", "/", "/**"))


@needs_git
@pytest.mark.parametrize("seed", range(8))
def test_git_ignores_the_same_by_any_patterns_at_any_level(tmp_path: Path, seed: int):
    random = Random(seed)
    names = ("a", "b", "ab", "abc", "foo", "x.foo", "a-b", "B")
    folders = [tmp_path / x / y for x in names[::2] for y in names[1::2]]
    for folder in folders:
        make(folder, *names)
    for folder in (tmp_path, *random.sample(folders, 3)):
        write(folder / ".gitignore", "".join(f"{random_pattern(random)}\n" for _ in range(6)))

    assert walked(tmp_path, include_hidden=True).paths == listed_by_git(tmp_path)


def listed_by_git(folder: Path) -> list[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    run = partial(subprocess.run, cwd=folder, check=True, capture_output=True, env=environment)
    run(["git", "init", "-q", "."])
    listed = run(["git", "ls-files", "-o", "-z", "--exclude-standard"]).stdout.decode()
    return sorted(filter(None, listed.split("\0")))
