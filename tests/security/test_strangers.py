"""Every command over indexes that strangers made: see fuzz_trust.py."""

import os
import sys

import pytest
from fuzz_trust import fuzz

# By hand there are 100,000: `make fuzz-trust`.
CASES = 2000


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
def test_no_index_of_a_stranger_reaches_beyond_itself():
    ran, faults = fuzz(0, CASES, "1", os.cpu_count() or 1)

    assert faults == []
    assert sum(count for what, count in ran.items() if what.startswith("cases ")) == CASES
    # What was made is not all refused at the door.
    assert ran["search 0"] > CASES / 2
    assert ran["import 0"] > CASES / 50
    assert ran["add 0"] > CASES / 20
