"""Files of public hosts, by https alone, no larger than expected."""

import hashlib
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

READ_BYTES = 1 << 20
TIMEOUT_S = 60.0
AGENT = "gossamer-benchmarks"
MB = 10**6


class CannotFetch(Exception):  # noqa: N818 - the reason is the name
    """A file did not come; says which, from where and why."""


@dataclass(frozen=True)
class Source:
    """A file of an original: what it is called here, where it is, and how large it may be."""

    name: str
    url: str
    most_bytes: int


def fetch(source: Source, folder: Path) -> Path:
    """Give the file in `folder`, downloaded unless it is there; prints its checksum."""
    path = folder / source.name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{source.url} ...", flush=True)
        aside = path.with_name(path.name + ".part")
        try:
            _download(source, aside)
            aside.replace(path)
        except (OSError, ValueError) as error:
            raise CannotFetch(
                f"{source.url} could not be fetched: {error}; if you have it, put it at {path}"
            ) from error
        finally:
            aside.unlink(missing_ok=True)
    print(f"{path}: {path.stat().st_size:,} bytes, SHA-256 {checksum(path)}", flush=True)
    return path


def checksum(path: Path) -> str:
    """Give the SHA-256 of a file in hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(source: Source, path: Path) -> None:
    _check_https(source.url)
    request = urllib.request.Request(source.url, headers={"User-Agent": AGENT})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer, open(path, "wb") as file:
        _check_https(answer.geturl())
        announced = answer.headers.get("Content-Length")
        if announced is not None and int(announced) > source.most_bytes:
            raise ValueError(
                f"it has {int(announced):,} bytes, expected at most {source.most_bytes:,}"
            )
        taken = 0
        while block := answer.read(READ_BYTES):
            taken += len(block)
            if taken > source.most_bytes:
                raise ValueError(f"it has more than the {source.most_bytes:,} bytes expected")
            file.write(block)
        if announced is not None and taken != int(announced):
            raise ValueError(f"it ended after {taken:,} of {int(announced):,} bytes")


def _check_https(url: str) -> None:
    if not url.startswith("https://"):
        raise ValueError(f"it leads to {url}, which is not https")
