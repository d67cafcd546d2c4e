"""Numbers, sizes and paths as people read them."""

from __future__ import annotations

import os
from datetime import datetime

__all__ = ["counted", "duration", "near_path", "share", "size", "taken", "when"]

# Of less than this a share says nothing: what every index takes is more than so little text.
_LEAST_SHARED = 1 << 16

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def counted(number: int, one: str, many: str = "") -> str:
    """Say how many there are: "1 file", "1,234 files"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Say how many bytes there are, in powers of a thousand: "12.3 MB"."""
    value = float(count)
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{count} B" if unit == "B" else f"{value:.3g} {unit}"


def share(part: int, whole: int) -> str:
    """Say how much of the whole a part is: "3.1 %"; nothing if the whole is next to nothing."""
    if whole < _LEAST_SHARED:
        return ""
    percent = 100 * part / whole
    return f"{percent:,.0f} %" if percent >= 100 else f"{percent:.2g} %"


def taken(index_bytes: int, text_bytes: int, source_bytes: int) -> str:
    """Say what an index takes, and how much of the text and of the files that is."""
    wholes = [(text_bytes, "the text"), (source_bytes, "the files on disk")]
    shares = [
        f"{percent} of {what} ({size(whole)})"
        for whole, what in wholes
        if (percent := share(index_bytes, whole))
    ]
    if not shares:
        return f"{size(index_bytes)} for {size(text_bytes)} of text"
    return f"{size(index_bytes)}: {', '.join(shares)}"


def duration(seconds: float) -> str:
    """Say how long something took or takes: "0.4 s", "3 min 12 s", "2 h 05 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def when(moment: str) -> str:
    """Give a moment (ISO 8601) in the time of this place, to the minute; as it is if it is none."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return moment


def near_path(path: str) -> str:
    """Give a path as seen from the current folder when it is below it; else as it is."""
    try:
        here = os.getcwd()
        relative = os.path.relpath(path, here) if os.path.isabs(path) else path
    except (OSError, ValueError):  # the folder is gone, or on another drive
        return path
    return path if relative.split(os.sep)[0] == os.pardir else relative
