"""The sections of a single file, and their order."""

from __future__ import annotations

__all__ = [
    "BLOCKS",
    "CALIBRATION",
    "CATALOGUE",
    "CODEBOOK",
    "ENGINE",
    "MANIFEST",
    "MODEL",
    "NAMES",
    "ORDER",
    "SEGMENT",
    "TEXTS",
    "WORDS",
]

CODEBOOK, CALIBRATION = 2, 10
ENGINE = (1, CALIBRATION, CODEBOOK, 9, 8, 5, 3, 6, 4)  # without the source graph
MANIFEST, WORDS = 32, 35
CATALOGUE, TEXTS = 33, 34  # of version 1
MODEL = 40  # of a model file
# Of the segment: its ids and codes are the engine's.
BLOCKS = 53
SEGMENT = (48, 49, 50, 52, BLOCKS)

# What opening reads comes first, then what a search touches little of.
ORDER = (1, CALIBRATION, CODEBOOK, 9, 8, MANIFEST, 5, 3, 48, 49, 50, 52, 6, WORDS, BLOCKS, 4)

NAMES = {
    1: "meta",
    CODEBOOK: "codebook",
    3: "codes",
    4: "vectors",
    5: "hot nodes",
    6: "graph",
    8: "ids",
    9: "deleted",
    CALIBRATION: "calibration",
    MANIFEST: "manifest",
    WORDS: "words",
    **dict.fromkeys((48, 49, 50), "catalogue"),
    **dict.fromkeys((52, BLOCKS), "texts"),
}
