"""How far an update is, drawn on standard error while a person looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gossamer.cli.output import Output, printable
from gossamer.cli.words import counted, duration

if TYPE_CHECKING:
    from rich.progress import Progress

    from gossamer.update.report import UpdateProgress

__all__ = ["BytesEstimate", "show_steps", "show_update"]

# A chunk of text has about so many bytes, until a wave of files has told.
_CHUNK_BYTES = 800
_PHASES = {"looking": "looking", "embedding": "indexing", "writing": "writing"}


class BytesEstimate:
    """Bytes done, smoothly: files are counted only once all their chunks are in."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._at_wave = 0  # chunks embedded when `bytes_done` last grew
        self._bytes_done = 0

    def update(self, progress: UpdateProgress) -> float:
        """Give the bytes done; never fewer than before, nor more than there are."""
        if progress.bytes_done > self._bytes_done:
            self._bytes_done, self._at_wave = progress.bytes_done, progress.chunks_embedded
        each = progress.bytes_done / progress.chunks_done if progress.chunks_done else _CHUNK_BYTES
        ahead = (progress.chunks_embedded - self._at_wave) * each
        known = min(progress.bytes_done + ahead, progress.bytes_total)
        self._shown = max(self._shown, known)
        return self._shown


@contextmanager
def show_update(output: Output) -> Iterator[Callable[[UpdateProgress], None]]:
    """Draw a bar by bytes with files, chunks a second and the time left; give what moves it."""
    console = output.errors_console
    if console is None:
        yield lambda _: None
        return
    bar = _bar(console, "{task.fields[files]}", "{task.fields[speed]}", "{task.fields[left]}")
    task = bar.add_task("looking", total=None, files="", speed="", left="")
    estimate = BytesEstimate()
    with bar:
        yield lambda progress: bar.update(task, **_bar_fields(progress, estimate, _elapsed(bar)))


@contextmanager
def show_steps(output: Output) -> Iterator[Callable[[str, int, int], None] | None]:
    """Draw a bar for a job of many steps, such as a download; None if nobody looks."""
    console = output.errors_console
    if console is None:
        yield None
        return
    bar = _bar(console)
    task = bar.add_task("", total=None)
    with bar:
        yield lambda what, done, total: bar.update(
            task, description=_in_line(what), completed=done, total=total or None
        )


def _bar(console: Any, *fields: str) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    # Names of files may come in here: a bracket in one is no markup.
    texts = [TextColumn(field, style="dim", markup=False) for field in fields]
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f} %"),
        *texts,
        console=console,
        transient=True,
        expand=True,
    )


def _in_line(text: str) -> str:
    """Give a text that stays in its line, with nothing in it that moves the cursor."""
    return " ".join(printable(text).split())


def _elapsed(bar: Progress) -> float:
    return bar.tasks[0].elapsed or 0.0


def _bar_fields(
    progress: UpdateProgress, estimate: BytesEstimate, elapsed: float
) -> dict[str, Any]:
    fields: dict[str, Any] = {"description": _in_line(_PHASES.get(progress.phase, progress.phase))}
    if progress.phase == "looking":
        return fields | {"files": counted(progress.files_total, "file")}
    done = estimate.update(progress)
    left = ""
    if 0 < done < progress.bytes_total:
        left = f"{duration(elapsed * (progress.bytes_total - done) / done)} left"
    speed = f"{progress.chunks_embedded / elapsed:,.0f} chunks/s" if elapsed > 1 else ""
    return fields | {
        "completed": done,
        "total": progress.bytes_total or None,
        "files": f"{progress.files_done:,} of {counted(progress.files_total, 'file')}",
        "speed": speed,
        "left": left,
    }
