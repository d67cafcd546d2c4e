"""The commands that show a file at a place, in the user's editor, viewer or whatever opens it.

Each is a list of arguments, which no shell reads.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import InvalidArgument
from gossamer.readers.formats import kind_of

__all__ = ["Program", "choose_program", "start"]

VIEWER = "GOSSAMER_VIEWER"
_SOON_S = 0.5

# How editors are told the line, and the names of those that are told so.
_EDITORS = (
    (
        "+{line} {path}",
        "vi vim nvim view gvim mvim nano pico emacs emacsclient kak micro ne joe mg jed gedit xed "
        "pluma",
    ),
    ("-g {path}:{line}", "code code-insiders codium vscodium cursor windsurf positron"),
    ("{path}:{line}", "subl sublime_text hx helix zed zeditor"),
    (
        "--line {line} {path}",
        "idea pycharm webstorm phpstorm goland clion rubymine rider rustrover",
    ),
    ("-l {line} {path}", "kate kwrite mate"),
    ("-n{line} {path}", "notepad++"),
)
# Of those that are there the first shows a PDF.
_VIEWERS = {
    "evince": "-i {page} {path}",
    "okular": "-p {page} {path}",
    "zathura": "-P {page} {path}",
    "atril": "-i {page} {path}",
    "xreader": "-i {page} {path}",
    "mupdf": "{path} {page}",
    "SumatraPDF": "-page {page} {path}",
}
# A desktop opens these; of anything else it might run what is in it.
_DOCUMENTS = frozenset(("pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"))
_OPENERS = {"darwin": "open", "win32": "explorer"}
_USUAL_EDITORS = {"win32": ("notepad",)}


@dataclass(frozen=True, slots=True)
class Program:
    """A command, and whether it stays in this terminal until the user leaves it."""

    arguments: Sequence[str]
    is_awaited: bool = False


def choose_program(path: str, kind: str, line: int | None, page: int) -> Program:
    """Choose what shows a file; InvalidArgument where nothing can.

    `line` is None where the editor is not to go to one.
    """
    path = os.path.abspath(path)  # so that it cannot be an option
    if kind == "pdf" and (viewer := _viewer(path, page)):
        return Program(viewer)
    editor = _named_editor()
    is_shown_by_desktop = kind in _DOCUMENTS or (kind == "html" and not editor)
    # A desktop goes by the name, the kind may come from the content: a report.desktop that begins
    # like a PDF would be run.
    if is_shown_by_desktop and kind_of(Path(path), b"") == kind:
        return Program([_opener(), path])
    editor = editor or _usual_editor()
    return Program([*editor, *_arguments_for(editor[0], path, line)], is_awaited=True)


def start(program: Program) -> None:
    """Run an editor until it is left, or start a viewer beside us.

    InvalidArgument if it cannot be.
    """
    try:
        if program.is_awaited:
            _run_in_terminal(program.arguments)
        else:
            _start_beside(program.arguments)
    except OSError as error:
        raise InvalidArgument(
            f"cannot run {program.arguments[0]}: {error.strerror}; $VISUAL or $EDITOR names the "
            f"editor, ${VIEWER} what shows a PDF"
        ) from None


def _start_beside(arguments: Sequence[str]) -> None:
    """Start a viewer, and see whether it fails at once: nobody sees what it prints."""
    null = subprocess.DEVNULL
    viewer = subprocess.Popen(
        arguments, stdin=null, stdout=null, stderr=null, start_new_session=True
    )
    try:
        failure = viewer.wait(_SOON_S)
    except subprocess.TimeoutExpired:
        return
    if failure and not _is_explorer(arguments[0]):
        raise InvalidArgument(
            f"{' '.join(arguments)} failed with exit code {failure}; ${VIEWER} names what shows a "
            "PDF, and your desktop's settings what opens other kinds"
        )


def _is_explorer(program: str) -> bool:
    """Whether it is the one of Windows, whose exit code is 1 where all went well."""
    return _name_of(program) == "explorer"


def _run_in_terminal(arguments: Sequence[str]) -> None:
    """Run with the terminal as its input, also where ours is a pipe."""
    if sys.stdin is None or sys.stdin.isatty() or not os.path.exists("/dev/tty"):
        subprocess.run(arguments, check=False)
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:  # there is none
        subprocess.run(arguments, check=False)
        return
    try:
        subprocess.run(arguments, stdin=terminal, check=False)
    finally:
        os.close(terminal)


def _arguments_for(editor: str, path: str, line: int | None) -> list[str]:
    if line is not None:
        for form, names in _EDITORS:
            if _name_of(editor) in names.split():
                return _filled(form.split(), path=path, line=line)
    return [path]


def _filled(form: Sequence[str], **values: object) -> list[str]:
    filled = []
    for part in form:
        # The path last: a name may have braces in it.
        for name in ("line", "page", "path"):
            part = part.replace(f"{{{name}}}", str(values.get(name, "")))
        filled.append(part)
    return filled


def _name_of(program: str) -> str:
    name = os.path.basename(program.replace("\\", "/")).lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


def _named_editor() -> list[str]:
    """Give the editor that the user named, with its arguments; nothing if none was named."""
    return _words("VISUAL") or _words("EDITOR")


def _usual_editor() -> list[str]:
    if sys.platform == "darwin":
        return ["open", "-t"]
    for name in _USUAL_EDITORS.get(sys.platform, ("nano", "vi")):
        if shutil.which(name):
            return [name]
    raise InvalidArgument("there is no editor to open it with; set EDITOR to the name of yours")


def _viewer(path: str, page: int) -> list[str]:
    """Give what shows a page of a PDF; nothing where none is known."""
    if named := _words(VIEWER):
        has_path = any("{path}" in word for word in named)
        return _filled(named if has_path else [*named, "{path}"], path=path, page=page)
    for name, form in _VIEWERS.items():
        if shutil.which(name):
            return [name, *_filled(form.split(), path=path, page=page)]
    return []


def _opener() -> str:
    return _OPENERS.get(sys.platform, "xdg-open")


def _words(variable: str) -> list[str]:
    """Split what the user set as a shell would; on Windows paths have backslashes in them."""
    value = os.environ.get(variable, "")
    try:
        return shlex.split(value, posix=os.name == "posix")
    except ValueError:
        raise InvalidArgument(f"{variable} has a quote that is not closed: {value}") from None
