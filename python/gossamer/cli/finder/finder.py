"""What was typed and what was found; knows nothing of terminals.

Searches and files are waited for in threads. What they find comes back by `post`, so that all
else happens in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gossamer.cli.answers import Answer, Asked, answer_of_one
from gossamer.cli.finder.latest import Latest
from gossamer.cli.output import printable_path
from gossamer.cli.words import counted, near_path
from gossamer.errors import GossamerError
from gossamer.query.results import has_close

if TYPE_CHECKING:
    from gossamer.query.results import Results
    from gossamer.records import Hit

__all__ = ["Context", "Finder", "passage_of"]

_HITS = 50
# Words are looked for as one types, and meaning when one stops to look.
_PAUSES_S = {"lexical": 0.03, "hybrid": 0.25}
# One that stops has time for files that changed to be brought up to date.
_UPDATES = {"lexical": "never", "hybrid": "auto"}
_MARGIN = 3000  # bytes of text shown around a chunk


@dataclass(frozen=True, slots=True)
class Context:
    """A passage and what stands around it."""

    passage: tuple[object, ...]  # what `passage_of` says of it
    before: str
    text: str
    after: str


def passage_of(hit: Hit) -> tuple[object, ...]:
    """Give what tells passages apart, those too that have no id yet."""
    return hit.id, hit.path, hit.key, hit.start


class Finder:
    """A search that goes on while its question changes."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.answer: Answer | None = None
        self.context: Context | None = None  # of the hit that is looked at
        self.chosen: Hit | None = None  # to open in the end
        self.copied = ""  # the last place that was copied
        self.message = ""
        self.question = ""
        self.is_searching = False
        # What calls a function in the one thread, what draws, and what ends all with an error.
        self.post: Callable[[Callable[[], None]], None] = lambda change: change()
        self.redraw: Callable[[], None] = lambda: None
        self.fail: Callable[[Exception], None] = lambda _: None
        self._place = 0
        self._mode = ""  # of the answer
        self._searches = {
            mode: Latest(partial(self._search, mode), pause_s)
            for mode, pause_s in _PAUSES_S.items()
        }
        self._reader = Latest(self._read, 0)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The hits, best first."""
        return () if self.answer is None else self.answer.found.hits

    @property
    def place(self) -> int:
        """Which hit is looked at, from 0."""
        return self._place

    @property
    def hit(self) -> Hit | None:
        """The hit that is looked at."""
        return self.hits[self._place] if self.hits else None

    @property
    def status(self) -> str:
        """What is to be said of the search."""
        if self.message:
            return self.message
        if self.answer is None:
            return "searching ..." if self.is_searching else "type a question"
        found = self.answer.found
        parts = [counted(len(found.hits), "hit")]
        if found.absent:
            parts.append("nowhere: " + ", ".join(found.absent))
        if self.is_searching:
            return " · ".join([*parts, "by words, meaning follows"])
        if found.hits and not has_close(found.hits):
            parts.append("nothing close")
        if found.stale:
            parts.append(f"{counted(len(found.stale), 'file')} changed, run `gossamer add`")
        parts.append(f"{found.took_ms:.0f} ms")
        return " · ".join(parts)

    def type(self, question: str) -> None:
        """Search for another question."""
        question = question.strip()
        if question == self.question:
            return
        self.question, self.message = question, ""
        self.is_searching = any(map(str.isalnum, question))
        if self.is_searching:
            for search in self._searches.values():
                search.ask(question)
        else:
            self._show(None, "")

    def move(self, by: int) -> None:
        """Look at another hit."""
        if self.hits:
            self._look(min(max(0, self._place + by), len(self.hits) - 1))

    def choose(self) -> bool:
        """Choose the hit that is looked at, to open it; say whether there is one."""
        self.chosen = self.hit
        return self.chosen is not None

    def copy(self) -> str:
        """Give the place of the hit that is looked at, to be copied; nothing if there is none."""
        if self.hit is None:
            return ""
        # Without line ends, which would make a command of what is pasted.
        place = near_path(self.hit.path) + self.hit.location[len(self.hit.path) :]
        self.copied = printable_path(place)
        self.message = f"copied {self.copied}"
        return self.copied

    def close(self) -> bool:
        """End all threads; say whether they have ended: a search cannot be stopped."""
        workers = (*self._searches.values(), self._reader)
        return all([worker.close() for worker in workers])

    def _search(self, mode: str, question: str) -> None:
        if question != self.question:
            return
        try:
            results = self.asked.index.search(question, _HITS, mode=mode, update=_UPDATES[mode])
            self.post(lambda: self._take(mode, question, results))
        except (GossamerError, OSError) as error:
            message = str(error)
            self.post(lambda: self._refuse(question, message))
        except Exception as error:
            fault = error
            self.post(lambda: self.fail(fault))

    def _take(self, mode: str, question: str, results: Results) -> None:
        """Show what was found, unless it is old by now."""
        if question != self.question:
            return
        is_known = self.answer is not None and self.answer.found.question == question
        self.is_searching = mode != "hybrid"
        if is_known and self._mode == "hybrid":
            self.is_searching = False
            self.redraw()
        else:
            self._show(answer_of_one(self.asked, question, results), mode)

    def _refuse(self, question: str, message: str) -> None:
        if question == self.question:
            self.message, self.is_searching = message, False
            self.redraw()

    def _show(self, answer: Answer | None, mode: str) -> None:
        # Who has moved goes on looking at the same hit, wherever it stands now.
        looked_at = passage_of(self.hit) if self.hit is not None and self._place else None
        self.answer, self._mode = answer, mode
        passages = [passage_of(hit) for hit in self.hits]
        self._place = -1
        self._look(passages.index(looked_at) if looked_at in passages else 0)

    def _look(self, place: int) -> None:
        self.message = ""
        if place != self._place:
            self._place = place
            if self.hit is not None:
                self._reader.ask(self.hit)
        self.redraw()

    def _read(self, hit: Hit) -> None:
        context = Context(passage_of(hit), "", hit.text, "")
        try:
            if hit.is_indexed:
                before, _, after = self.asked.index.context(hit.id, _MARGIN)
                context = replace(context, before=before, after=after)
        except (GossamerError, OSError) as error:
            context = replace(context, text=f"{hit.text}\n\n({error})")
        except Exception as error:
            fault = error
            self.post(lambda: self.fail(fault))
            return
        self.post(lambda: self._take_context(context))

    def _take_context(self, context: Context) -> None:
        if self.hit is not None and passage_of(self.hit) == context.passage:
            self.context = context
            self.redraw()
