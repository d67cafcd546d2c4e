"""Several rankings into one."""

from gossamer.query.fusion import fuse


def ids(fused) -> list[int]:
    return [one.id for one in fused]


def test_what_both_rankings_hold_goes_before_what_one_holds():
    fused = fuse({"semantic": [1, 2, 3], "lexical": [4, 2, 5]})

    assert ids(fused)[0] == 2
    assert fused[0].ranks == {"semantic": 2, "lexical": 2}


def test_one_ranking_keeps_its_order():
    assert ids(fuse({"semantic": [7, 3, 9]})) == [7, 3, 9]


def test_equals_go_by_their_best_place_and_then_by_id():
    assert ids(fuse({"semantic": [8, 2], "lexical": [2, 8]})) == [2, 8]
    assert ids(fuse({"semantic": [5], "lexical": [4]})) == [4, 5]


def test_no_rankings_give_no_hits():
    assert fuse({}) == fuse({"semantic": []}) == []
