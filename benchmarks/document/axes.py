"""Axes as several plots have them."""

from typing import Any


def plain_log(axis: Any) -> None:
    """Label a logarithmic axis at 1, 2, 5, 10, … with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())
