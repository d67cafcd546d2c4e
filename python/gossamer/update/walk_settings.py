"""How a folder is walked, as the manifest remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from gossamer.sources.folder import WalkOptions

__all__ = ["as_settings", "from_settings", "merge_settings"]


def as_settings(options: WalkOptions) -> dict[str, Any]:
    """Give options as JSON: those that are not the usual ones."""
    usual = asdict(WalkOptions())
    chosen = {name: value for name, value in asdict(options).items() if value != usual[name]}
    return {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in chosen.items()}


def merge_settings(earlier: object, later: Mapping[str, Any]) -> dict[str, Any]:
    """Add options to those that are remembered: patterns to patterns, the rest in their place."""
    merged = as_settings(from_settings(earlier))
    for name, value in later.items():
        known = merged.get(name, [])
        is_list = isinstance(value, list) and isinstance(known, list)
        merged[name] = list(dict.fromkeys([*known, *value])) if is_list else value
    return merged


def from_settings(remembered: object) -> WalkOptions:
    """Read what `as_settings` gave; anything else, as from another release, is passed over."""
    if not isinstance(remembered, Mapping):
        return WalkOptions()
    usual = asdict(WalkOptions())
    known = {field.name for field in fields(WalkOptions)}
    chosen: dict[str, Any] = {}
    for name, value in remembered.items():
        if name in known and isinstance(usual[name], bool) and isinstance(value, bool):
            chosen[name] = value
        elif name in known and isinstance(value, list) and all(isinstance(v, str) for v in value):
            chosen[name] = tuple(value)
    return WalkOptions(**chosen)
