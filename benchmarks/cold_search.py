"""`gossamer`, but with a table of vectors in place of the model.

`python -m benchmarks.cold_search TABLE ARGUMENT...` runs the command and ends its errors with a
line that says how many CPU seconds the table took.
"""

import atexit
import sys
from pathlib import Path

import gossamer.embed
from benchmarks.vector_table import VectorTable


def main() -> None:
    """Load the table when the command loads the model."""
    folder = Path(sys.argv.pop(1))

    def load(*_: object, **__: object) -> VectorTable:
        table = VectorTable(folder)
        atexit.register(lambda: print(f"\n{table.cpu_s}", file=sys.stderr))
        return table

    # Before whoever loads a model is imported.
    assert "gossamer.index" not in sys.modules
    gossamer.embed.load_embedder = load

    from gossamer.cli import main

    main()


if __name__ == "__main__":
    main()
