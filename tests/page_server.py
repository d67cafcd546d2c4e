"""A server with a page to look at, over notes that are hard to show."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from gossamer.index import Index
from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions

HOSTILE = '<img src="/hostile.png" onerror="window.hacked = 1"><script>window.hacked = 2</script>'
# Says how strongly two colors differ, as WCAG counts it.
CONTRAST = """([a, b]) => {
  const light = (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    const [red, green, blue] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}"""


@dataclass(frozen=True)
class Served:
    """A running server and the folder it answers from."""

    url: str
    port: int
    folder: Path


def make_index(folder: Path) -> None:
    """Index notes that are long, hostile, wide, and not of one language."""
    notes = folder / "notes"
    notes.mkdir()
    paragraphs = [f"Paragraph {number} of the sea.\n" for number in range(1, 81)]
    whales = ["Whales eat krill, which their baleen holds back."]
    text = "\n".join([*paragraphs[:39], *whales, "", *paragraphs[39:]])
    (notes / "whales.md").write_text(f"# Whales\n\n{text}", encoding="utf-8")
    (notes / "hostile.md").write_text(
        f"# <b>Hostile</b> whale\n\nhostile `{HOSTILE}`\n", encoding="utf-8"
    )
    (notes / "plankton.md").write_text("# Seas\n\n𝔸🐋 with plankton\n", encoding="utf-8")
    (notes / "whale.py").write_text("python = whale_length = 30\n", encoding="utf-8")
    wide = f"{'wide-name-' * 15}.md"
    (notes / wide).write_text(f"# {'Wide' * 40}\n\nwhale {'x' * 300}\n", encoding="utf-8")
    Index.create(folder / "index", chunk_tokens=64).add_paths([notes])


@contextmanager
def serve(
    folder: Path, *, token: str = "", port: int = 0, read_only: bool = False
) -> Iterator[Served]:
    """Run a server on a port of its own; connections wait until it is up."""
    app = create_app(folder / "index", ServeOptions(token=token, read_only=read_only))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{port}", port, folder)
        finally:
            server.should_exit = True
            thread.join()
