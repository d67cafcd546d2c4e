"""The document as a whole: what was run, then one section after the other."""

from collections.abc import Mapping
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
CONTRADICTIONS = "What contradicts the papers or our own documents"
COMPARISON = "**Against the paper"


def page(records: Records, scale: str) -> str:
    """Give the Markdown of all sections that there are results for."""
    shown = {
        chapter: [section for section in sections if is_shown(section, records)]
        for chapter, sections in chapters().items()
    }
    blocks = [INTRODUCTION[scale], _contents(shown)]
    if said := _contradictions(
        [section for sections in shown.values() for section in sections], records
    ):
        blocks += [f"## {CONTRADICTIONS}", said]
    for chapter, sections in shown.items():
        if sections:
            blocks.append(f"## {chapter}")
        for section in sections:
            blocks += _section(section, records, scale)
    return "\n\n".join(blocks) + "\n"


def is_shown(section: ModuleType, records: Records) -> bool:
    """Whether there is a result that a section cannot do without."""
    return section.CASES[0] in records


def pictures_of(section: ModuleType, records: Records) -> dict[str, str]:
    """Give the names of a section's plots that there are results for, and what they show."""
    needs: Mapping[str, str] = getattr(section, "NEEDS", {})
    return {
        name: alt
        for name, alt in getattr(section, "PICTURES", {}).items()
        if needs.get(name, section.CASES[0]) in records
    }


def _contents(shown: Mapping[str, list[ModuleType]]) -> str:
    lines = [
        f"- {chapter}: " + ", ".join(_link(section) for section in sections)
        for chapter, sections in shown.items()
        if sections
    ]
    return "\n".join(lines)


def _contradictions(sections: list[ModuleType], records: Records) -> str:
    """Give a line for each that a section names, with a link to it."""
    return "\n".join(
        f"- {said} ({_link(section)})"
        for section in sections
        if hasattr(section, "contradictions")
        for said in section.contradictions(records)
    )


def _section(section: ModuleType, records: Records, scale: str) -> list[str]:
    item = f" ({section.ITEM})" if section.ITEM else ""
    heading = f'<a id="{_name(section)}"></a>\n\n### {section.TITLE}{item}'
    folder = "../benchmarks/results" + ("" if scale == FULL else f"/{SMALL}")
    pictures = [
        f"![{alt}]({folder}/{name}.svg)" for name, alt in pictures_of(section, records).items()
    ]
    written = list(section.write(records))
    place = next((i for i, text in enumerate(written) if text.startswith(COMPARISON)), len(written))
    shown = [records[case] for case in section.CASES if case in records]
    return [heading, *written[:place], *pictures, *written[place:], _origins(shown, folder)]


def _origins(records: list[Record], folder: str) -> str:
    """Say of every result where it comes from; those of one run together."""
    runs: dict[str, list[Record]] = {}
    for record in records:
        machine = f"{record.machine['cpu']}, {record.machine['cores']} cores"
        if gpu := record.machine.get("gpu"):
            machine += f", {gpu}"
        run = f"commit {record.commit}, {record.date[:10]}, {machine}"
        runs.setdefault(run, []).append(record)
    said = [
        ", ".join(f"[{one.case}.json]({folder}/{one.case}.json)" for one in together) + f": {run}"
        for run, together in runs.items()
    ]
    return "<sub>" + "; ".join(said) + "</sub>"


def _link(section: ModuleType) -> str:
    return f"[{section.ITEM or section.TITLE}](#{_name(section)})"


def _name(section: ModuleType) -> str:
    return section.__name__.rpartition(".")[2].replace("_", "-")
