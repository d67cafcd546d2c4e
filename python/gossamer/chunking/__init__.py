"""From a document to the chunks that are embedded and found.

A reader says how a text is marked up; one module for each markup finds its headings and the places
where it may be cut (`Outline`), and the rest is the same for all: finer places are added where the
markup leaves long stretches (`cuts`), the cheapest way through them is taken (`partition`), and
each piece is given the headings it stands under (`context`) and counted.
"""

from gossamer.chunking.chunks import chunk_document
from gossamer.chunking.context import embedded_text

__all__ = ["chunk_document", "embedded_text"]
