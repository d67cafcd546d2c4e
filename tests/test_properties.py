"""Properties that are worked out once."""

from __future__ import annotations

import threading

from gossamer.properties import cached_property


def test_a_property_is_worked_out_once():
    class Thing:
        count = 0

        @cached_property
        def value(self) -> int:
            """What is counted."""
            self.count += 1
            return self.count

    thing = Thing()

    assert (thing.value, thing.value, Thing().value) == (1, 1, 1)
    assert isinstance(Thing.value, cached_property)


def test_properties_that_ask_for_each_other_on_two_threads_do_not_wait_for_ever():
    both = threading.Barrier(2, timeout=10)

    class Thing:
        def __init__(self, is_first: bool) -> None:
            self.is_first = is_first

        @cached_property
        def one(self) -> int:
            """What another thing says, for the first."""
            if not self.is_first:
                return 1
            both.wait()
            return Thing(False).two

        @cached_property
        def two(self) -> int:
            """Likewise."""
            if not self.is_first:
                return 2
            both.wait()
            return Thing(False).one

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(Thing(True).one), daemon=True),
        threading.Thread(target=lambda: found.append(Thing(True).two), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert sorted(found) == [1, 2]
