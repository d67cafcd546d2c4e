"""The document as a whole: what was run, then one section after the other."""

from types import ModuleType

from benchmarks.document.records import Record, Records
from benchmarks.document.sections import chapters
from benchmarks.scale import FULL, SMALL

INTRODUCTION = {
    FULL: (
        "# Benchmarks\n\nMade by `make bench-full` from the files in "
        "[benchmarks/results](../benchmarks/results); nothing here is typed by hand. How it is "
        "measured, and with which data, is in [benchmarks/README.md](../benchmarks/README.md); a "
        "run of minutes is in [benchmarks-small.md](benchmarks-small.md)."
    ),
    SMALL: (
        "# Benchmarks, the small run\n\nMade by `make bench` from the files in "
        "[benchmarks/results/small](../benchmarks/results/small): the same code as the full run on "
        "less data, in minutes. Numbers that are published come from the full one, "
        "[benchmarks.md](benchmarks.md)."
    ),
}


def page(records: Records, scale: str) -> str:
    """Give the Markdown of all sections that there are results for."""
    blocks = [INTRODUCTION[scale]]
    for chapter, sections in chapters().items():
        written = [block for section in sections for block in _section(section, records, scale)]
        if written:
            blocks += [f"## {chapter}", *written]
    return "\n\n".join(blocks) + "\n"


def pictures_of(section: ModuleType) -> dict[str, str]:
    """Give the names of a section's plots and what they show."""
    pictures: dict[str, str] = getattr(section, "PICTURES", {})
    return pictures


def _section(section: ModuleType, records: Records, scale: str) -> list[str]:
    shown = [records[case] for case in section.CASES if case in records]
    if section.CASES[0] not in records:
        return []
    item = f" ({section.ITEM})" if section.ITEM else ""
    blocks = [f"### {section.TITLE}{item}", *section.write(records)]
    folder = "../benchmarks/results" + ("" if scale == FULL else f"/{SMALL}")
    blocks += [f"![{alt}]({folder}/{name}.svg)" for name, alt in pictures_of(section).items()]
    return [*blocks, "<sub>" + "; ".join(_origin(record, folder) for record in shown) + "</sub>"]


def _origin(record: Record, folder: str) -> str:
    machine = f"{record.machine['cpu']}, {record.machine['cores']} cores"
    took = f", {record.seconds:.0f} s" if record.seconds else ""
    where = f"[{record.case}.json]({folder}/{record.case}.json)"
    return f"{where}: commit {record.commit}, {record.date[:10]}, {machine}{took}"
