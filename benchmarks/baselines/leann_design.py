"""LEANN's design as its paper describes it, in our engine: the settings under the paper's names.

Its graph keeps many links at a few hubs and few elsewhere (algorithm 3); its search is steered by
exact distances and looks at the best share of what codes let through (algorithm 2), in batches.
"""

from benchmarks import ours
from benchmarks.datasets import Floats
from gossamer import Effort

M = 60  # the most links of a hub
LOW_M = 6  # m, the most links of any other node
BETA = 0.02  # the share of nodes that are hubs
# The paper's hundredth of a vector would be 15 bytes; twice that is kinder to the design.
CODE_BYTES = 32
# α, the share of the nodes seen by their codes that is embedded; the cheapest counts.
RATIOS = (0.05, 0.1, 0.2)
BATCH = 64


def build(vectors: Floats) -> ours.Index:
    """Build the graph and the codes."""
    return ours.build(
        vectors,
        graph="hub",
        hub_degree=M,
        low_degree=LOW_M,
        hub_share=BETA,
        code_bytes=CODE_BYTES,
    )


def effort(beam: int, ratio: float) -> Effort:
    """Give the record for a queue of length `beam` (ef) and a ratio α."""
    return Effort(beam=beam, ratio=ratio, batch=BATCH)
