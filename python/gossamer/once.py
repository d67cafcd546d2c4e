"""Values that are made when first asked for, and once, whichever threads ask."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["once"]

T = TypeVar("T")

_LOCK = "_lock_of_once"


class once(Generic[T]):  # noqa: N801 - a decorator, as `property` is
    """A property that is computed once for each object; other threads wait for it.

    `functools.cached_property` may compute it in several threads at a time, and what they get
    differs: two caches, or two models in memory. What it raises is not remembered.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: object, owner: type) -> T: ...

    def __get__(self, holder: object | None, owner: type) -> Self | T:
        if holder is None:
            return self
        values = vars(holder)
        # One lock for all properties of an object: they ask for each other.
        with values.setdefault(_LOCK, RLock()):
            if self._name not in values:
                # Found there from now on, before this is asked.
                values[self._name] = self._make(holder)
        value: T = values[self._name]
        return value
