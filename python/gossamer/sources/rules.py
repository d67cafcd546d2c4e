"""The ignore files that hold in a folder: its own and those of the folders above it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace

from gossamer.sources.ignore import IgnoreRules, parse_ignore_file

__all__ = ["Rules"]

_GIT = ".gitignore"
_OURS = ".gossamerignore"
_MAX_BYTES = 1 << 20
_MAX_ABOVE = 64


@dataclass(frozen=True, slots=True)
class _Level:
    prefix: int  # length of the path of the ignore file's folder, with the separator
    rules: IgnoreRules

    def is_ignored(self, path: str, name: str, is_folder: bool) -> bool | None:
        relative = path[self.prefix :]
        if os.sep != "/":
            relative = relative.replace(os.sep, "/")
        return self.rules.is_ignored(relative, name, is_folder)


@dataclass(frozen=True, slots=True)
class Rules:
    """Ignore files, nearest first; whatever a .gossamerignore says goes before any .gitignore."""

    ours: tuple[_Level, ...] = ()
    git: tuple[_Level, ...] = ()

    @staticmethod
    def above(path: str) -> Rules:
        """Give what holds in a folder because of the git repository it is in; maybe nothing."""
        top = _top_of_repository(path)
        if top is None:
            return Rules()
        rules = Rules()._with(top, os.path.join(top, ".git", "info", "exclude"), is_git=True)
        folders = [top]
        for name in os.path.relpath(path, top).split(os.sep):
            folders.append(os.path.join(folders[-1], name))
        # The folder itself comes when it is walked.
        for folder in folders[:-1] if path != top else []:
            rules = rules.within(folder, (_GIT, _OURS))
        return rules

    def within(self, folder: str, names: Collection[str]) -> Rules:
        """Give what holds inside a folder with entries of these names."""
        rules = self
        if _GIT in names:
            rules = rules._with(folder, os.path.join(folder, _GIT), is_git=True)
        if _OURS in names:
            rules = rules._with(folder, os.path.join(folder, _OURS), is_git=False)
        return rules

    def is_ignored(self, path: str, name: str, is_folder: bool) -> bool:
        """Say whether an entry of a folder that is not ignored itself is ignored."""
        for levels in (self.ours, self.git):
            for level in levels:
                verdict = level.is_ignored(path, name, is_folder)
                if verdict is not None:
                    return verdict
        return False

    def is_named(self, path: str, name: str, is_folder: bool) -> bool:
        """Say whether a .gossamerignore takes an entry in by its very name, as in `!.github/`."""
        for level in self.ours:
            verdict = level.is_ignored(path, name, is_folder)
            if verdict is not None:
                return not verdict and level.rules.names_literally(name)
        return False

    def _with(self, folder: str, file: str, is_git: bool) -> Rules:
        rules = _read(file)
        if not rules:
            return self
        level = _Level(len(folder) + (not folder.endswith(os.sep)), rules)
        if is_git:
            return replace(self, git=(level, *self.git))
        return replace(self, ours=(level, *self.ours))


def _read(file: str) -> IgnoreRules:
    """Read an ignore file; one that cannot be read ignores nothing."""
    try:
        if not os.path.isfile(file):
            return IgnoreRules(())
        with open(file, "rb") as opened:
            return parse_ignore_file(opened.read(_MAX_BYTES))
    except OSError:
        return IgnoreRules(())


def _top_of_repository(path: str) -> str | None:
    for _ in range(_MAX_ABOVE):
        if os.path.exists(os.path.join(path, ".git")):
            return path
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return None
