"""Writes docs/cli.md: the real help of every command, and what programs can rely on.

Run it as `python -m gossamer.cli.docs > docs/cli.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from gossamer.cli import cli
from gossamer.cli.failures import ExitCode
from gossamer.cli.output import Output

__all__ = ["JSON_KEYS", "help_pages", "write_page"]

_WIDTH = 80

_INTRODUCTION = """\
# The `gossamer` command

    gossamer add ~/notes ~/papers              # make or update the index
    gossamer search "when is the lease due"    # path:line and the words that answer
    gossamer status                            # what is indexed, and what it takes

`gossamer` alone, in a terminal, searches as one types: by words at once, by meaning at a pause,
with the text around the hit that is looked at. A pause also brings a few files that changed up to
date, as `search` does. Enter opens the hit, F1 shows the keys.

More examples:

    gossamer search "retry with backoff" --type python --path 'src/**' -k 10
    gossamer search "roof" --type mail --since 'last month'
    gossamer search "rent" --mode lexical --after 2024-01-01 --json | jq '.hits[].location'
    gossamer search --format vimgrep "retry with backoff"      # for an editor's list of places
    gossamer search -l0 "lease" | xargs -0 grep -n landlord    # the files alone
    gossamer open 2                            # the second hit, in your editor at the line
    gossamer similar notes/lease.md:7          # what else is like this place
    gossamer --index work add ~/work --keep hot:50MB
    gossamer watch                             # keep the index up to date until Ctrl-C
    gossamer pull https://host notes.index     # follow the index of a server
    gossamer -i ./notes.index push report.pdf  # send it a file

Answers go to standard output; notes, progress and errors go to standard error. In a terminal
output is coloured (not with `NO_COLOR`) and fits its width; elsewhere it is plain, and lines are
never broken.

| variable | |
|---|---|
| `GOSSAMER_INDEX` | the index when `--index` is not given; a name or a path |
| `GOSSAMER_HOME` | where indexes, models and settings live, instead of the user's data folder |
| `GOSSAMER_RERANKER` | the reranking model of `search` and `serve` when `--reranker` is not given |
| `VISUAL`, `EDITOR` | what `open` shows a text in, with arguments: `code --reuse-window` |
| `GOSSAMER_VIEWER` | what `open` shows a page of a PDF in: `okular -p {page} {path}` |
| `GOSSAMER_API_KEY` | the key of a server that embeds or reranks |
| `GOSSAMER_API_HOST` | the host that the key is for; `http://HOST` if it may go by plain http |
| `GOSSAMER_TOKEN` | the token of `serve`, and of `pull` and `push` where none is kept |
| `GOSSAMER_REMOTE_CACHE` | bytes that are kept of files at addresses, all together; 1GB |
| `GOSSAMER_DEBUG` | if set, errors show where they were raised |

`--since` and `--before` take dates as they are written (2024, 2024-05, 2024-05-31) or said: `12h`,
`7d`, `3 weeks`, `2 months`, `today`, `yesterday`, `monday`, `last week`, `this month`, `last year`,
which mean the beginning of the first day. Mails and chats that have a date count by it, a chat
`--since` by its last message and `--before` by its first; all else by the time of the file.

`--format vimgrep` prints `path:line:column:text` for each hit, as `rg --vimgrep` does: columns
count bytes from 1, and point at the first word of the question in the line that answers best. What
has no lines (pages, slides, messages) is cited as line 1, with its place before the text; where the
text was taken out of a file, such as HTML, or is not in the index yet, the column is 1. In Vim:
`:cexpr system('gossamer search --format vimgrep lease')`. Weak hits are left out here and by `-l`,
unless `--min-score` says how sure a hit must be.

`gossamer open 2` opens the second hit of the last `search` or `similar` that printed numbers: its
index is asked again, and must be trusted. Editors that are told the line: vi, Vim, Neovim, nano,
Emacs, Kakoune, micro, gedit and the like; VS Code, Cursor, Windsurf; Zed, Sublime Text, Helix;
JetBrains' IDEs; Kate, TextMate, Notepad++. Others get the file alone. Web pages open in a browser
where no editor is named. A file whose name does not end as its kind does, such as a PDF that is
called `report.desktop`, opens in the editor. No shell reads the path.

`search -i work -i notes` and `search --all` ask several indexes and make one list. The hits of each
stay in their order, and the next in the list is always the one that answers with the greatest
probability: scores of two indexes do not compare. Where probabilities are equal or not known, the
better place in its own index comes first. A passage that several of them hold is one hit, which
names the places of all (`id` 0: of another index). An index that cannot be asked is a note, unless
none can. The id of a hit is one of its own index: `show 12 -i work`; `open` knows whose it is.

An index is named (`--index work`, in the usual place) or is a folder (`--index ./work`, a path
with a slash). A name also means the folder of that name here, if there is an index in it and none
in the usual place.

To `search`, `similar`, `show` and `status` an index may also be the address of a file that
`gossamer export` wrote, on any host that gives byte ranges: `--index https://host/index.gossamer`.
What a question needs of it is fetched and kept in the user's cache. It is somebody else's: its
model must be known here by name, or be given by `--model`. For all else there is
`gossamer import FILE`.

Completion in your shell, here for bash: `eval "$(_GOSSAMER_COMPLETE=bash_source gossamer)"`.
"""

_EXIT_CODES = {
    ExitCode.OK: "done",
    ExitCode.NO: "the answer is no: nothing close was found (no hit, or only weak ones), or "
    "`check` found damage; also a closed pipe",
    ExitCode.FAILED: "wrong usage, or anything else that failed; one line says what",
    ExitCode.NOT_FOUND: "there is no such index, chunk, file in the index, or model",
    ExitCode.LOCKED: "another process changes the index for longer than `add --wait SECONDS` waits",
    ExitCode.UNREACHABLE: "a server does not answer; what was pushed waits, and searches go on",
    ExitCode.UNTRUSTED: "the index was neither made nor accepted on this machine: `gossamer trust`",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C; the index is whole, and `add` goes on when repeated",
}

_HIT_KEYS = {
    "id": "number of the chunk, for `show` and `similar`; another one once the chunk changes",
    "key": "which document of the file; empty where it holds one",
    "kind": "what `--type` compares: markdown, python, pdf, mail, ...",
    "title": "of the document; may be empty",
    "unit": "what `first`, `last` and `line` count: line, page, slide, message, cell, row",
    "first": "where the chunk begins",
    "last": "where it ends",
    "start": "the same in bytes of the document's text",
    "end": "",
    "score": "larger is better; comparable within one search only",
    "distance": "from the question (the negative cosine), null where it was not computed",
    "ranks": "place in each ranking that found it, from 1: `semantic`, `lexical`",
    "tokens": "how well it matches the question's tokens, 0 to 1; null if they were not compared",
    "words": "what its words count (BM25), where the best of both rankings were ranked again",
    "exact": "what is looked up in it, to the letter: names, a short question word for word",
    "reranker": "what a reranking model says of it (`--reranker`); null if none was asked",
    "nearness": "by how many deviations its vector is nearer than most of the index; null: unknown",
    "coverage": "share of what the question's words tell that it holds; null: unknown",
    "probability": "that it answers the question, 0 to 1; null where that cannot be told",
    "strength": "the same in a word: strong, fair, weak; empty where it cannot be told",
    "headings": "what it stands under, outermost first",
    "url": "the page where people read it, at the nearest heading; empty where nobody knows",
    "metadata": "what the file says of itself",
    "text": "the whole chunk",
}

# The keys of each command's JSON, and what they hold. Every key is always there.
JSON_KEYS: Mapping[str, Mapping[str, str]] = {
    "search, similar": {
        "question": "what was asked, or the place",
        "mode": "hybrid, semantic or lexical",
        "took_ms": "milliseconds",
        "hits": "best first; see below",
        "stale": "paths of files that changed and are not up to date: old text is never a hit",
        "updated": "paths of files that changed and were brought up to date first (`--update`)",
        "gone": "paths of files, and of folders that were added, that are not there any more",
        "notes": "what else to know: a server that did not answer, texts that are not kept here",
        "absent": "what was to be found to the letter and is nowhere: phrases, +words, names",
        "explanation": "strategy, codes touched, chunks embedded, milliseconds by stage, ...; of "
        "several indexes one for each, by its name",
    },
    "each hit of search, similar": {
        "number": "from 1",
        "location": "path:line of the line that answers best, or path and page, row, slide, ...",
        "path": "absolute path of the file, or the id of a text that a program added",
        "line": "the number in `location`",
        "snippet": "the lines that answer best, or the whole chunk with `--full`, without marks",
        "highlights": "words of the question in `snippet`: pairs of characters, from and to",
        "copies": "how many other passages say the same",
        "also": "where these stand, a hundred at most: id, path, line, location, url of each",
        "more": "further places in the same document, likewise",
        "index": "name, folder or address of its index, for `--index`",
        "is_indexed": "false for a passage of a changed file that is not up to date: its id is 0",
        "code": "what of `snippet` is code, likewise",
        "best": "the line or sentence of `snippet` that answers best: a pair of characters",
        "answer": "the same in `text`",
        **_HIT_KEYS,
    },
    "show": {
        "location": "path:line of the first line, or path and page",
        "source": "absolute path of the file, or the id of a text that a program added",
        "before": "text before the chunk",
        "after": "text after it",
        **_HIT_KEYS,
    },
    "add": {
        "added": "files",
        "updated": "",
        "removed": "",
        "lost": "indexed before, and now skipped or failed",
        "unchanged": "",
        "skipped": "not text, or left out on purpose",
        "failed": "could not be read",
        "chunks_embedded": "",
        "chunks_reused": "unchanged chunks of changed files",
        "chunks_resumed": "embedded by a run that was interrupted",
        "seconds": "",
        "problems": "pairs of a path and why it failed",
        "emptied": "folders that are empty now, and how many files stay indexed of each",
        "text_bytes": "of all indexed documents",
        "source_bytes": "of all indexed files",
        "index_bytes": "of the index folder",
    },
    "status": {
        "name": "",
        "folder": "",
        "model": "",
        "settings": "what was chosen when the index was made",
        "generation": "grows by one with each change",
        "created": "ISO 8601",
        "changed": "",
        "roots": "folders and files that were added",
        "indexed": "files",
        "skipped": "",
        "failed": "",
        "reasons": "why files were skipped or failed, with the number of each",
        "kinds": "number of files of each kind",
        "documents": "",
        "chunks": "",
        "text_bytes": "of indexed documents",
        "source_bytes": "of indexed files, and of texts that programs gave",
        "bytes_by_part": "of the index folder",
        "total_bytes": "of the index folder",
        "share_of_text": "`total_bytes` / `text_bytes`",
        "share_of_files": "`total_bytes` / `source_bytes`",
        "changed_files": "files that are not as they were indexed",
        "missing_files": "",
        "is_trusted": "whether it was made or accepted on this machine",
        "is_fresh": "whether there are none of both",
        "follows": "the server that it follows, the version that was pulled, what is kept, and how "
        "many changes wait to be pushed; empty if it follows none",
        "remote": "of a file at an address: `url`, `bytes`, how many of them are `cached` here, "
        "and how many were `fetched` by how many `requests`; empty for a folder",
    },
    "check": {
        "is_damaged": "whether a finding is an error",
        "findings": "`severity` (error or note), `what`, `repair`",
    },
    "trust": {
        "folder": "",
        "uuid": "of the index",
        "model": "that it names",
        "roots": "folders that it would have read again",
        "walk": "how",
        "server": "that it follows; empty if none",
        "is_trusted": "whether these are followed from now on",
    },
    "eval": {
        "model": "",
        "k": "how many of the nearest were looked for",
        "questions": "how many were asked",
        "is_made_from_text": "whether they are sentences of the index",
        "chunks": "in the index",
        "compared_chunks": "among which recall was measured",
        "is_sample": "whether these are not all",
        "rows": "for each recall `asked`: `reached`, `low`, `high` (95 %), `embedded`, "
        "`embedded_p95`, `codes_touched`, `rounds`",
        "modes": "for each mode: `searches`, `ms`, `cpu_ms`, `embedded`, `stages`",
        "found": "for each mode, where files were named: `questions`, `share`, `low`, `high`",
        "index_bytes": "",
        "text_bytes": "",
        "bytes_per_chunk": "",
        "share_of_text": "`index_bytes` / `text_bytes`",
    },
    "pull": {
        "folder": "of the index",
        "kind": "delta, snapshot, or current if there was nothing to do",
        "from_version": "0 if there was nothing before",
        "version": "of the server's index",
        "bytes_received": "",
        "bytes_by_section": "of the package, as they were sent",
        "documents_changed": "",
        "documents_removed": "",
        "conflicts": "changes since the last pull that took the place of others; as below",
        "fell_back": "why all was taken anew where a delta was asked for",
        "estimate": "bytes by part that were expected, if there is a budget",
        "actual": "bytes by part that they are",
        "over_budget": "bytes that the index has grown beyond its budget",
        "seconds": "",
    },
    "push": {
        "results": "for each change that waited: `op`, `id`, `outcome` (stored, removed, "
        "unchanged, refused), `note`, `conflict` (its number, or 0)",
        "pulled": "as of `pull`; null if it could not be pulled",
        "problem": "why not",
    },
    "conflicts": {
        "conflicts": "`number`, `id`, `at`, `version`, `note`, and where the number was given "
        "`lost` (the text that was replaced) and `lost_text` (the same with `id`, `title`, "
        "`markup` and `metadata`)",
    },
    "list": {
        "indexes": "`name`, `folder`, `files`, `chunks`, `text_bytes`, `index_bytes`, `changed`, "
        "`problem`",
    },
    "models list": {
        "models": "`name`, `about`, `kind`, `dim`, `bytes`, `licence`, `is_here`, `is_default`",
    },
}


def write_page() -> str:
    """Give the whole page."""
    parts = [_INTRODUCTION, "## Commands\n"]
    parts += [f"### {name}\n\n```text\n{text}\n```\n" for name, text in help_pages()]
    parts += ["## Exit codes\n", _table(("code", ""), _exit_codes())]
    parts += ["## JSON\n", "`--json` prints one object. Keys may be added in later releases.\n"]
    for name, keys in JSON_KEYS.items():
        parts += [f"### JSON of {name}\n", _table(("key", ""), _code_first(keys))]
    return "\n".join(parts)


def help_pages() -> Iterator[tuple[str, str]]:
    """Give the help of every command as it is printed, by the command's name."""
    yield from _pages_of(cli, _context(cli, None, "gossamer"))


def _pages_of(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, str]]:
    yield ctx.command_path, command.get_help(ctx)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from _pages_of(below, _context(below, ctx, name))


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    settings: dict[str, Any] = {"terminal_width": _WIDTH, **command.context_settings}
    return click.Context(command, parent, name, max_content_width=_WIDTH, **settings)


def _exit_codes() -> dict[str, str]:
    return {str(code.value): text for code, text in _EXIT_CODES.items()}


def _code_first(keys: Mapping[str, str]) -> dict[str, str]:
    return {f"`{key}`": text for key, text in keys.items()}


def _table(names: tuple[str, str], rows: Mapping[str, str]) -> str:
    lines = [f"| {names[0]} | {names[1]} |", "|---|---|"]
    lines += [f"| {first} | {second} |" for first, second in rows.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Output().line(write_page())
