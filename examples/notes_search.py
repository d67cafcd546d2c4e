"""Search a folder of notes: index it, ask, change a note, ask again."""

from pathlib import Path

import gossamer

notes = Path("my-notes")
notes.mkdir()
(notes / "flat.md").write_text(
    "# The flat\n\n## Rent\n\nThe lease is due on the first of March.\n", encoding="utf-8"
)
(notes / "bread.md").write_text(
    "# Bread\n\nThe banana bread needs an hour in the oven.\n", encoding="utf-8"
)

index = gossamer.Index.create("my-notes.index")
index.add_paths([notes])
for hit in index.search("when do I have to pay for the apartment?", k=1):
    print(f"{hit.location}\n{hit.text}\n")

# Only what changed is read and embedded again.
(notes / "flat.md").write_text(
    "# The flat\n\n## Rent\n\nThe lease is due on the first of May.\n", encoding="utf-8"
)
report = index.add_paths()
print(f"{report.updated} file updated, {report.unchanged} unchanged")
print(index.search("lease", k=1)[0].text)

status = index.status()
print(f"{status.chunks} chunks of {status.text_bytes} bytes of text in {status.total_bytes} bytes")
