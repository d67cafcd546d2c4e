"""Properties that are worked out once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

_MISSING = object()

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - called as the library's
        """What functools has, without its lock.

        In Python 3.11 all objects of a class share one lock for a property, which is held while it
        is worked out: where two properties ask for each other's, on two threads, both wait for
        ever. Without it two threads may work out the same value; the last one is kept.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            known = instance.__dict__.get(self.attrname, _MISSING)
            if known is _MISSING:
                known = instance.__dict__[self.attrname] = self.func(instance)
            return known
