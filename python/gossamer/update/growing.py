"""The vectors of an index while it changes: codes, and until there is a codebook the vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.model import Pack
from gossamer.update.hubs import HubVectors
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["GrowingVectors"]

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

# A codebook of its own takes about as much as the vectors of so many chunks, and needs about so
# many to be trained on; more make it better, up to a point.
_LEAST_TO_TRAIN = 2_048
_ENOUGH_TO_TRAIN = 16_384


class GrowingVectors:
    """Takes vectors in and drops them once they are encoded.

    With a codebook (the model's, or the index's own) that is at once. A model without one has its
    vectors kept until there are enough to train it on; with `keep_all` they stay.
    """

    def __init__(
        self,
        index: VectorIndex | None,
        pack: Pack | None,
        code_bytes: int,
        *,
        keep_all: bool,
        hubs: HubVectors | None = None,
    ) -> None:
        self.index = index
        if pack is None and index is not None and index.codebook is not None:
            pack = Pack(index.codebook, index.calibration)  # trained by an earlier update
        self._pack = pack
        self._code_bytes = code_bytes
        self._keep_all = keep_all
        self._hubs = hubs

    @property
    def keeps_vectors(self) -> bool:
        """Whether vectors, not codes, are held now."""
        return self._keep_all or self._pack is None

    def add(self, ids: Ids, vectors: Floats) -> None:
        """Take vectors in, under new ids."""
        if not len(ids):
            return
        if self._hubs is not None:
            self._hubs.add(ids, vectors)
        if self.index is not None:
            self.index.add(vectors, ids)
        elif self.keeps_vectors:
            self.index = VectorIndex.build(
                vectors, metric="ip", keep="all", code_bytes=0, ids=ids, calibrate=False
            )
        else:
            self._start(self._pack).add(vectors, ids)
        self._train_from(_ENOUGH_TO_TRAIN)

    def move(self, old_ids: Ids, new_ids: Ids) -> None:
        """Give what the old ids hold to new ids as well; nothing is computed anew."""
        if not len(old_ids):
            return
        assert self.index is not None
        if self.keeps_vectors:
            self.index.add(self.index.vectors(old_ids), new_ids)
        else:
            self.index.add_codes(new_ids, self.index.codes_of(old_ids))

    def remove(self, ids: Ids) -> None:
        """Take ids out."""
        if len(ids):
            assert self.index is not None
            self.index.delete(ids)

    def settle(self, *, is_last: bool) -> VectorIndex | None:
        """Give the index to save, its deleted places given back; None if it holds nothing.

        With the last vectors of a run a codebook is trained if they are enough for one.
        """
        if self.index is None:
            return None
        if self.index.stats().deleted:
            self.index.compact()
        if is_last:
            self._train_from(_LEAST_TO_TRAIN)
        return self.index

    def _start(self, pack: Pack | None) -> VectorIndex:
        assert pack is not None
        self.index = VectorIndex.create(pack.codebook, calibration=pack.calibration)
        return self.index

    def _train_from(self, least: int) -> None:
        """Train a codebook once there are so many vectors, keep their codes and let them go."""
        if self._keep_all or self._pack is not None or self.index is None:
            return
        if len(self.index) < least:
            return
        ids = self.index.ids
        self.index = VectorIndex.build(
            self.index.vectors(ids),
            metric="ip",
            keep="none",
            code_bytes=self._code_bytes,
            ids=ids,
        )
        assert self.index.codebook is not None
        self._pack = Pack(self.index.codebook, self.index.calibration)
