"""The first five minutes, played: a folder is added, two questions are asked, the status is shown.

Run it as `python -m gossamer.demo [FOLDER]...`: besides the folders it indexes the Python
language reference, which comes with every Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main", "write_reference"]

QUESTIONS = (
    "how is the metaclass of a class determined?",
    "when is it safe to stop a scan?",
)


def main(folders: list[str]) -> None:
    """Run the commands that a new user would type, and show them."""
    with tempfile.TemporaryDirectory(prefix="gossamer-demo-") as home:
        reference = Path(home) / "python-reference"
        write_reference(reference)
        places = [*folders, str(reference)]
        run(home, "add", *places)
        for question in QUESTIONS:
            run(home, "search", question, "-k", "3")
        run(home, "status")


def write_reference(folder: Path) -> int:
    """Write the topics of Python's own help into files; give how many there are."""
    from pydoc_data.topics import topics

    folder.mkdir(parents=True)
    for name, text in topics.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return len(topics)


def run(home: str, *arguments: str) -> None:
    """Run a command of gossamer's, with an index below `home`."""
    shown = [f'"{part}"' if " " in part else part.replace(home, "…") for part in arguments]
    print(f"\n$ gossamer {' '.join(shown)}", flush=True)
    environment = {**os.environ, "GOSSAMER_HOME": home}
    subprocess.run([sys.executable, "-m", "gossamer", *arguments], env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
