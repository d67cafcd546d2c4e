"""What every method takes on disk, as a share of the text."""

from collections.abc import Mapping
from typing import Any

from benchmarks.baselines.sizes import PARTS
from benchmarks.document.markdown import Cell, either, percent, table
from benchmarks.document.records import Record, Records

ITEM = "LEANN Table 1, Figure 3"
TITLE = "Footprint: bytes on disk of every method"
CASES = ("footprint",)
PICTURES = {
    "footprint": "Bytes on disk of every method as a share of the text, by part: all of it on the "
    "left, what lies below a fifth of the text on the right"
}
NAMES = {"graph": "graph, lists", "text": "text again", "rest": "catalogue, rest"}
ZOOM_PERCENT = 20
# A bar that is longer is cut off, with its length written beside it.
LONGEST_PERCENT = 350

# LEANN, Table 1: gigabytes of index metadata and of vectors over 76 GB of text in 60 million chunks
# (section 7.1). BM25's is given as a whole. Section 7.2: DiskANN 270 GB; IVF-Recompute below 5 %.
PAPER_TEXT_GB = 76
PAPER_CHUNKS_M = 60
PAPER_GB = {"BM25": 59, "HNSW": 188, "PQ": 20, "DiskANN": 270, "LEANN": 4}
PAPER_SHARE = 0.05
# Four bytes a link and no more is what the paper's compact graph keeps.
LINK_BYTES = 4
DIM = 384  # of the default model


class Footprints:
    """What the case measured, ready to be compared."""

    def __init__(self, record: Record) -> None:
        details = record.details
        self.whole, self.part = details["whole"], details["part"]
        self.methods: list[dict[str, Any]] = details["methods"]
        self.version = record.versions.get("leann", "")
        # All methods were given the same chunks: of the part, or some of those.
        self._text = self.part["text_bytes"] / self.part["chunks"]

    def bytes_a_chunk(self, method: Mapping[str, Any]) -> float:
        """Give all that a chunk takes."""
        return float(sum(method["bytes_a_chunk"].values()))

    def share(self, method: Mapping[str, Any], part: str | None = None) -> float:
        """Give what a method takes, or a part of it, against the text."""
        taken = method["bytes_a_chunk"]
        return float((sum(taken.values()) if part is None else taken.get(part, 0)) / self._text)

    def find(self, beginning: str) -> dict[str, Any] | None:
        """Give the first method whose name begins so; None if it was not measured."""
        return next((one for one in self.methods if one["name"].startswith(beginning)), None)

    def share_of(self, beginning: str, part: str | None = None) -> float | None:
        """Give the share of the method whose name begins so."""
        method = self.find(beginning)
        return None if method is None else self.share(method, part)

    @property
    def whole_share(self) -> float:
        """Our folder of the whole set against its text."""
        return float(self.whole["total_bytes"] / self.whole["text_bytes"])

    @property
    def plain_share(self) -> float:
        """LEANN's design with its links as plain numbers."""
        design = self._design
        taken = design["bytes_a_chunk"]
        return float((taken["codes"] + taken["rest"] + LINK_BYTES * design["links"]) / self._text)

    @property
    def paper_coded_share(self) -> float:
        """The same with codes of a hundredth of a vector, as the paper's are."""
        codes, vector = self._design["bytes_a_chunk"]["codes"], 4 * DIM
        return self.plain_share - (codes - vector / 100) / self._text

    @property
    def _design(self) -> dict[str, Any]:
        design = self.find("LEANN's design")
        assert design is not None, "it is always measured"
        return design


def write(records: Records) -> list[str]:
    """How it was counted, the table, the paper's numbers beside ours."""
    taken = Footprints(records["footprint"])
    return [_about(taken), _table(taken), *_comparison(taken), _verdict(taken)]


def contradictions(records: Records) -> list[str]:
    """What the paper's five percent leaves out."""
    taken = Footprints(records["footprint"])
    found = []
    if taken.plain_share > PAPER_SHARE:
        found.append(
            f"LEANN's design takes {percent(taken.plain_share)} of the text "
            f"({percent(taken.paper_coded_share)} with codes of a hundredth of a vector, as the "
            "paper's), not less than 5 %."
        )
    published = taken.share_of("leann")
    if published is not None and published > PAPER_SHARE:
        found.append(
            f"The folder of the published leann {taken.version} is {published:.1f} times the text, "
            "not less than 5 % of it."
        )
    return found


def draw(records: Records) -> dict[str, Any]:
    """Stacked bars, once as they are and once close up."""
    from matplotlib import pyplot as plt

    taken = Footprints(records["footprint"])
    methods = taken.methods[::-1]
    names = [method["name"] for method in methods]
    figure, panels = plt.subplots(
        1, 2, figsize=(9, 6), sharey=True, layout="constrained", width_ratios=(3, 2)
    )
    for panel, longest in zip(panels, (LONGEST_PERCENT, ZOOM_PERCENT), strict=True):
        ends = [0.0] * len(methods)
        for part in PARTS:
            widths = [100 * taken.share(method, part) for method in methods]
            panel.barh(names, widths, left=ends, label=NAMES.get(part, part))
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
        for place, end in enumerate(ends):
            if longest == LONGEST_PERCENT or end <= longest:
                _write_length(panel, place, end, longest)
        panel.set_xlim(0, longest * 1.12)
        panel.set_xlabel("% of the text")
        panel.set_axisbelow(True)
    panels[0].axvline(100, color="black", linestyle="--", linewidth=1)
    panels[1].axvline(100 * PAPER_SHARE, color="black", linestyle=":", linewidth=1)
    panels[0].set_title("all (dashed: the text itself)", fontsize=9)
    panels[1].set_title("close up (dotted: 5 %)", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return {"footprint": figure}


def _write_length(panel: Any, place: int, end: float, longest: float) -> None:
    """Beside a bar; inside one that is cut off."""
    says = f"{end:,.0f} %" if end >= 10 else f"{end:.1f} %"
    is_cut = end > longest
    panel.text(
        longest * 1.1 if is_cut else end + longest / 100,
        place,
        f"{says} →" if is_cut else says,
        va="center",
        ha="right" if is_cut else "left",
        color="white" if is_cut else "black",
        fontsize=7,
    )


def _about(taken: Footprints) -> str:
    whole, part = taken.whole, taken.part
    return (
        f"Gossamer's folder over {whole['files']:,} RFCs ({whole['text_bytes'] / 1e6:.0f} MB of "
        f"text, {whole['chunks']:,} chunks) is {whole['total_bytes'] / 1e6:.1f} MB, "
        f"{percent(taken.whole_share, 2)} of the text. All methods are compared on the same "
        f"chunks of {part['files']:,} of these files ({part['text_bytes'] / 1e6:.1f} MB, "
        f"{part['chunks']:,} chunks); the slowest to build were given some of them, as the table "
        "says. Bytes are those of the files they write. Vectors of as many chunks of MDN by the "
        "same model (384 numbers) stand in for those of the RFCs, so that graphs have links as "
        "real ones have; in our own folders vectors of noise do, on whose values no byte depends. "
        "A codebook counts once, for the whole set, and so do pages of a file that are free. "
        "IVF-recompute is worked out, not written. leann was given these chunks and vectors too; "
        "its own chunks overlap by half, and would take more."
    )


def _table(taken: Footprints) -> str:
    parts = [NAMES.get(part, part) for part in PARTS]
    header = ["bytes a chunk", *parts, "total", "% of the text", "chunks", "answers with"]
    return table(header, (_cells(taken, method) for method in taken.methods))


def _cells(taken: Footprints, method: Mapping[str, Any]) -> list[Cell]:
    bytes_a_chunk = method["bytes_a_chunk"]
    parts = [_number(bytes_a_chunk.get(part, 0.0)) for part in PARTS]
    total = _number(taken.bytes_a_chunk(method))
    return [
        method["name"],
        *parts,
        f"**{total}**",
        percent(taken.share(method)),
        f"{method['chunks']:,}",
        method["answers_with"],
    ]


def _number(size: float) -> str:
    if size < 0.05:
        return ""
    return f"{size:,.0f}" if size >= 100 else f"{size:.1f}"


def _comparison(taken: Footprints) -> list[str]:
    here = {
        "HNSW": "faiss HNSW",
        "PQ": "faiss HNSW over PQ",
        "BM25": "FTS5",
        "LEANN": "LEANN's design",
    }
    rows: list[list[Cell]] = []
    for method, size in PAPER_GB.items():
        found = taken.find(here[method]) if method in here else None
        share = "not measured" if found is None else percent(taken.share(found))
        name = "" if found is None else found["name"]
        rows.append([method, f"{size} GB", percent(size / PAPER_TEXT_GB), share, name])
    recompute = taken.share_of("IVF-recompute")
    rows.append(["IVF-Recompute", "", "below 5 %", percent(recompute or 0), "IVF-recompute"])
    rows.append(["", "", "", percent(taken.whole_share), "Gossamer, the whole set"])
    header = ["paper's method", "paper", "paper, % of the text", "here, % of the text", "as"]
    about = (
        f"The paper's figures (quoted) are for {PAPER_TEXT_GB} GB of Wikipedia in "
        f"{PAPER_CHUNKS_M} million chunks and vectors of 768 numbers:"
    )
    return [about, table(header, rows)]


def _verdict(taken: Footprints) -> str:
    design = taken.share_of("LEANN's design") or 0.0
    paper_bytes = 1000 * PAPER_GB["LEANN"] / PAPER_CHUNKS_M
    recompute = taken.share_of("IVF-recompute") or 0.0
    ours = taken.share_of("Gossamer") or 0.0
    sentences = [
        "**Against the paper.**",
        either(
            taken.plain_share > PAPER_SHARE,
            f"LEANN's design keeps {percent(taken.plain_share)} of the text here with links of "
            "four bytes, more than the 5 % claimed",
            f"LEANN's design keeps {percent(taken.plain_share)} of the text here with links of "
            "four bytes, within the 5 % claimed",
        )
        + f" ({percent(design)} with the links packed as our file packs them, and "
        f"{percent(taken.paper_coded_share)} with codes of a hundredth of a vector, as the "
        "paper's, which ask for far more embeddings). The paper's own "
        f"{PAPER_GB['LEANN']} GB are {paper_bytes:.0f} bytes a chunk and "
        f"{percent(PAPER_GB['LEANN'] / PAPER_TEXT_GB)} of its text.",
        either(
            ours < recompute,
            f"Gossamer takes {percent(ours)}, less than IVF-recompute's {percent(recompute)}.",
            f"IVF-recompute is smaller than Gossamer, {percent(recompute)} of the text against "
            f"{percent(ours)}, as the paper finds it smaller than LEANN; what it embeds for that "
            "is in the next section.",
        ),
        *_published(taken),
    ]
    return " ".join(sentences)


def _published(taken: Footprints) -> list[str]:
    """What the released package keeps, which is more than its graph."""
    build = taken.find("leann, command")
    compact = taken.find("leann, compact")
    if build is None or compact is None:
        return ["The published leann package was not installed, and not measured."]
    return [
        f"The published leann {taken.version} writes {taken.share(build):.1f} times the text with "
        f"its command line's defaults and {taken.share(compact):.1f} times with a compact graph: "
        f"texts alone take {taken.share(build, 'text'):.1f} times the text, and there is an index "
        f"of their words. Its graph alone is {percent(taken.share(build, 'graph'))} and "
        f"{percent(taken.share(compact, 'graph'))} of the text. It keeps no codes.",
    ]
