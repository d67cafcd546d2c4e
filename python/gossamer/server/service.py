"""What all routes share: the index and its one model, turns of searches and changes, the offer."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from gossamer.embed import Embedder
from gossamer.embed.shared import SharedEmbedder
from gossamer.files import absolute
from gossamer.index import Index
from gossamer.model import Embedders
from gossamer.rerankers import Reranker, load_reranker
from gossamer.server.changes import ChangeQueue
from gossamer.server.errors import Forbidden
from gossamer.server.gate import Gate
from gossamer.server.joint import JointPushes, JointTexts
from gossamer.server.metrics import Metrics
from gossamer.server.offering import Offering
from gossamer.server.options import ServeOptions
from gossamer.server.single_files import SingleFiles
from gossamer.status import bytes_by_part
from gossamer.store.folder import read_manifest
from gossamer.sync.uploads import UPLOADS, Uploads

__all__ = ["Service"]

_LOG = logging.getLogger("gossamer.server")
_READS_AT_ONCE, _READS_WAITING = 8, 512
# Edges have threads of their own: however many ask, nobody else waits for them.
_EDGES_AT_ONCE, _EDGES_WAITING = 4, 512
# How long all that is in hand may take to end; what does not is left as it is.
_PATIENCE_S = 10.0


class Service:
    """An index that is served. Close it, or the change in hand is not ended in good order."""

    def __init__(self, folder: Path, options: ServeOptions) -> None:
        """Open the index of a folder; NoIndex if there is none, Untrusted if it is not ours."""
        self.options = options
        self.patience_s = _PATIENCE_S
        self.has_ended = False
        self.metrics = Metrics()
        self._shared: dict[str, SharedEmbedder] = {}
        self._sharing = threading.Lock()
        self.index = Index.open(
            folder,
            threads=options.threads,
            share=self._share,
            base_url=options.base_url,
            url_style=options.url_style,
        )
        if not self.index.is_trusted:
            raise self.index.snapshot.refusal("it is not served")
        # The server's own: a client that could name one would have addresses asked.
        self.reranker: Reranker | None = None
        if options.reranker is not None:
            self.reranker = load_reranker(options.reranker, options.threads)
        self.uploads = Uploads(folder / UPLOADS)
        if not options.read_only:
            self.uploads.sweep()
        self.searches = Gate("searches", options.searches_at_once, options.searches_waiting)
        self.reads = Gate("reads", _READS_AT_ONCE, _READS_WAITING)
        self.edges = Gate("requests of edges", _EDGES_AT_ONCE, _EDGES_WAITING)
        self.changes = ChangeQueue(options.changes_waiting, options.change_wait_s)
        self.offering = Offering(self.index, self.uploads.folder, options)
        self.single_files = SingleFiles(self.index)
        self.texts = JointTexts(self.index, options.lock_wait_s)
        self.pushes = JointPushes(self.offering)

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
        waiting.labels("edges").set(self.edges.inside)
        waiting.labels("embedding").set(sum(one.waiting for one in list(self._shared.values())))

    def warm_up(self) -> None:
        """Load the model and the index before the first question; what fails then says why."""
        try:
            self.index.search("warm", k=1, reranker=self.reranker)
        except Exception as error:
            _LOG.warning("the index cannot be searched: %s", error)

    def close(self) -> None:
        """Finish searches, end the change in hand at a safe point, and let go of everything.

        What does not end in a few seconds is left as it is.
        """
        until = time.monotonic() + self.patience_s
        self.changes.stop()
        self.single_files.close()
        gates = (self.changes, self.searches, self.reads, self.edges)
        are_done = [gate.close(until - time.monotonic()) for gate in gates]
        if not all(are_done):
            _LOG.warning("some requests did not end in time; they are left as they are")
            return
        self.offering.close()
        self.index.save_hot()
        for shared in self._shared.values():
            shared.close()
        self.has_ended = True

    def _share(self, embedder: Embedder) -> Embedders:
        """Share a model, once however often it is loaded; let go of the one before it.

        It is another one where an index was deleted and made anew.
        """
        with self._sharing:
            shared = self._shared.get(embedder.fingerprint)
            if shared is None:
                for other in self._shared.values():
                    other.close()
                shared = SharedEmbedder(
                    embedder,
                    memory_bytes=self.options.memory_bytes,
                    on_round=self.metrics.note_round,
                )
                self._shared = {embedder.fingerprint: shared}
        return Embedders(shared, shared.in_background)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise Forbidden(f"{str(path)!r} leads nowhere that could be read") from None
