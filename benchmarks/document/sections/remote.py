"""A file at an address, asked from Python."""

from benchmarks.document.markdown import Cell, either, percent, table
from benchmarks.document.records import Record, Records

ITEM = ""
TITLE = "A file at an address: what questions fetch of it"
CASES = ("remote_question",)
HEADER = (
    "",
    "first question, MB",
    "of the file",
    "requests",
    "each further, MB",
    "requests",
    "all 21, MB",
    "opened again, all 21, KB",
)


def write(records: Records) -> list[str]:
    """Bytes and requests of each mode, for each way of exporting."""
    record = records["remote_question"]
    answers = record.rows_like("answers")
    differing = sum(row["bar"] - row["ours"] for row in answers)
    files = {name: one for name, one in record.details.items() if "sections" in one}
    sizes = ", ".join(f"{one['bytes'] / 1e6:.1f} MB ({name})" for name, one in files.items())
    chunks = next(iter(files.values()))["chunks"]
    return [
        f"MDN with the model `pocket`, {chunks:,} chunks, as one file on a static host: {sizes}. "
        "Nothing of it is here at first; what was fetched is kept. "
        + either(
            differing == 0,
            "All answers are those of the index here.",
            f"{differing:.0f} answers differ from those of the index here.",
        ),
        table(HEADER, [_cells(record, name) for name in record.details if name not in files]),
        "The first question by meaning fetches all codes, and all vectors of a file that has them; "
        "further ones then need fewer texts, as no chunk is embedded again.",
    ]


def _cells(record: Record, name: str) -> list[Cell]:
    first = record.row(f"{name}: first question, B")
    return [
        name,
        first["ours"] / 1e6,
        percent(first["ours"] / first["rival"]),
        record.ours(f"{name}: first question, requests"),
        record.ours(f"{name}: mean of 20 others, B") / 1e6,
        record.ours(f"{name}: mean of 20 others, requests"),
        record.ours(f"{name}: all 21, B") / 1e6,
        record.ours(f"{name}: opened again, all 21, B") / 1e3,
    ]
