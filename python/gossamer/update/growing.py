"""The vectors of an index while it changes: codes, and until there is a codebook the vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CodebookMismatch, MissingCodebook
from gossamer.models.packs import Pack
from gossamer.store import Changes, Settings, Snapshot
from gossamer.store.segments import SegmentCatalogue, stamp_of
from gossamer.store.writer import Recoded
from gossamer.update.hubs import HubVectors
from gossamer.vectors.arrays import check_finite
from gossamer.vectors.codes import Codebook
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

    With a codebook (the model's, or the index's own) that is at once, and codes go into the
    segment with everything else. A model without one has its vectors kept in a file of their own
    until there are enough to train it on; with `keep = "all"` they stay there.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        settings: Settings,
        hubs: HubVectors | None = None,
    ) -> None:
        self._code_bytes = settings.code_bytes
        self._keep_all = settings.keep == "all"
        self._is_following = bool(snapshot.manifest.origin)
        self._hubs = hubs
        own = snapshot.own_codebook()
        self._pack = snapshot.pack if own is None else Pack(*own)
        # Those that are not codes in the segments; None where all are.
        self.index: VectorIndex | None = None
        if not snapshot.has_codes:
            self.index = snapshot.open_vectors()
            # Codes that are there were made with their own codebook, whatever ships by now.
            if self.index is not None and self.index.codebook is not None:
                self._pack = Pack(self.index.codebook, self.index.calibration)
        elif snapshot.catalogue.chunk_count:
            _check_codes(snapshot, self._pack)

    @property
    def keeps_vectors(self) -> bool:
        """Whether vectors, not codes, are held now."""
        return self._keep_all or self._pack is None

    @property
    def codebook(self) -> Codebook | None:
        """What makes the codes that go into segments; None where vectors are in their own file."""
        is_apart = self.keeps_vectors or self.index is not None or self._is_following
        return None if is_apart or self._pack is None else self._pack.codebook

    @property
    def own_pack(self) -> Pack | None:
        """The codebook that was trained for this index."""
        return self._pack

    def begin(self, changes: Changes, catalogue: SegmentCatalogue) -> None:
        """Go on with new changes, to what the catalogue says is there."""
        self._changes = changes
        self._catalogue = catalogue

    def add(self, ids: Ids, vectors: Floats) -> None:
        """Take vectors in, under new ids."""
        if not len(ids):
            return
        if self._hubs is not None:
            self._hubs.add(ids, vectors)
        if self._changes.has_codes:
            assert self._pack is not None, "codes have a codebook"
            check_finite(vectors)
            self._changes.add_codes(ids, self._pack.codebook.encode(vectors))
            return
        if self.index is not None:
            self.index.add(vectors, ids)
        else:
            self.index = VectorIndex.build(
                vectors, metric="ip", keep="all", code_bytes=0, ids=ids, calibrate=False
            )
        self._train_from(_ENOUGH_TO_TRAIN)

    def move(self, old_ids: Ids, new_ids: Ids) -> None:
        """Give what the old ids hold to new ids as well; nothing is computed anew."""
        if not len(old_ids):
            return
        if self._changes.has_codes:
            codes = self._catalogue.core.codes_of(old_ids.astype(np.uint64))
            self._changes.add_codes(new_ids, codes)
            return
        assert self.index is not None
        if self._keep_all or self.index.codebook is None:
            self.index.add(self.index.vectors(old_ids), new_ids)
        else:
            self.index.add_codes(new_ids, self.index.codes_of(old_ids))

    def remove(self, ids: Ids) -> None:
        """Take ids out."""
        if len(ids) and not self._changes.has_codes:
            assert self.index is not None
            self.index.delete(ids)

    def settle(self, *, is_last: bool) -> VectorIndex | Recoded | None:
        """Give what to save beside the segments, its deleted places given back; None for nothing.

        With the last vectors of a run a codebook is trained if they are enough for one. From then
        on there are codes, for all chunks at first.
        """
        # An index that follows another one has its vectors just as they were sent.
        if self.index is None or self._is_following:
            return None
        if self.index.stats().deleted:
            self.index.compact()
        if is_last:
            self._train_from(_LEAST_TO_TRAIN)
        if self.keeps_vectors:
            return self.index
        assert self._pack is not None
        ids, codebook = self.index.ids, self._pack.codebook
        has_codes = self.index.codebook is not None
        codes = self.index.codes_of(ids) if has_codes else codebook.encode(self.index.vectors(ids))
        self.index = None
        return Recoded(codebook, ids, codes)

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


def _check_codes(snapshot: Snapshot, pack: Pack | None) -> None:
    """Refuse to put codes beside those of another codebook."""
    if pack is None:
        raise MissingCodebook(
            f"{snapshot.folder}: its codes need the codebook of {snapshot.manifest.model.name!r}"
        )
    catalogue = snapshot.catalogue
    if isinstance(catalogue, SegmentCatalogue) and catalogue.core.stamp != stamp_of(pack.codebook):
        raise CodebookMismatch(
            f"{snapshot.folder}: its codes were made with another codebook than this release has "
            f"for {snapshot.manifest.model.name!r}; make the index anew"
        )
