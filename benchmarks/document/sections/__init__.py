"""The sections, one file each, in the order of the document.

A section has ITEM (what of which paper it answers, "" for ours), TITLE, CASES (whose results it
shows; without the first it is left out) and `write(records)`, which gives blocks of Markdown. One
with plots has PICTURES (name: what it shows) and `draw(records)`, which gives a figure for each; a
plot that needs another case than the first names it in NEEDS (name: case) and is left out without.
Plots stand before the block that begins with "**Against the paper.**", or else at the end.

`contradictions(records)` may give sentences, each of one result that contradicts a paper or our own
documents (an empty list where nothing does). They are said again at the top of the document.
"""

import importlib
from types import ModuleType

CHAPTERS = {
    "Every bar": ("bars",),
    "LEANN": (
        "footprint",
        "latency",
        "downstream",
        "ablation",
        "pruning",
        "shards",
        "update_steps",
        "hot_budget",
        "encoders",
    ),
    "HNSW-Slim": ("slim_sizes", "slim_speed", "slim_sweeps", "slim_estimate", "slim_updates"),
    "WebANNS": ("browser",),
    "Gossamer": (
        "frontier",
        "growth",
        "calibration",
        "gpu_rounds",
        "engine",
        "folder",
        "server",
        "remote",
    ),
    "Harnesses of others": ("harnesses",),
}


def chapters() -> dict[str, list[ModuleType]]:
    """Give the sections of each chapter."""
    return {
        chapter: [importlib.import_module(f"{__name__}.{name}") for name in names]
        for chapter, names in CHAPTERS.items()
    }
