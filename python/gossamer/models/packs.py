"""Codebooks that ship with models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gossamer.models import codebook_for
from gossamer.vectors.codes import Codebook
from gossamer.vectors.model_pack import Calibration, unpack_codebook

__all__ = ["Pack", "fitting_pack", "shipped_pack"]


@dataclass(frozen=True, slots=True)
class Pack:
    """A codebook, and what each recall costs with it if that was measured."""

    codebook: Codebook
    calibration: Calibration | None


@cache
def shipped_pack(fingerprint: str) -> Pack | None:
    """Give the codebook that ships with a model; None if none does."""
    data = codebook_for(fingerprint)
    return None if data is None else Pack(*unpack_codebook(data))


def fitting_pack(fingerprint: str, code_bytes: int) -> Pack | None:
    """Give the codebook that ships with a model, if codes of this size are its."""
    pack = shipped_pack(fingerprint)
    return pack if pack is not None and pack.codebook.code_bytes == code_bytes else None
