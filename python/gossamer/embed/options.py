"""What can be chosen besides the model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EmbedOptions"]


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """What can be chosen besides the model; what does not apply to its kind is ignored."""

    threads: int = 0  # of the CPU; 0: as many as this process may use
    device: str = "auto"  # "cpu", "gpu", or "auto": a GPU if there is one
    # Of a server; GOSSAMER_API_KEY if empty, for the host that GOSSAMER_API_HOST names alone.
    api_key: str = ""
    batch: int = 64  # texts in one request to a server
    max_tokens: int = 0  # of a server's model; 0: a cautious default
    timeout_s: float = 120.0  # for one answer of a server
