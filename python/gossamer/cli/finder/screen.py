"""The screen of `gossamer` alone: a line to type in, hits, and the text of the one looked at."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    Container,
    Dimension,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from gossamer.cli.finder.finder import passage_of
from gossamer.cli.finder.lines import LINES_OF_A_HIT, Pieces, context_lines, hit_lines
from gossamer.cli.output import printable

if TYPE_CHECKING:
    from gossamer.cli.finder.finder import Finder

__all__ = ["Screen", "run"]

_STYLE = Style.from_dict(
    {
        "path": "bold ansimagenta",
        "title": "bold",
        "match": "bold ansired",
        "quiet": "ansibrightblack",
        "chosen": "reverse",
    }
)
_WIDE = 100  # columns from which hits and text stand side by side
_LOW = 16  # rows below which there is no room for the text
_KEYS = "Enter open · ↑ ↓ move · ^Y copy place · F1 help · Esc quit"
_HELP = """\
type          words are looked for at once,
              meaning when you pause
↑ ↓  ^P ^N    another hit; PageUp, PageDown
Enter         open it in your editor
^Y            copy its place
^U            clear the line
F1, first ?   show or hide this
Esc, ^C       quit

`gossamer open N` knows the hits later.
"exact phrase", +word, -word, type:pdf,
path:docs and title:lease narrow a search.
"""


class _Ended(SystemExit):
    """Another process asked us to end."""


def run(finder: Finder) -> None:
    """Let a person search until a hit is chosen, or they quit."""
    screen = Screen(finder)
    # Its own handler would ask for a key after a fault; ours ends the program as any other does.
    screen.application.run(pre_run=screen.begin, set_exception_handler=False)


class Screen:
    """What is drawn and which keys there are."""

    def __init__(self, finder: Finder, **options: Any) -> None:
        """Make the application; `options` are for it, such as another output."""
        self._finder = finder
        self._has_help = False
        self._buffer = Buffer(multiline=False, on_text_changed=self._type)
        self.application: Application[None] = Application(
            layout=Layout(self._container()),
            key_bindings=self._bindings(),
            style=_STYLE,
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            full_screen=True,
            **options,
        )
        # Esc is a key here; what terminals send after it comes at once.
        self.application.ttimeoutlen = self.application.timeoutlen = 0.05

    def begin(self) -> None:
        """Connect the finder with the loop that runs now."""
        loop, application, finder = asyncio.get_running_loop(), self.application, self._finder

        def end_with(error: BaseException) -> None:
            if not application.is_done:
                application.exit(exception=error)

        def post(change: Any) -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(change)

        finder.post, finder.redraw, finder.fail = post, application.invalidate, end_with
        loop.set_exception_handler(
            lambda _, said: end_with(said.get("exception") or RuntimeError(said["message"]))
        )
        with suppress(NotImplementedError, ValueError):  # Windows, or not the main thread
            loop.add_signal_handler(signal.SIGTERM, lambda: end_with(_Ended(128 + signal.SIGTERM)))

    def _container(self) -> Container:
        # Whatever is in them, both get as much of the room.
        half = Dimension(preferred=0, weight=1)
        prompt = Window(
            BufferControl(self._buffer, input_processors=[BeforeInput("> ", "class:title")]),
            height=1,
        )
        self._hits = Window(
            FormattedTextControl(
                self._hit_pieces,
                show_cursor=False,
                get_cursor_position=lambda: Point(0, LINES_OF_A_HIT * self._finder.place),
            ),
            always_hide_cursor=True,
            width=half,
            height=half,
        )
        self._text = Window(
            FormattedTextControl(self._text_pieces), wrap_lines=True, width=half, height=half
        )
        return HSplit(
            [
                prompt,
                Window(FormattedTextControl(self._status_pieces), height=1),
                DynamicContainer(self._body),
                Window(FormattedTextControl([("class:quiet", _KEYS)]), height=1),
            ]
        )

    def _body(self) -> Container:
        size = get_app().output.get_size()
        if self._has_help:
            return self._text
        if size.columns >= _WIDE:
            return VSplit([self._hits, Window(width=1, char="│", style="class:quiet"), self._text])
        if size.rows < _LOW:
            return self._hits
        return HSplit([self._hits, Window(height=1, char="─", style="class:quiet"), self._text])

    def _hit_pieces(self) -> Pieces:
        columns = get_app().output.get_size().columns
        width = (columns - 1) // 2 if columns >= _WIDE else columns
        return [
            piece
            for place, hit in enumerate(self._finder.hits)
            for piece in hit_lines(hit, place == self._finder.place, width)
        ]

    def _text_pieces(self) -> Pieces:
        hit, context = self._finder.hit, self._finder.context
        if self._has_help:
            return [("", _HELP)]
        if hit is None or context is None or passage_of(hit) != context.passage:
            return []
        return context_lines(context, hit)

    def _status_pieces(self) -> Pieces:
        return [("class:quiet", printable(self._finder.status).replace("\n", " "))]

    def _bindings(self) -> KeyBindings:
        keys, finder = KeyBindings(), self._finder
        is_empty = Condition(lambda: not self._buffer.text)

        def on(*names: str, **options: Any) -> Any:
            """Bind a method without arguments to each of these keys."""

            def bind(act: Any) -> Any:
                for name in names:
                    keys.add(name, eager=True, **options)(lambda event: act(event))
                return act

            return bind

        on("up", "c-p")(lambda _: finder.move(-1))
        on("down", "c-n")(lambda _: finder.move(1))
        on("pageup")(lambda _: finder.move(-self._page()))
        on("pagedown")(lambda _: finder.move(self._page()))
        on("enter")(lambda event: finder.choose() and event.app.exit())
        on("escape", "c-c", "c-d")(lambda event: event.app.exit())
        on("c-y")(self._copy)
        on(Keys.BracketedPaste)(self._paste)
        on("f1")(self._toggle_help)
        on("?", filter=is_empty)(self._toggle_help)
        return keys

    def _type(self, buffer: Buffer) -> None:
        self._has_help = False
        self._finder.type(buffer.text)

    def _paste(self, event: KeyPressEvent) -> None:
        """Take what is pasted as one line, as the line that one types in is."""
        self._buffer.insert_text(" ".join(event.data.split()))

    def _page(self) -> int:
        info = self._hits.render_info
        return max(1, (info.window_height if info else 0) // LINES_OF_A_HIT)

    def _toggle_help(self, _: KeyPressEvent) -> None:
        self._has_help = not self._has_help

    def _copy(self, event: KeyPressEvent) -> None:
        """Have the terminal copy the place (OSC 52), where it can."""
        if place := self._finder.copy():
            coded = base64.b64encode(place.encode("utf-8", "replace")).decode("ascii")
            event.app.output.write_raw(f"\x1b]52;c;{coded}\x07")
            event.app.output.flush()
