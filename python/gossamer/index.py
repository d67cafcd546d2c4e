"""`Index`: search over your own files and texts, with the place where each answer stands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from gossamer.files import absolute
from gossamer.filters import combine
from gossamer.model import IndexModel, Share
from gossamer.places import is_address
from gossamer.progress import ProgressCallback
from gossamer.query.options import SearchOptions, query_of
from gossamer.query.passages import Passages
from gossamer.query.places import passage_at
from gossamer.query.remote import RemoteChunks
from gossamer.query.results import Results
from gossamer.query.run import Query, run_query
from gossamer.records import Hit
from gossamer.rerankers import KeptRerankers, Reranker
from gossamer.status import IndexStatus, read_status
from gossamer.store import Snapshot, open_index
from gossamer.store.check import Finding, check
from gossamer.store.folder import read_manifest
from gossamer.store.manifest import Site
from gossamer.store.stale import note_stale
from gossamer.store.trust import accept
from gossamer.update.answer import answer
from gossamer.update.create import create_index
from gossamer.update.index import ChangeableIndex, asks
from gossamer.update.prepare import GivenText
from gossamer.update.report import UpdateReport
from gossamer.update.session import UpdateSession
from gossamer.vectors.options import parse_bytes

if TYPE_CHECKING:
    from gossamer.single.export import ExportReport
    from gossamer.sync.follow import PullReport
    from gossamer.sync.records import Conflict
    from gossamer.sync.send import PushReport

__all__ = ["Index"]


class Index(ChangeableIndex):
    """An index folder: files and texts go in, cited hits come out.

    Any number of processes may search one index while one changes it; each search sees the state
    that was committed last.
    """

    def __init__(self, snapshot: Snapshot, model: IndexModel) -> None:
        super().__init__(snapshot, model)
        self._rerankers = KeptRerankers()

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        *,
        model: str | None = None,
        chunk_tokens: int = 0,
        code_bytes: int | None = None,
        store_text: bool = False,
        keep: str = "none",
        lexical: str = "scan",
        threads: int = 0,
    ) -> Self:
        """Make an empty index in a new or empty folder.

        `model` is a name, a folder of model files or the address of a server; the user's default
        if not given. Chunks hold up to `chunk_tokens` of the model's tokens (0: all it takes).
        `store_text` keeps a compressed copy of all text, for files that will move. `keep` says
        which vectors stay: "none", "hot:50MB" (those asked for lately), "all". `lexical` is
        "scan" (no index bytes) or "fts5" (an SQLite index, for more than a gigabyte of text).
        """
        create_index(
            Path(folder),
            model,
            chunk_tokens=chunk_tokens,
            code_bytes=code_bytes,
            store_text=store_text,
            keep=keep,
            lexical=lexical,
            threads=threads,
        )
        return cls.open(folder, threads=threads)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        model: str = "",
        threads: int = 0,
        share: Share | None = None,
        trust: bool = False,
        base_url: str = "",
        url_style: str = "",
    ) -> Self:
        """Open an index; NoIndex if there is none.

        `model` says where its model is now, if it has moved; another model is refused. `share`
        may put something in front of the model, such as a SharedEmbedder for many threads.

        One that was neither made nor accepted on this machine (`is_trusted`) is searched by what
        it holds itself: files, paths and addresses that it names are not followed, and what would
        need them raises Untrusted. With `trust` they are.

        For `folder` stands also the address of a file that `export` wrote,
        "https://host/index.gossamer", on any host that gives byte ranges: of it is fetched what
        questions need, and kept within a bound. It is searched, and never changed or trusted.

        `base_url` says where people read what was indexed: the `url` of a hit leads there.
        `url_style` is what that site makes of Markdown and reStructuredText: "html" (the usual:
        a.md is a.html), "folder" (a.md is a/) or "file" (a.md is a.md).
        """
        site = Site.named(base_url, url_style)
        if isinstance(folder, str) and is_address(folder):
            from gossamer.remote.snapshot import open_file

            snapshot: Snapshot = open_file(folder, trust=trust)
        else:
            snapshot = open_index(folder, trust=trust)
        snapshot.site_named = site
        return cls(snapshot, IndexModel(snapshot, threads, model, share))

    @classmethod
    def follow(
        cls,
        url: str,
        folder: str | os.PathLike[str],
        *,
        mode: str | None = None,
        texts: str | None = None,
        budget: str | int | None = None,
        token: str = "",
        model: str = "",
        threads: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Follow a server's index from a new or empty folder, or go on with one; pull it.

        `mode` is what is kept of each chunk: "codes" (the usual), "hot:50MB" (and some vectors),
        "slim", "slim:int8", "slim:f16:8" (a graph and all vectors). `texts` are "kept" (the usual)
        or "away", which asks the server for them. With a `budget` such as "50MB" a slim mode that
        fits is chosen. `token` is the server's, or GOSSAMER_TOKEN; it is kept in the folder.
        `model` says where the model is, if the server's name of it means nothing here.
        """
        from gossamer.sync.follow import Wish, follow

        size = None if budget is None else parse_bytes(budget)
        follow(url, Path(folder), Wish(mode, texts, size, token, model)).pull(progress)
        return cls.open(folder, threads=threads)

    @classmethod
    def import_file(
        cls,
        path: str | os.PathLike[str],
        folder: str | os.PathLike[str],
        *,
        replace: bool = False,
        model: str = "",
        threads: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Make an index of a file that `export` or a page wrote, in a new or empty folder.

        All of it is checked before anything is made. An index that is in the folder already gives
        way to it with `replace`, and is an error otherwise. `model` says where its model is on
        this machine: a file that names an address or a path is refused without it.
        """
        from gossamer.single.importing import import_single_file

        import_single_file(
            Path(path), Path(folder), model=model, replace=replace, progress=progress
        )
        return cls.open(folder, threads=threads)

    @property
    def is_trusted(self) -> bool:
        """Whether the index was made or accepted on this machine, or opened with `trust`."""
        return self.snapshot.is_trusted

    def accept(self) -> None:
        """Remember on this machine that the index is trusted in this place, as it is now."""
        accept(self.folder, read_manifest(self.folder))

    @asks
    def search(self, question: str, k: int = 5, **options: Unpack[SearchOptions]) -> Results:
        """Find the k best chunks for a question; fewer where no more differ or pass the filters.

        `options` are those of `SearchOptions`: `mode`, `rerank`, `reranker`, `plain`, `recall`,
        `where`, `paths`, `types`, `after`, `before`, `full`, `distinct`, `per_file`, `min_score`,
        `update`.

        In the question `"exact phrase"`, `+word`, `-word`, `path:`, `type:` and `title:` say what
        a hit must hold or be; what of it is nowhere is in `absent`. Each hit says how sure it is:
        its `probability` to answer the question and, in a word, its `strength`.
        """
        query = query_of(question, k, options, self._load_reranker)
        return self._run(query, options.get("update", "never"))

    @asks
    def similar(
        self,
        place: int | str,
        k: int = 5,
        *,
        recall: float = 0.90,
        where: str | Mapping[str, object] | None = None,
        paths: Sequence[str] = (),
        types: Sequence[str] = (),
        full: bool = False,
    ) -> Results:
        """Find chunks like the one with this id, or the one at "PATH:LINE", without itself."""
        snapshot, model = self.now()
        passages = Passages(snapshot, _server_of(snapshot))
        if isinstance(place, int):
            passage = passages.get(place)
        else:
            passage = passage_at(snapshot, passages, place)
        condition = combine(where=where, paths=paths, types=types)
        return self._run(
            Query(
                passage.body,
                k,
                "semantic",
                recall,
                filter=None if condition is None else condition.key,
                is_plain=True,
                excluded=(passage.id,),
                vector=model.embedder.embed([passage.embedded])[0],
                highlight="",
                full=full,
            ),
        )

    @asks
    def get(self, id: int) -> Hit:
        """Give a chunk by its id; UnknownId if it is gone or its text has changed.

        Unreachable if its text is kept by a server alone that does not answer; so for `context`.
        """
        snapshot = self.snapshot
        return Passages(snapshot, _server_of(snapshot)).hit(id)

    @asks
    def context(self, id: int, margin: int = 600) -> tuple[str, Hit, str]:
        """Give a chunk with up to `margin` bytes of the text before and after it."""
        snapshot = self.snapshot
        return Passages(snapshot, _server_of(snapshot)).context(id, margin)

    def status(self) -> IndexStatus:
        """Say what the index holds, what it takes, and whether its files have changed since."""
        return read_status(self.snapshot)

    def compact(self, *, wait_s: float = 0.0) -> tuple[int, int]:
        """Give all space of what was removed back; say how many bytes there were and are."""
        before = self.status().total_bytes
        with self._begin("compact", wait_s) as writer:
            session = UpdateSession(writer, self.model, UpdateReport())
            with closing(session):
                session.commit(True, is_compact=True)
        return before, self.status().total_bytes

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        vectors: str = "none",
        graph: str = "none",
        root_name: str = "",
        base_url: str = "",
        url_style: str = "",
        replace: bool = False,
        progress: ProgressCallback | None = None,
    ) -> ExportReport:
        """Write the index as one file, with all texts, for pages and static hosts; say what is in.

        Sources whose files have changed since are left out, and `left_out` names them. Folders
        are called by the last part of their path, or `root_name`: no path of this machine is in
        the file. `vectors` are "none" (codes, as the index has them), "f16" or "int8": all of
        them, with a `graph` if it is "slim" or "full". `base_url` and `url_style` are those of
        `open`, and whoever searches the file is led there. InvalidArgument if a file is there that
        is no export of this index, unless it is to `replace` it.
        """
        from gossamer.single.engine import EngineChoice
        from gossamer.single.export import ExportOptions, write_single_file

        self.folder  # noqa: B018 - WrongState where there is none
        options = ExportOptions(
            EngineChoice(vectors, graph),
            root_name,
            replaces=replace,
            is_public=True,
            site=Site.named(base_url, url_style),
        )
        return write_single_file(*self.now(), absolute(path), options, progress)

    def pull(self, progress: ProgressCallback | None = None, *, again: bool = False) -> PullReport:
        """Bring an index that follows a server up to date; say what came.

        Unreachable if the server does not answer: the index stays as it was. `again` takes all
        of it anew, also from a server that was put back to an older state.
        """
        from gossamer.sync.follow import Edge

        return Edge.open(self.folder, trust=self.trust).pull(progress, again=again)

    def push(
        self,
        texts: Iterable[GivenText | Mapping[str, object]] = (),
        removed: Iterable[str] = (),
        files: Iterable[str | os.PathLike[str]] = (),
    ) -> PushReport:
        """Send changes to the server that the index follows, and pull; say what became of both.

        `texts` as for `add_texts`; `removed` are ids of texts and names of files that were pushed.
        Changes are written down first. Unreachable if the server does not answer: they wait
        then, and the next push, also one without changes of its own, sends them.
        """
        from gossamer.sync.follow import Edge
        from gossamer.sync.send import Outgoing, push

        outgoing = Outgoing(texts, removed, [Path(file) for file in files])
        return push(Edge.open(self.folder, trust=self.trust), outgoing)

    def conflicts(self, after: int = 0) -> list[Conflict]:
        """Ask the server for changes that took the place of others, behind a number."""
        from gossamer.sync.follow import Edge

        with Edge.open(self.folder, trust=self.trust).client() as client:
            return client.conflicts(after)

    def conflict(self, number: int) -> Conflict:
        """Ask the server for a conflict with the text that was replaced; UnknownId if none."""
        from gossamer.sync.follow import Edge

        with Edge.open(self.folder, trust=self.trust).client() as client:
            return client.conflict(number)

    def check(self, *, deep: bool = True) -> list[Finding]:
        """Verify everything in the folder; nothing if all is well."""
        return check(self.folder, deep, trust=self.trust)

    def _load_reranker(self, place: str | Reranker) -> Reranker:
        return self._rerankers.get(place, self._current[1].threads)

    def _run(self, query: Query, update: str = "never") -> Results:
        return answer(self, query, self._ask, update)

    def _ask(self, query: Query) -> Results:
        snapshot, model = self.now()
        results = run_query(snapshot, model, query, _server_of(snapshot))
        snapshot.save_hot()
        if results.stale and snapshot.is_trusted:
            note_stale(self.folder, results.stale)
        return results


def _server_of(snapshot: Snapshot) -> RemoteChunks | None:
    """Give the server that an index follows, for one question; None if it follows none."""
    if not snapshot.manifest.origin:
        return None
    from gossamer.sync.remote_chunks import remote_chunks_of

    return remote_chunks_of(snapshot)
