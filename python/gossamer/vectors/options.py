"""Options as users write them, turned into the core's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.errors import InvalidArgument
from gossamer.vectors.arrays import as_count, as_number

__all__ = ["SlimOptions", "make_options", "parse_bytes", "parse_strategy", "propose_slim"]

_LARGEST_EFFORT = 2**20
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20}
_UNITS |= {"GIB": 2**30, "TB": 10**12}


_ANY_GRAPH = ("full", "hub", "slim")
# Which graphs an option is for.
_GRAPHS_OF: dict[str, tuple[str, ...]] = {
    "max_degree": _ANY_GRAPH,
    "build_effort": _ANY_GRAPH,
    "level_probability": _ANY_GRAPH,
    "simple_shrink": _ANY_GRAPH,
    "hub_degree": ("hub",),
    "low_degree": ("hub",),
    "hub_share": ("hub",),
    "hub_effort": ("hub",),
    "slim": ("slim",),
}


@dataclass(frozen=True)
class SlimOptions:
    """How far HNSW-Slim prunes; names ending in 0 are the base layer's, the paper's defaults."""

    hub_share0: float = 0.02
    hub_degree0: int = 32
    low_degree0: int = 8
    hub_share: float = 0.02
    hub_degree: int = 16
    low_degree: int = 4
    tradeoff_layer: int = 0
    by_in_degree: bool = False


def make_options(
    dim: int, metric: str, keep: str, graph: str | None, options: Mapping[str, Any]
) -> _core.IndexOptions:
    """Check the options of a build and put them into the core's record."""
    core = _core.IndexOptions()
    core.dim = dim
    core.metric = _choose(_core.Metric, "metric", metric)
    kind, _, budget = str(keep).partition(":")
    core.keep = _choose(_core.Keep, "keep", kind)
    if (kind == "hot") != bool(budget):
        raise InvalidArgument(f"keep must be 'none', 'all' or 'hot:50MB', not {keep!r}")
    if budget:
        core.hot_budget = parse_bytes(budget)
    core.graph = _choose(_core.GraphKind, "graph", graph or "none")
    _check_useful(core, options)
    _apply(core, dict(options))
    if core.keep_source and (core.keep != _core.Keep.all or core.graph != _core.GraphKind.slim):
        raise InvalidArgument(
            "keep_source is for graph='slim' with keep='all': pruning again needs all vectors"
        )
    return core


def _check_useful(core: _core.IndexOptions, options: Mapping[str, Any]) -> None:
    """Refuse an option that would have no effect with this graph."""
    for name in options:
        graphs = _GRAPHS_OF.get(name)
        if graphs is not None and core.graph.name not in graphs:
            raise InvalidArgument(
                f"{name} has no effect with graph={core.graph.name!r}: "
                f"it is for {' and '.join(map(repr, graphs))}"
            )


def _apply(core: _core.IndexOptions, options: dict[str, Any]) -> None:
    build, hub = core.build, core.hub
    build.max_degree = as_count(options.pop("max_degree", build.max_degree), "max_degree")
    build.effort = as_count(options.pop("build_effort", build.effort), "build_effort")
    build.level_probability = as_number(
        options.pop("level_probability", build.level_probability), "level_probability"
    )
    hub.max_degree = as_count(options.pop("hub_degree", hub.max_degree), "hub_degree")
    hub.low_degree = as_count(options.pop("low_degree", hub.low_degree), "low_degree")
    hub.hub_share = as_number(options.pop("hub_share", hub.hub_share), "hub_share")
    hub.effort = as_count(options.pop("hub_effort", hub.effort), "hub_effort", 1, _LARGEST_EFFORT)
    build.simple_shrink = bool(options.pop("simple_shrink", False))
    core.build, core.hub = build, hub
    core.scalar = _choose(_core.Scalar, "scalar", options.pop("scalar", "f16"))
    core.keep_source = bool(options.pop("keep_source", False))
    slim = options.pop("slim", SlimOptions())
    if not isinstance(slim, SlimOptions):
        raise InvalidArgument(f"slim must be a gossamer.SlimOptions, not {slim!r}")
    fields = asdict(slim)
    core.slim_by_in_degree = fields.pop("by_in_degree")
    core_slim = core.slim
    for name, value in fields.items():
        setattr(core_slim, name, value)
    core_slim.level_probability = build.level_probability
    core.slim = core_slim
    if options:
        raise InvalidArgument(f"unknown options: {', '.join(sorted(options))}")


def parse_strategy(name: str) -> _core.Strategy:
    """Turn "two-level" and its kind into the core's enum."""
    strategy: _core.Strategy = _choose(_core.Strategy, "strategy", name.replace("-", "_"))
    return strategy


def parse_bytes(given: str | int) -> int:
    """Read a number of bytes such as 50MB, 1.5GiB or 4096."""
    if isinstance(given, (int, np.integer)):
        return _as_bytes(given)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(given))
    if not isinstance(given, str) or match is None or match[2].upper() not in _UNITS:
        raise InvalidArgument(f"expected a number of bytes such as 50MB, not {given!r}")
    return _as_bytes(int(float(match[1]) * _UNITS[match[2].upper()]))


def _as_bytes(count: int) -> int:
    return as_count(count, "a number of bytes", most=2**63 - 1)


def propose_slim(count: int, budget: str | int) -> tuple[SlimOptions, _core.SlimSize]:
    """Propose the richest slim graph over `count` vectors that fits a number of bytes in memory.

    Gives the options and the size that is expected of them.
    """
    core = _core.propose_slim(count, parse_bytes(budget))
    fields = {
        name: getattr(core, name)
        for name in SlimOptions.__dataclass_fields__
        if hasattr(core, name)
    }
    return SlimOptions(**fields), _core.estimate_slim_bytes(count, core)


def _choose(enum: Any, what: str, name: str) -> Any:
    """Find the member of an enum of the core by its name."""
    members = {member.name: member for member in enum}
    if name not in members:
        choices = ", ".join(repr(choice.replace("_", "-")) for choice in members)
        raise InvalidArgument(f"{what} must be one of {choices}, not {name!r}")
    return members[name]
