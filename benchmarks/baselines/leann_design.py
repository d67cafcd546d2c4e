"""LEANN's design as its paper describes it, in our engine: the settings under the paper's names.

Its graph keeps many links at a few hubs and few elsewhere (algorithm 3); its search is steered by
exact distances and looks at the best share of what codes let through (algorithm 2), in batches.
"""

from dataclasses import dataclass
from typing import Any

from benchmarks import ours
from benchmarks.datasets import Floats
from gossamer import Effort


@dataclass(frozen=True)
class Links:
    """How many links are kept, by the paper's letters (its section 5: m = M/5, β of 3 to 5 %)."""

    most: int  # M, of a hub
    low: int  # m, of any other node
    share: float = 0.04  # β, of nodes that are hubs

    @property
    def name(self) -> str:
        """The setting as a table shows it."""
        return f"M={self.most}, m={self.low}, β={100 * self.share:.0f} %"


# About the paper's 9 links a node; and nearly twice as many, which ask for less in more bytes.
NARROW, WIDE = Links(30, 6), Links(60, 12)
# The paper's hundredth of a vector would be 15 bytes; twice that is kinder to the design.
CODE_BYTES = 32
# α, the share of the nodes seen by their codes that is embedded; the cheapest counts.
RATIOS = (0.03, 0.05, 0.1, 0.2)
# Large batches keep a GPU busy and embed more; on a CPU small ones are cheaper.
BATCHES = (1, 64)


def build(vectors: Floats, links: Links = NARROW, **options: Any) -> ours.Index:
    """Build the graph and the codes, which `options` may bring along."""
    return ours.build(
        vectors,
        graph="hub",
        hub_degree=links.most,
        low_degree=links.low,
        hub_share=links.share,
        **({"code_bytes": CODE_BYTES} | options),
    )


def effort(beam: int, ratio: float, batch: int) -> Effort:
    """Give the record for a queue of length `beam` (ef) and a ratio α."""
    return Effort(beam=beam, ratio=ratio, batch=batch)
