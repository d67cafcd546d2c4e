"""Plots as SVG files, the same bytes for the same results."""

from pathlib import Path
from typing import Any

from benchmarks.document.page import pictures_of
from benchmarks.document.records import Records
from benchmarks.document.sections import chapters

STYLE = {
    "svg.hashsalt": "gossamer",
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8,
    "font.size": 9,
}


def draw_all(records: Records, folder: Path) -> list[Path]:
    """Draw what there are results for; without matplotlib say so. Gives the files."""
    try:
        import matplotlib
    except ModuleNotFoundError as missing:
        print(f"no plots: {missing}; install the extra with pip install -e '.[bench]'")
        return []
    matplotlib.use("Agg")
    drawn = []
    with matplotlib.rc_context(STYLE):
        for section in (one for sections in chapters().values() for one in sections):
            if names := pictures_of(section, records):
                figures = section.draw(records)
                if missing := names.keys() - figures.keys():
                    cases = " ".join(section.CASES)
                    raise ValueError(f"{section.__name__} drew no {missing}; run {cases} again")
                drawn += [_written(figures[name], folder / f"{name}.svg") for name in names]
    return drawn


def _written(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot as plt

    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path
