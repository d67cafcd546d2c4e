"""Texts of several givers in one change: one commit for all, and a report for each."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.model import IndexModel
from gossamer.store import Catalogue, SourceRecord, Status, Writer
from gossamer.update.add import add_texts
from gossamer.update.prepare import GivenText
from gossamer.update.report import UpdateReport, Watcher

__all__ = ["add_texts_together"]


def add_texts_together(
    writer: Writer, model: IndexModel, groups: Sequence[Sequence[GivenText]], watcher: Watcher
) -> list[UpdateReport]:
    """Put groups of texts in as one change; no id may be in two of them.

    The report of a group counts its own texts. Chunks that an interrupted run had embedded count
    as embedded there, unless the group is the only one.
    """
    assert writer.snapshot is not None, "an index is created before it is updated"
    before = writer.snapshot.catalogue
    whole = add_texts(writer, model, [[text for group in groups for text in group]], watcher)
    if len(groups) == 1:
        return [whole]
    after = writer.snapshot.catalogue
    return [_report_of(group, before, after, whole.seconds) for group in groups]


def _report_of(
    group: Sequence[GivenText], before: Catalogue, after: Catalogue, seconds: float
) -> UpdateReport:
    report = UpdateReport(seconds=seconds)
    for id in dict.fromkeys(text.id for text in group):
        old, new = _source(before, id), _source(after, id)
        assert new is not None, "whatever became of a text, the catalogue knows it"
        was_indexed = old is not None and old.status == Status.INDEXED
        if new == old and was_indexed:
            report.unchanged += 1
        elif new.status == Status.INDEXED:
            report.updated += old is not None
            report.added += old is None
            _count_chunks(report, before, after, id)
        else:
            report.lost += was_indexed
            report.skipped += new.status == Status.SKIPPED
            if new.status == Status.FAILED:
                report.failed += 1
                report.problems.append((new.path, new.reason))
    return report


def _count_chunks(report: UpdateReport, before: Catalogue, after: Catalogue, id: str) -> None:
    known = set(_checks(before, id))
    checks = _checks(after, id)
    reused = sum(check in known for check in checks)
    report.chunks_reused += reused
    report.chunks_embedded += len(checks) - reused


def _checks(catalogue: Catalogue, id: str) -> list[int]:
    row = catalogue.find_text(id)
    return [] if row is None else catalogue.checks(catalogue.chunks_of(row)).tolist()


def _source(catalogue: Catalogue, id: str) -> SourceRecord | None:
    row = catalogue.find_text(id)
    return None if row is None else catalogue.source(row)
