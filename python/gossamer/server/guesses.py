"""Wrong tokens: whoever sends some of them waits, and does not get around it by asking at once."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

__all__ = ["Guesses"]

# Wrong tokens that may be a mistake. Each one after them waits twice as long as the one before.
_FREE = 5
_FIRST_S, _LONGEST_S = 0.25, 4.0
# So many wait at once: of one address, and of all.
_AT_ONCE, _ALL_AT_ONCE = 4, 64
_MOST_ADDRESSES = 4096
_FORGET_S = 600.0
_KNOWN_S = 3600.0
# Networks hand out blocks of this size, and one machine has all addresses of its block.
_BITS_OF_NETWORK = 64


@dataclass
class _Tries:
    """What came from one address."""

    wrong: int = 0
    last: float = 0.0
    waiting: int = 0


class Guesses:
    """Remembers for a while which addresses sent wrong tokens, and which the right one."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._tries: OrderedDict[str, _Tries] = OrderedDict()  # the latest last
        self._known: OrderedDict[str, float] = OrderedDict()
        self._waiting = 0

    @property
    def retry_s(self) -> int:
        """When whoever was refused may come again."""
        return math.ceil(_LONGEST_S)

    async def wait(self, client: str, is_right: bool) -> bool:
        """Let a token wait before it is answered; False if too many wait, and it must not be.

        From an address that sent wrong ones the right one waits too, or it would show itself by
        its haste, and who guesses need not wait for any other. An address that showed the right
        one before is let in at once: others who share it cannot lock it out.
        """
        address = _network_of(client)
        if is_right and self._is_known(address):
            return True
        tries = self._tries_of(address)
        seconds = _pause_after(tries.wrong)
        if seconds and (tries.waiting >= _AT_ONCE or self._waiting >= _ALL_AT_ONCE):
            return False
        if not is_right:
            self._note_wrong(address, tries)
        if seconds:
            await self._hold(tries, seconds)
        if is_right:
            self._note_right(address)
        return True

    def _is_known(self, address: str) -> bool:
        if self._clock() - self._known.get(address, -math.inf) > _KNOWN_S:
            return False
        self._note_right(address)
        return True

    def _tries_of(self, address: str) -> _Tries:
        tries = self._tries.get(address)
        if tries is None or (not tries.waiting and self._clock() - tries.last > _FORGET_S):
            return _Tries()
        return tries

    def _note_wrong(self, address: str, tries: _Tries) -> None:
        tries.wrong += 1
        tries.last = self._clock()
        self._tries[address] = tries
        _keep_latest(self._tries, address)

    def _note_right(self, address: str) -> None:
        self._known[address] = self._clock()
        _keep_latest(self._known, address)

    async def _hold(self, tries: _Tries, seconds: float) -> None:
        # It waits whether or not its client does: a place that is given up would be free.
        tries.waiting += 1
        self._waiting += 1
        try:
            await self._sleep(seconds)
        finally:
            tries.waiting -= 1
            self._waiting -= 1


def _pause_after(wrong: int) -> float:
    """Give how long a token waits that comes after so many wrong ones."""
    if wrong < _FREE:
        return 0.0
    return min(_LONGEST_S, _FIRST_S * 2.0 ** min(wrong - _FREE, 60))


def _keep_latest(found: OrderedDict[str, _Tries] | OrderedDict[str, float], address: str) -> None:
    found.move_to_end(address)
    if len(found) > _MOST_ADDRESSES:
        found.popitem(last=False)


def _network_of(client: str) -> str:
    """Give what stands for all addresses that a client may have."""
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        return client
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), _BITS_OF_NETWORK), strict=False))
