"""What all routes share: the index and its one model, turns of searches and changes, the offer."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.embed import Embedder
from gossamer.embed.shared import SharedEmbedder
from gossamer.errors import GossamerError
from gossamer.files import absolute
from gossamer.index import Index
from gossamer.model import Embedders
from gossamer.once import once
from gossamer.server.changes import ChangeQueue
from gossamer.server.errors import Forbidden
from gossamer.server.gate import Gate
from gossamer.server.metrics import Metrics
from gossamer.server.options import ServeOptions
from gossamer.server.uploads import Uploads
from gossamer.status import bytes_by_part
from gossamer.store.folder import read_manifest

if TYPE_CHECKING:
    from gossamer.sync.offer import Offer

__all__ = ["Service"]

_LOG = logging.getLogger("gossamer.server")
_READS_AT_ONCE = 8
_READS_WAITING = 512


class Service:
    """An index that is served. Close it, or the change in hand is not ended in good order."""

    def __init__(self, folder: Path, options: ServeOptions) -> None:
        """Open the index of a folder; NoIndex if there is none."""
        self.options = options
        self.metrics = Metrics()
        self._shared: list[SharedEmbedder] = []
        self.index = Index.open(folder, threads=options.threads, share=self._share)
        self.uploads = Uploads(folder)
        self.searches = Gate("searches", options.searches_at_once, options.searches_waiting)
        self.reads = Gate("reads", _READS_AT_ONCE, _READS_WAITING)
        self.changes = ChangeQueue(options.changes_waiting, options.change_wait_s)

    @once
    def offer(self) -> Offer:
        """What edges follow; made when the first of them asks."""
        from gossamer.sync.offer import Offer

        options = self.options
        return Offer(
            self.index,
            token=options.token,
            history_bytes=options.history_bytes,
            uploads=self.uploads.folder,
        )

    def roots_of(self, paths: list[str]) -> list[Path]:
        """Give the index's roots that hold these paths; Forbidden for a path outside all of them.

        Links are followed first: one that leads out of a root is outside.
        """
        known = [Path(root) for root in read_manifest(self.index.folder).roots]
        real = {root: _real(root) for root in known}
        found = set()
        for path in paths:
            target = _real(absolute(path))
            holding = [root for root in known if target.is_relative_to(real[root])]
            if not holding:
                raise Forbidden(
                    f"{path!r} is not below a folder of this index; only its owner can add "
                    "others, with `gossamer add` where the server runs"
                )
            found.update(holding)
        return sorted(found)

    def refresh_metrics(self) -> None:
        """Count anew what is not counted as it happens."""
        manifest = read_manifest(self.index.folder)
        index, waiting = self.metrics.index, self.metrics.waiting
        index.labels("version").set(manifest.generation)
        index.labels("chunks").set(manifest.counts.get("chunks", 0))
        index.labels("bytes").set(sum(bytes_by_part(self.index.folder).values()))
        waiting.labels("searches").set(self.searches.inside)
        waiting.labels("reads").set(self.reads.inside)
        waiting.labels("changes").set(self.changes.waiting)
        waiting.labels("embedding").set(sum(shared.waiting for shared in self._shared))

    def warm_up(self) -> None:
        """Load the model and the index before the first question; what fails then says why."""
        try:
            self.index.search("warm", k=1)
        except GossamerError as error:
            _LOG.warning("the index cannot be searched: %s", error)

    def close(self) -> None:
        """Finish searches, end the change in hand at a safe point, and let go of everything."""
        self.changes.close()
        self.searches.close()
        self.reads.close()
        if "offer" in vars(self):
            self.offer.close()
        self.index.opened.save_hot()
        for shared in self._shared:
            shared.close()

    def _share(self, embedder: Embedder) -> Embedders:
        shared = SharedEmbedder(
            embedder,
            memory_bytes=self.options.memory_bytes,
            on_round=self.metrics.note_round,
        )
        self._shared.append(shared)
        return Embedders(shared, shared.in_background)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise Forbidden(f"{str(path)!r} leads nowhere that could be read") from None
