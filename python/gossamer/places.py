"""Where indexes, models, settings and caches live. GOSSAMER_HOME moves them all into one folder."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder", "config_folder", "indexes_folder", "is_address", "models_folder"]

_APP = "gossamer"


def indexes_folder() -> Path:
    """Indexes that have a name, one folder each; it may not exist yet."""
    home = _home()
    return (home if home else Path(_platform("data"))) / "indexes"


def models_folder() -> Path:
    """Models that were fetched, one folder each; it may not exist yet."""
    home = _home()
    return (home if home else Path(_platform("data"))) / "models"


def config_folder() -> Path:
    """What the user set; it may not exist yet."""
    home = _home()
    return home / "config" if home else Path(_platform("config"))


def cache_folder() -> Path:
    """What can be made again; it may not exist yet."""
    home = _home()
    return home / "cache" if home else Path(_platform("cache"))


def is_address(place: str) -> bool:
    """Whether a place is meant to be in the web, right or wrong."""
    return place.lower().startswith(("http://", "https://"))


def _home() -> Path | None:
    named = os.environ.get("GOSSAMER_HOME")
    return Path(named).expanduser() if named else None


def _platform(what: str) -> str:
    import platformdirs

    found: str = getattr(platformdirs, f"user_{what}_dir")(_APP, appauthor=False)
    return found
