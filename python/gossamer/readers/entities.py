"""Characters that HTML writes by name or by number."""

from __future__ import annotations

import html
import re

__all__ = ["unescape"]

# Eight digits are more than any character has. Python refuses to count with some thousands.
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


def unescape(text: str) -> str:
    """Put the characters that references stand for in their place; what is no reference stays."""
    return html.unescape(_NUMBER.sub(r"&#\1", text)) if "&" in text else text
