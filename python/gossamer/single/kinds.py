"""The sections of a single file, and their order."""

from __future__ import annotations

__all__ = [
    "CALIBRATION",
    "CATALOGUE",
    "CODEBOOK",
    "ENGINE",
    "MANIFEST",
    "MODEL",
    "NAMES",
    "ORDER",
    "TEXTS",
    "WORDS",
]

CODEBOOK, CALIBRATION = 2, 10
ENGINE = (1, CALIBRATION, CODEBOOK, 9, 8, 5, 3, 6, 4)  # without the source graph
MANIFEST, CATALOGUE, TEXTS, WORDS = 32, 33, 34, 35
MODEL = 40  # of a model file

# What opening reads comes first, then what a search touches little of.
ORDER = (1, CALIBRATION, CODEBOOK, 9, 8, MANIFEST, 5, 3, CATALOGUE, 6, WORDS, TEXTS, 4)

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
    CATALOGUE: "catalogue",
    TEXTS: "texts",
    WORDS: "words",
}
