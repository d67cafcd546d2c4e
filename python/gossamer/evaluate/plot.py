"""An evaluation as a picture: recall reached against chunks embedded again. Plain SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from pathlib import Path

from gossamer.evaluate.records import Evaluation, RecallRow
from gossamer.files import write_file
from gossamer.io_errors import explaining
from gossamer.targets import check_vacant

__all__ = ["render_svg", "save_plot"]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 610, 64, 340
# Readable on light and dark alike: whoever shows the picture says which.
_STYLE = """
  svg { background: #fff; font: 13px system-ui, sans-serif; fill: #1c1e21; }
  .title { font-size: 15px; font-weight: 600; }
  .quiet { fill: #5b6168; }
  .grid { stroke: #e3e5e8; }
  .line { stroke: #2563a8; fill: none; stroke-width: 2; }
  .reached { fill: #2563a8; }
  .spread { stroke: #2563a8; opacity: .45; stroke-width: 2; }
  .asked { stroke: #b4530a; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181b; fill: #e6e8ea; }
    .quiet { fill: #9aa1a9; }
    .grid { stroke: #2d3136; }
    .line, .spread { stroke: #6fb1f5; }
    .reached { fill: #6fb1f5; }
    .asked { stroke: #f0a35e; }
  }
"""

_Place = Callable[[float], float]


def render_svg(evaluation: Evaluation) -> str:
    """Draw each asked recall: what it cost, what was reached, and between which bounds."""
    rows = sorted(evaluation.rows, key=lambda row: (row.embedded, row.reached))
    most = max((row.embedded for row in rows), default=0.0) or 1.0
    step = _step(most, 5)
    right = step * math.ceil(most * 1.05 / step)
    floor = min((min(row.low, row.asked) for row in rows), default=0.9)
    bottom = max(0.0, math.floor(floor * 20) / 20)

    def x(embedded: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * embedded / right

    def y(recall: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (recall - bottom) / (1 - bottom)

    across = [step * number for number in range(round(right / step) + 1)]
    up_step = _step(1 - bottom, 6)
    up = [1 - up_step * number for number in range(int((1 - bottom) / up_step + 1e-9) + 1)]
    line = " ".join(f"{x(row.embedded):.1f},{y(row.reached):.1f}" for row in rows)
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img">',
        f"<style>{_STYLE}</style>",
        *_heading(evaluation),
        *(_grid_across(x(value), f"{value:g}") for value in across),
        *(_grid_up(y(value), f"{value:.3g}") for value in up),
        f'<polyline class="line" points="{line}"/>',
        *(_point(row, x, y) for row in rows),
        f'<text x="{(_LEFT + _RIGHT) / 2}" y="{_BOTTOM + 42}" text-anchor="middle">'
        "chunks embedded again for a question</text>",
        f'<text x="18" y="{(_TOP + _BOTTOM) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 18 {(_TOP + _BOTTOM) / 2})">recall@{evaluation.k}</text>',
        "</svg>\n",
    ))  # fmt: skip


def save_plot(evaluation: Evaluation, path: Path, *, replace: bool = False) -> None:
    """Write the picture to a new file, whole or not at all.

    InvalidArgument if there is a file already, unless it is to `replace` it; also for a link, and
    for a path in no folder.
    """
    check_vacant(path, replace)
    with explaining(path, "write"):
        write_file(path, [render_svg(evaluation).encode("utf-8")], is_public=True)


def _heading(evaluation: Evaluation) -> tuple[str, str]:
    among = f"{evaluation.compared_chunks:,} of " if evaluation.is_sample else ""
    about = (
        f"{evaluation.model}, {evaluation.questions} questions, "
        f"{among}{evaluation.chunks:,} chunks; dash: asked, dot: reached, bar: 95 %"
    )
    return (
        f'<text class="title" x="{_LEFT}" y="26">Recall against exact search</text>',
        f'<text class="quiet" x="{_LEFT}" y="46">{escape(about)}</text>',
    )


def _grid_across(x: float, label: str) -> str:
    return (
        f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_BOTTOM}"/>'
        f'<text class="quiet" x="{x:.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{label}</text>'
    )


def _grid_up(y: float, label: str) -> str:
    return (
        f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_RIGHT}" y2="{y:.1f}"/>'
        f'<text class="quiet" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _point(row: RecallRow, x_of: _Place, y_of: _Place) -> str:
    x, y = x_of(row.embedded), y_of(row.reached)
    asked = y_of(row.asked)
    about = (
        f"asked {row.asked:.2f}, reached {row.reached:.3f} "
        f"({row.low:.3f} to {row.high:.3f}), {row.embedded:.1f} chunks embedded"
    )
    return (
        f"<g><title>{about}</title>"
        f'<line class="spread" x1="{x:.1f}" y1="{y_of(row.low):.1f}" '
        f'x2="{x:.1f}" y2="{y_of(row.high):.1f}"/>'
        f'<line class="asked" x1="{x - 9:.1f}" y1="{asked:.1f}" x2="{x + 9:.1f}" y2="{asked:.1f}"/>'
        f'<circle class="reached" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/></g>'
    )


def _step(span: float, parts: int) -> float:
    """Give a round distance that divides a span into about so many parts."""
    rough = span / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * times for times in (1.0, 2.0, 5.0, 10.0) if power * times >= rough - 1e-12)
