"""`gossamer status`: what the index holds, what it takes, how fresh it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gossamer.cli.output import Column, Output
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, share, size, when

if TYPE_CHECKING:
    from gossamer.status import IndexStatus
    from gossamer.store import Manifest, Snapshot

__all__ = ["command"]

# Above this, an index of words is faster than reading the text for each question.
_MUCH_TEXT = 10**9
_LEFT_OUT_SHOWN = 12


@click.command("status", short_help="Say what is indexed, what it takes, whether it is fresh.")
@as_json_option
@common_options()
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Say what is indexed and what not and why, what it takes, and whether it is fresh."""
    from gossamer.status import record_status

    index = session.open_index()
    status = index.status()
    manifest = index.snapshot.manifest
    if as_json:
        session.output.json(record_status(status, manifest))
        return
    _show(session.output, status, index.snapshot)


def _show(output: Output, status: IndexStatus, snapshot: Snapshot) -> None:
    from gossamer.update.compare import tell_gone

    manifest, settings = snapshot.manifest, snapshot.manifest.settings
    gone = _gone(status, snapshot)
    roots = [path for path in gone if path in status.roots]
    can_add = bool(status.changed_files) or len(gone) > len(roots)
    rows = [
        ("index", f"{status.name} ({status.folder})"),
        *(_fetched(status) if status.remote else _roots(status)),
        ("files", _files(status)),
        ("chunks", f"{status.chunks:,} in {counted(status.documents, 'document')}"),
        ("kinds", ", ".join(f"{kind} {number:,}" for kind, number in status.kinds.items())),
        *([] if status.remote else [_freshness(status, can_add)]),
        ("changed", f"{when(status.changed)} (generation {status.generation:,})"),
        *([] if status.is_trusted or status.remote else [("trusted", _UNTRUSTED)]),
        ("model", f"{status.model}, chunks of up to {manifest.model.chunk_tokens} tokens"),
        ("settings", f"keep {settings.keep}, lexical {settings.lexical}{_text_kept(manifest)}"),
    ]
    output.table([Column("", style="quiet"), Column("", may_fold=True)], rows)
    for note in tell_gone(snapshot, roots):
        output.note((note, "warning"))
    output.line()
    _show_bytes(output, status)
    if status.reasons:
        output.line()
        _show_reasons(output, status)
    if status.text_bytes > _MUCH_TEXT and settings.lexical == "scan":
        output.note(
            f"hint: there is {size(status.text_bytes)} of text, which is read for each question; "
            "an index made with --lexical fts5 looks words up instead"
        )


_UNTRUSTED = "no: the folders, model and server that it names are not followed (`gossamer trust`)"


def _roots(status: IndexStatus) -> list[tuple[str, str]]:
    nothing = "those of the server" if status.follows else "none; texts only, or nothing yet"
    roots = status.roots or (nothing,)
    return [("" if place else "folders", root) for place, root in enumerate(roots)]


def _fetched(status: IndexStatus) -> list[tuple[str, str]]:
    here, fetched, whole = (size(int(str(status.remote[name]))) for name in _REMOTE)
    requests = counted(int(str(status.remote["requests"])), "request")
    return [("file", f"{here} of {whole} are kept here; {fetched} came now, by {requests}")]


_REMOTE = ("cached", "fetched", "bytes")


def _files(status: IndexStatus) -> str:
    return f"{status.indexed:,} indexed, {status.skipped:,} skipped, {status.failed:,} failed"


def _gone(status: IndexStatus, snapshot: Snapshot) -> Sequence[str]:
    """Give the files that are gone; a folder that was added in the place of all its files."""
    from gossamer.update.compare import compare_files, part_gone

    return part_gone(snapshot, compare_files(snapshot).gone)[1] if status.missing_files else ()


def _freshness(status: IndexStatus, can_add: bool) -> tuple[str, str]:
    if status.follows:
        return "follows", _followed(status)
    return "fresh", _compared(status, can_add)


def _followed(status: IndexStatus) -> str:
    origin = status.follows
    said = (
        f"{origin.get('url')}, version {origin.get('version')} "
        f"({origin.get('mode')}, texts {origin.get('texts')})"
    )
    if pending := origin.get("pending"):
        said += "; 1 change waits" if pending == 1 else f"; {pending} changes wait"
        said += " to be pushed"
    return said


def _compared(status: IndexStatus, can_add: bool) -> str:
    if not status.is_trusted:
        return "not known: files that it names are not looked at"
    if status.is_fresh:
        return "yes, all files are as they were indexed"
    parts = [(status.changed_files, "changed"), (status.missing_files, "gone")]
    said = ", ".join(f"{counted(number, 'file')} {what}" for number, what in parts if number)
    return f"no: {said}" + ("; run `gossamer add`" if can_add else "")


def _text_kept(manifest: Manifest) -> str:
    return ", a copy of all text" if manifest.settings.store_text else ""


def _show_bytes(output: Output, status: IndexStatus) -> None:
    """Print what each part takes, and the text and files that it stands for."""
    rows = [
        (part, size(number), *_shares(number, status))
        for part, number in status.bytes_by_part.items()
        if number
    ]
    rows.append(("index in all", size(status.total_bytes), *_shares(status.total_bytes, status)))
    rows.append(("text", size(status.text_bytes), "", ""))
    rows.append(("files on disk", size(status.source_bytes), "", ""))
    numbers = [Column(name, is_number=True) for name in ("bytes", "of text", "of files")]
    output.table([Column("part"), *numbers], rows)


def _shares(number: int, status: IndexStatus) -> tuple[str, str]:
    return share(number, status.text_bytes), share(number, status.source_bytes)


def _show_reasons(output: Output, status: IndexStatus) -> None:
    reasons = list(status.reasons.items())
    rows = [(f"{number:,}", reason) for reason, number in reasons[:_LEFT_OUT_SHOWN]]
    output.table([Column("files", is_number=True), Column("left out because", may_fold=True)], rows)
    if len(reasons) > _LEFT_OUT_SHOWN:
        output.line(f"... and {len(reasons) - _LEFT_OUT_SHOWN:,} more reasons; --json has them all")
