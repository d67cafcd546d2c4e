"""`Index`: search over your own files and texts, with the place where each answer stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gossamer.chunking import Chunker
from gossamer.embed import load_embedder
from gossamer.errors import InvalidArgument, UnknownId, WrongState
from gossamer.files import absolute
from gossamer.filters import combine
from gossamer.model import Share, shipped_pack, stamp_of
from gossamer.models import default_model
from gossamer.places import is_address
from gossamer.progress import ProgressCallback
from gossamer.query.opened import OpenedIndex, OpenedState
from gossamer.query.remote import RemoteChunks
from gossamer.query.results import Results
from gossamer.query.run import Query, run_query
from gossamer.readers import Limits
from gossamer.records import Hit
from gossamer.sources.folder import WalkOptions
from gossamer.status import IndexStatus, read_status
from gossamer.store import Settings, Writer, begin
from gossamer.store.check import Finding, check
from gossamer.store.folder import open_index, read_manifest
from gossamer.store.manifest import MANIFEST, Manifest
from gossamer.store.stale import note_stale
from gossamer.store.trust import accept
from gossamer.store.vacant import check_is_free
from gossamer.update.add import PathsToAdd, add_paths, add_texts, remove_sources
from gossamer.update.given import in_batches
from gossamer.update.prepare import GivenText
from gossamer.update.report import UpdateProgress, UpdateReport, Watcher
from gossamer.update.session import UpdateSession
from gossamer.update.together import add_texts_together
from gossamer.vectors.options import parse_bytes

if TYPE_CHECKING:
    from gossamer.single.export import ExportReport
    from gossamer.sync.follow import PullReport
    from gossamer.sync.records import Conflict
    from gossamer.sync.send import PushReport
    from gossamer.update.adopt import AdoptReport

__all__ = ["Index"]

# Bytes of code for a chunk where the model ships no codebook of another size.
_CODE_BYTES = 32
_LEAST_CODE_BYTES, _MOST_CODE_BYTES = 2, 64  # what the engine takes
_LEAST_CHUNK_TOKENS = 32
_KEEPS = "none, all, or hot:BYTES such as hot:50MB"


class Index:
    """An index folder: files and texts go in, cited hits come out.

    Any number of processes may search one index while one changes it; each search sees the state
    that was committed last.
    """

    def __init__(self, opened: OpenedIndex) -> None:
        self._opened = opened

    @property
    def folder(self) -> Path:
        """Where the index is; WrongState for one that is a file at an address."""
        return self._opened.folder

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
        embedder = load_embedder(model or default_model(), threads=threads)
        size = chunk_tokens or embedder.max_tokens
        if not _LEAST_CHUNK_TOKENS <= size <= embedder.max_tokens:
            raise InvalidArgument(
                f"chunk_tokens must be {_LEAST_CHUNK_TOKENS} to {embedder.max_tokens} for "
                f"{embedder.name}, got {chunk_tokens}"
            )
        pack = shipped_pack(embedder.fingerprint)
        own = _CODE_BYTES if pack is None else pack.codebook.code_bytes
        settings = Settings(
            code_bytes=own if code_bytes is None else _check_code_bytes(code_bytes, embedder.dim),
            store_text=store_text,
            keep=_check_keep(keep),
            lexical=_check_lexical(lexical),
        )
        folder = Path(folder)
        if not (folder / MANIFEST).exists():  # said later, when no other process makes it
            check_is_free(folder)
        with begin(folder, "create") as writer:
            if writer.snapshot is not None:
                raise InvalidArgument(
                    f"there is an index in {folder} already; open it, or choose another folder"
                )
            stamp = stamp_of(embedder, size)
            writer.commit(
                writer.changes(), save_vectors=None, model=stamp, settings=settings, roots=()
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
        """
        if isinstance(folder, str) and is_address(folder):
            return cls(_open_file(folder, model, threads, share, trust))
        return cls(OpenedIndex(Path(folder), model, threads, share, trust=trust, connect=_connect))

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
        return self._opened.state.snapshot.is_trusted

    def accept(self) -> None:
        """Remember on this machine that the index is trusted in this place, as it is now."""
        accept(self.folder, read_manifest(self.folder))

    @property
    def opened(self) -> OpenedIndex:
        """What questions read, for those who serve the index to others."""
        return self._opened

    def add_paths(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        options: WalkOptions | None = None,
        reset_options: bool = False,
        limits: Limits | None = None,
        chunker: Chunker | None = None,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> UpdateReport:
        """Bring files and folders into the index: only what is new or changed is read.

        What was indexed below them and is gone from the disk leaves the index. Without `paths`
        everything that was added before is brought up to date; of what is not there or cannot be
        read then, what was indexed is kept, and `problems` of the report names it. `options` are
        added to those that the paths came with before, or take their place (`reset_options`).
        `chunker` cuts what is read, in place of Gossamer: see `add_texts`.
        Locked if another process changes the index and does not finish within `wait_s`.
        `prepare` is called once none does, and may still change the files.
        """
        given = None if paths is None else [absolute(path) for path in paths]
        to_add = PathsToAdd(given, options, reset_options, limits or Limits(), chunker)
        with self._begin_change("add", wait_s) as writer:
            if prepare is not None:
                prepare()
            return add_paths(writer, self._opened.model, to_add, progress or _silent)

    def add_texts(
        self,
        texts: Iterable[GivenText | Mapping[str, object]],
        *,
        chunker: Chunker | None = None,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
    ) -> UpdateReport:
        """Put texts in under ids of their own; one whose id is there already takes its place.

        One that is there just so is left as it is.

        Texts of a list are one change; those of an iterator are taken in as they come, some
        thousands at a time, and never all in memory.

        A text is a GivenText, or a mapping with "id" and "text", and "title", "markup" ("plain",
        "markdown", ...) and "metadata" if wanted. Their text is kept, compressed.

        `chunker` cuts texts in place of Gossamer: it is called with a `Document` and how many
        tokens a chunk may have, and gives `ChunkSpan`s in bytes of the text, which may overlap.
        It is not remembered: what is added without it later is cut as usual.
        """
        batches = in_batches(texts)
        first = next(batches)  # what is wrong with them is said before anything is done
        with self._begin_change("add", wait_s) as writer:
            given = chain([first], batches)
            return add_texts(writer, self._opened.model, given, progress or _silent, chunker)

    def add_texts_together(
        self,
        groups: Sequence[Sequence[GivenText]],
        *,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
    ) -> list[UpdateReport]:
        """Put texts of several givers in as one change, with a report for each of them.

        No id may be in two groups. It takes hardly longer than one group alone.
        """
        with self._begin_change("add", wait_s) as writer:
            return add_texts_together(writer, self._opened.model, groups, progress or _silent)

    def remove(
        self, names: Sequence[str | os.PathLike[str]], *, wait_s: float = 0.0
    ) -> UpdateReport:
        """Take out texts by id, files by path, and everything below folders.

        A str is the id of a text if there is such a text, else a path. Names of nothing are
        passed over.
        """
        if not all(os.fspath(name) for name in names):
            raise InvalidArgument("a name to remove is the id of a text or a path, not empty")
        known = [(name if isinstance(name, str) else "", absolute(name)) for name in names]
        with self._begin_change("remove", wait_s) as writer:
            return remove_sources(writer, self._opened.model, known, _silent)

    def search(
        self,
        question: str,
        k: int = 5,
        *,
        mode: str = "hybrid",
        recall: float = 0.90,
        where: str | Mapping[str, object] | None = None,
        paths: Sequence[str] = (),
        types: Sequence[str] = (),
        after: str | None = None,
        before: str | None = None,
        full: bool = False,
    ) -> Results:
        """Find the k best chunks for a question: always min(k, what the filters let through).

        `mode` is "hybrid" (by meaning and by words), "semantic" or "lexical". `recall` is the
        share of the truly nearest chunks to find by meaning. `where` is an expression over
        metadata such as `lang == "en" and year >= 2020`; `paths` are globs, `types` kinds of
        files, `after` and `before` dates of files. With `full` snippets are whole chunks.
        """
        if not any(map(str.isalnum, question)):
            raise InvalidArgument(f"a question needs a word or a number, got {question!r}")
        condition = combine(where=where, paths=paths, types=types, after=after, before=before)
        filter = None if condition is None else condition.key
        return self._run(Query(question, k, mode, recall, filter, full=full))

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
        passage = self._opened.ask(
            lambda state: (
                state.passage(_check_id(place))
                if isinstance(place, int)
                else state.passage_at(place)
            )
        )
        condition = combine(where=where, paths=paths, types=types)
        return self._run(
            Query(
                passage.body,
                k,
                "semantic",
                recall,
                None if condition is None else condition.key,
                excluded=(passage.id,),
                vector=self._opened.model.embedder.embed([passage.embedded])[0],
                highlight="",
                full=full,
            ),
        )

    def get(self, id: int) -> Hit:
        """Give a chunk by its id; UnknownId if it is gone or its text has changed.

        Unreachable if its text is kept by a server alone that does not answer; so for `context`.
        """
        return self._opened.ask(lambda state: state.hit(_check_id(id)))

    def context(self, id: int, margin: int = 600) -> tuple[str, Hit, str]:
        """Give a chunk with up to `margin` bytes of the text before and after it."""
        return self._opened.ask(lambda state: state.context(_check_id(id), margin))

    def status(self) -> IndexStatus:
        """Say what the index holds, what it takes, and whether its files have changed since."""
        return self._opened.ask(lambda state: read_status(state.snapshot))

    def compact(self, *, wait_s: float = 0.0) -> tuple[int, int]:
        """Give all space of what was removed back; say how many bytes there were and are."""
        before = self.status().total_bytes
        with self._begin("compact", wait_s) as writer:
            session = UpdateSession(writer, self._opened.model, UpdateReport())
            with closing(session):
                session.commit(True, is_compact=True)
        return before, self.status().total_bytes

    def adopt(
        self, other: str | os.PathLike[str], *, trust: bool = False, wait_s: float = 0.0
    ) -> AdoptReport:
        """Put all that the index in another folder holds into this one; say what came.

        Nothing is read or embedded again: its texts and codes are taken over, and its files are
        followed from now on. Its sources take the place of those of the same path or id. The
        other index stays as it is. Untrusted if that was neither made nor accepted on this
        machine, unless it is to be trusted. ModelMismatch, WrongState or InvalidArgument if the
        two are not of one kind.
        """
        from gossamer.update.adopt import adopt_index

        folder = absolute(other)
        if folder == self.folder:
            raise InvalidArgument("an index holds already what it holds; give another one")
        snapshot = open_index(folder, trust=trust)
        if not snapshot.is_trusted:
            raise snapshot.refusal("it is not put into another one")
        with self._begin_change("adopt", wait_s) as writer:
            return adopt_index(writer, self._opened.model, snapshot)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        vectors: str = "none",
        graph: str = "none",
        root_name: str = "",
        replace: bool = False,
        progress: ProgressCallback | None = None,
    ) -> ExportReport:
        """Write the index as one file, with all texts, for pages and static hosts; say what is in.

        Sources whose files have changed since are left out, and `left_out` names them. Folders
        are called by the last part of their path, or `root_name`: no path of this machine is in
        the file. `vectors` are "none" (codes, as the index has them), "f16" or "int8": all of
        them, with a `graph` if it is "slim" or "full". InvalidArgument if a file is there that is
        no export of this index, unless it is to `replace` it.
        """
        from gossamer.single.engine import EngineChoice
        from gossamer.single.export import ExportOptions, write_single_file

        self.folder  # noqa: B018 - WrongState where there is none
        options = ExportOptions(
            EngineChoice(vectors, graph), root_name, replaces=replace, is_public=True
        )
        return write_single_file(self._opened.state, absolute(path), options, progress)

    def pull(self, progress: ProgressCallback | None = None, *, again: bool = False) -> PullReport:
        """Bring an index that follows a server up to date; say what came.

        Unreachable if the server does not answer: the index stays as it was. `again` takes all
        of it anew, also from a server that was put back to an older state.
        """
        from gossamer.sync.follow import Edge

        return Edge.open(self.folder, trust=self._opened.trust).pull(progress, again=again)

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
        return push(Edge.open(self.folder, trust=self._opened.trust), outgoing)

    def conflicts(self, after: int = 0) -> list[Conflict]:
        """Ask the server for changes that took the place of others, behind a number."""
        from gossamer.sync.follow import Edge

        with Edge.open(self.folder, trust=self._opened.trust).client() as client:
            return client.conflicts(after)

    def conflict(self, number: int) -> Conflict:
        """Ask the server for a conflict with the text that was replaced; UnknownId if none."""
        from gossamer.sync.follow import Edge

        with Edge.open(self.folder, trust=self._opened.trust).client() as client:
            return client.conflict(number)

    def check(self, *, deep: bool = True) -> list[Finding]:
        """Verify everything in the folder; nothing if all is well."""
        pack = self._opened.model.pack
        codebook = None if pack is None else pack.codebook
        return check(self.folder, deep, codebook, trust=self._opened.trust)

    @contextmanager
    def _begin(self, command: str, wait_s: float) -> Iterator[Writer]:
        """Open the index for changes; NoIndex, and nothing is made, if it has gone meanwhile."""
        read_manifest(self.folder)
        with begin(self.folder, command, wait_s, trust=self._opened.trust) as writer:
            yield writer

    @contextmanager
    def _begin_change(self, command: str, wait_s: float) -> Iterator[Writer]:
        """Open the index for changes of its own; WrongState if it follows a server's."""
        with self._begin(command, wait_s) as writer:
            if writer.snapshot is not None and (origin := writer.snapshot.manifest.origin):
                raise WrongState(
                    f"this index follows {origin.get('url', 'a server')}; "
                    "`gossamer push` sends changes there"
                )
            yield writer

    def _run(self, query: Query) -> Results:
        if query.k < 1:
            raise InvalidArgument(f"k must be at least 1, got {query.k}")
        return self._opened.ask(lambda state: self._run_in(state, query))

    def _run_in(self, state: OpenedState, query: Query) -> Results:
        results = run_query(state, query)
        state.save_hot()
        if results.stale and state.snapshot.is_trusted:
            note_stale(self.folder, results.stale)
        return results


def _connect(folder: Path, manifest: Manifest) -> RemoteChunks | None:
    """Give the server that an index follows, for one search."""
    from gossamer.sync.remote_chunks import remote_chunks_of

    return remote_chunks_of(folder, manifest)


def _open_file(url: str, model: str, threads: int, share: Share | None, trust: bool) -> OpenedIndex:
    """Open a file at an address."""
    from gossamer.remote.opened import OpenedFile

    if trust:
        raise InvalidArgument(
            "a file at an address is not trusted, as its host may replace it at any time; fetch it "
            "and import it, to have an index of your own"
        )
    return OpenedFile(url, model, threads, share)


def _check_id(id: int) -> int:
    if not 0 < id < 1 << 63:
        raise UnknownId(f"there is no chunk {id} in the index")
    return id


def _check_code_bytes(code_bytes: int, dim: int) -> int:
    most = min(_MOST_CODE_BYTES, dim + 1)
    if not _LEAST_CODE_BYTES <= code_bytes <= most:
        raise InvalidArgument(
            f"code_bytes must be {_LEAST_CODE_BYTES} to {most} for this model, got {code_bytes}"
        )
    return code_bytes


def _check_keep(keep: str) -> str:
    kind, _, budget = keep.partition(":")
    if kind == "hot":
        parse_bytes(budget)
    elif keep not in ("none", "all"):
        raise InvalidArgument(f"keep must be {_KEEPS}; got {keep!r}")
    return keep


def _check_lexical(lexical: str) -> str:
    if lexical not in ("scan", "fts5"):
        raise InvalidArgument(f"lexical must be 'scan' or 'fts5', got {lexical!r}")
    return lexical


def _silent(_: UpdateProgress) -> None:
    pass
