"""Readers of formats with structure: PDF, office files, e-books and notebooks."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
import zipfile

import pytest
import reader_samples as make
from reader_checks import pieces_of, place_of, read, read_if_possible, read_one

from gossamer.errors import Unreadable
from gossamer.readers import notebook, pdf

NO_NOTES = {"word/footnotes.xml": "<notes/>"}
ENTITY_BOMB = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize("name", make.samples())
def test_every_sample_gives_documents_with_text_places_and_keys_in_order(name):
    documents = read(name, make.samples()[name])

    assert len({document.key for document in documents}) == len(documents)
    for document in documents:
        offsets = [offset for offset, _ in document.places]
        assert offsets == sorted(set(offsets))
        assert all(offset < len(document.text) for offset in offsets)
        assert document.text.decode("utf-8").strip()


@pytest.mark.parametrize("name", make.samples())
def test_a_truncated_file_is_refused_or_read_in_part_but_never_fails_otherwise(name):
    data = make.samples()[name]
    for end in range(0, len(data), max(1, len(data) // 40)):
        for document in read_if_possible(name, data[:end]):
            assert document.text.decode("utf-8")


# PDF


def test_the_pages_of_a_pdf_are_its_places():
    document = read_one("a.pdf", make.pdf([["One."], ["Two."], [], ["Four."]]))

    assert document.unit == "page"
    assert pieces_of(document) == {1: "One.", 2: "Two.", 4: "Four."}


def test_lines_that_fill_the_column_are_joined_and_short_ones_end_a_paragraph():
    full = "The lease of the flat ends on the last day of the month of May, and"
    lines = [full, full, "not before.", full, "it is over."]

    document = read_one("a.pdf", make.pdf([lines]))

    paragraphs = document.text.decode().strip().split("\n\n")
    assert paragraphs == [f"{full} {full} not before.", f"{full} it is over."]


def test_a_gap_between_lines_ends_a_paragraph():
    full = "The lease of the flat ends on the last day of the month of May, and so"

    document = read_one("a.pdf", make.pdf([[full, full, "", full, full]]))

    assert document.text.decode().strip() == f"{full} {full}\n\n{full} {full}"


def test_a_word_hyphenated_at_the_end_of_a_line_is_whole_again():
    full = "The lease of the flat ends on the last day of the month of Septem-"

    document = read_one("a.pdf", make.pdf([[full, "ber, and not before it is over."]]))

    assert b"September, and" in document.text


def test_running_lines_and_page_numbers_are_dropped():
    pages = [
        ["The Annual Report", "", f"Words of chapter {word}.", "", "", str(number)]
        for number, word in enumerate(["one", "two", "three", "four", "five"], 1)
    ]

    document = read_one("a.pdf", make.pdf(pages))

    assert b"Annual" not in document.text
    assert pieces_of(document)[3] == "Words of chapter three."


def test_heads_and_feet_that_change_with_the_chapter_are_dropped():
    words = ["tea", "rope", "whale", "ship", "lamp", "roof"]
    pages = []
    for number in range(24):
        word, part = words[number // 4], words[number % 6]
        left = f"{number + 3} Chapter {number // 4}. All about a {word}"
        right = f"{number // 4}.{number}. The {word} and its {part} {number + 3}"
        head = f"Of the {word}"  # without a number
        text = [f"Words about a {word} {part} are here.", "", f"A {part}{word} costs {number}1."]
        foot = [right, left][number % 2]
        pages.append([head, "", *text, ""] if number > 15 else [*text, "", foot])

    document = read_one("a.pdf", make.pdf(pages))

    assert len(pieces_of(document)) == 24
    for number, text in enumerate(pieces_of(document).values()):
        assert text.startswith("Words about")
        assert text.endswith(f" costs {number}1.")


def test_a_row_of_pages_whose_titles_are_counted_keeps_what_no_number_of_a_page_is():
    titles = ["1. Ships", "2. Harbours", "3. Whales", "4. Ropes"]
    pages = [[title, "", f"About {title[3:]}.", "The end of it."] for title in titles]

    document = read_one("a.pdf", make.pdf(pages))

    assert [text.split("\n")[0] for text in pieces_of(document).values()] == titles


def test_a_sentence_that_goes_on_behind_the_end_of_a_page_is_one_line():
    pages = [["The lamp in the hall uses"], ["a lot of power."], ["It is new."]]

    document = read_one("a.pdf", make.pdf(pages))

    assert (
        document.text.decode().strip() == "The lamp in the hall uses a lot of power.\n\nIt is new."
    )
    assert [number for _, number in document.places] == [1, 2, 3]


DOTS = " . . . . . . . . . . "


def test_tables_of_contents_of_a_pdf_are_left_out_and_pages_stay_right():
    entries = [
        f"{number}.{part} Part {part}{DOTS}{number}" for number in (1, 2, 3) for part in "ab"
    ]
    pages = [
        [
            "A book",
            "",
            "Table of Contents",
            "",
            "1 Ships 1",
            *entries,
            "4 A title that goes on",
            *entries,
        ],
        [f"3.{number} More{DOTS}{number + 3}" for number in range(9)] + ["iv"],
        ["List of Figures", "", "A ship 1", "A harbour 3"],
        ["The first page of text."],
        ["The second."],
    ]

    document = read_one("a.pdf", make.pdf(pages))

    assert pieces_of(document) == {
        1: "A book",
        2: "iv",
        4: "The first page of text.",
        5: "The second.",
    }


def test_an_index_at_the_back_of_a_pdf_is_left_out():
    entries = [f"{word}, 2, {3 + at}" for at, word in enumerate("abcdefghij")]
    dotted = [f"{sign}{DOTS}{at}" for at, sign in enumerate("!*-:[]abc")]
    text = [[f"Text of page {word}."] for word in ("one", "two", "three", "four", "five", "six")]

    document = read_one("a.pdf", make.pdf([*text, ["Index", *entries], entries, ["Z", *dotted]]))

    assert pieces_of(document) == {
        **{number: lines[0] for number, lines in enumerate(text, 1)},
        9: "Z",
    }


@pytest.mark.parametrize(
    "lines",
    [
        [f"Item {number}{DOTS}{price}" for number, price in enumerate((80, 35, 90, 15, 60, 5, 40))],
        [f"Net sales {year}{DOTS}1,{year}" for year in range(10)],
        ["Population of towns", "Aa 30", "Bb 20", "Cc 10", "Dd 5"],
        ["See also the contents of chapter 3", "and of chapter 4", "and of chapter 5"],
        ["Contents", "This box holds cups and saucers.", "It was packed in 2019"],
        ["Consumer price index", *[f"{town} 10{at}" for at, town in enumerate("abcdefgh")]],
        ["Index", *[f"{town}, 1{at}00, 2{at}00" for at, town in enumerate("abcdefgh")]],
        ["Register", *[f"{guest}, room 1{at}" for at, guest in enumerate("abcdefgh")]],
        ["Contents", "Parts of the box", *[f"{word} mix {word}" for word in "ivxl"]],
        [f"Dish {number}{DOTS}{4 + number}.50" for number in range(9)],
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_what_only_looks_like_a_table_of_contents_stays(lines, is_last):
    rest = [["More of it."], ["And more."], ["The end."]]
    pages = [["Before."], *rest, lines] if is_last else [["Before."], lines, *rest]

    text = read_one("a.pdf", make.pdf(pages)).text.decode()

    assert all(line in text.replace("\n", " ") for line in lines)


def test_a_short_pdf_has_no_table_of_contents():
    menu = ["Contents", *[f"Dish {number}{DOTS}{number}" for number in (1, 2, 3, 4, 5, 6)]]

    text = read_one("a.pdf", make.pdf([["The Swan"], menu, ["Open until ten."]])).text.decode()

    assert all(line in text for line in menu)


def test_beneath_a_list_that_has_ended_lines_with_numbers_are_text():
    contents = ["Contents", *[f"Part {number}{DOTS}{number}" for number in (1, 2, 3, 4, 5)]]
    prose = ["These towns were counted.", "Nobody knows more.", "It took years.", "All is told."]
    table = [f"{town} {number}" for number, town in enumerate(("Aa", "Bb", "Cc", "Dd"), 1)]

    document = read_one("a.pdf", make.pdf([[*contents, *prose, *table], *[["Text."]] * 5]))

    assert pieces_of(document)[1].split() == " ".join([*prose, *table]).split()


def test_every_word_of_a_pdf_is_cited_with_its_page():
    full = "word{0}a word{0}b word{0}c word{0}d word{0}e word{0}f word{0}g word{0}h"
    pages = [
        ["The Annual Report", "", *[full.format(_letters(page, line)) for line in range(page % 9)],
         "", *[f"{_letters(line, page)} ends." for line in range(page % 4)], "", str(page)]
        for page in range(1, 40)
    ]  # fmt: skip

    document = read_one("a.pdf", make.pdf(pages))

    found = pieces_of(document)
    for number, lines in enumerate(pages, 1):
        words = " ".join(lines[2:-2]).split()
        assert found.get(number, "").split() == words


def _letters(*numbers):
    """Name something without digits, by which headers and footers differ."""
    return "z".join(chr(97 + number // 5) + chr(97 + number % 5) for number in numbers)


def test_a_pdf_says_its_title_author_and_date():
    info = {"Title": "Lease", "Author": "Ann", "CreationDate": "D:20240501120000+02'00'"}

    document = read_one("a.pdf", make.pdf([["Text."]], info))

    assert document.title == "Lease"
    assert document.metadata == {"author": "Ann", "date": "2024-05-01T12:00:00"}


def test_a_pdf_with_a_password_says_so():
    with pytest.raises(Unreadable, match="password-protected"):
        read("a.pdf", make.encrypted_pdf())


def test_a_pdf_without_text_says_that_ocr_is_not_done():
    with pytest.raises(Unreadable, match="OCR"):
        read("a.pdf", make.pdf([[], []]))


def test_a_file_that_is_no_pdf_is_refused():
    with pytest.raises(Unreadable, match="not a PDF"):
        read("a.pdf", b"%PDF-1.7 and nothing else")


def test_a_pdf_with_more_text_than_allowed_is_refused():
    with pytest.raises(Unreadable, match="limit"):
        read("a.pdf", make.pdf([["word " * 10] * 40]), max_text_bytes=1000)


@pytest.fixture
def worker_that(tmp_path, monkeypatch):
    """Give a function that has PDFs read by a process that does as it is told."""

    def start(program):
        (tmp_path / "odd_worker.py").write_text(
            f"import sys\nsys.stdout.buffer.write(b'ready')\nsys.stdout.flush()\n{program}\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(pdf, "_WORKER", "odd_worker")
        monkeypatch.setattr(pdf._Worker, "_current", None)

    return start


def test_a_pdf_that_crashes_the_library_is_left_out(worker_that):
    worker_that("sys.stdin.buffer.read(100)")

    with pytest.raises(Unreadable, match="library failed"):
        read("a.pdf", make.pdf([["Text."]]))


def test_a_pdf_that_is_never_done_is_left_out(worker_that, monkeypatch):
    worker_that("sys.stdin.buffer.read()")
    monkeypatch.setattr(pdf, "_PATIENCE_S", 0.1)

    with pytest.raises(Unreadable, match="took more than"):
        read("a.pdf", make.pdf([["Text."]]))


def test_a_worker_that_was_ended_is_started_again():
    read("a.pdf", make.pdf([["Text."]]))
    pdf._Worker._current._process.kill()
    pdf._Worker._current._process.wait()

    assert read_one("a.pdf", make.pdf([["Text."]])).text == b"Text.\n"


def test_without_a_worker_pdfs_are_read_all_the_same(monkeypatch):
    monkeypatch.setattr(pdf._Worker, "_current", None)
    monkeypatch.setattr(pdf._Worker, "_cannot_start", False)
    monkeypatch.setattr(pdf.sys, "executable", "")

    assert read_one("a.pdf", make.pdf([["Text."]])).text == b"Text.\n"


# Office


def test_a_word_document_keeps_headings_lists_tables_and_footnotes():
    document = read_one("a.docx", make.docx())

    assert document.text.decode() == (
        "# The lease\n\nIt ends in May & not before.\n\nSee the note[^2]\n\n"
        "- first\n- second\n\nmonth | rent\nMay | 900\n\n[^2]: As the owner said.\n"
    )
    assert (document.kind, document.markup, document.title) == ("docx", "markdown", "A letter")
    assert document.metadata == {"author": "Ann Doe", "date": "2024-05-01T10:00:00"}
    assert document.unit == "paragraph"
    assert pieces_of(document)[2] == "It ends in May & not before."


def test_the_pages_that_word_marked_are_places():
    body = make.docx_paragraph("One") + make.docx_paragraph("Two", has_break=True)

    document = read_one("a.docx", make.docx(body))

    assert document.unit == "page"
    assert pieces_of(document)[1] == "One"
    assert pieces_of(document)[2].startswith("Two")


def test_every_paragraph_item_and_row_of_a_word_document_has_its_number():
    body = (
        make.docx_paragraph("Lease", "berschrift1")
        + make.docx_paragraph("")
        + "".join(make.docx_paragraph(f"item {number}", is_list=True) for number in (2, 3))
        + make.docx_table([["May", "900"], ["June", "950"]])
        + make.docx_paragraph("The end.")
    )

    document = read_one("a.docx", make.docx(body, NO_NOTES))

    assert pieces_of(document) == {
        1: "# Lease",
        2: "- item 2",
        3: "- item 3",
        4: "May | 900",
        5: "June | 950",
        6: "The end.",
    }
    assert b"- item 2\n- item 3\n\nMay" in document.text


def test_the_paragraphs_of_a_table_of_one_cell_count_one_by_one():
    cell = make.docx_paragraph("one") + make.docx_paragraph("two")

    document = read_one(
        "a.docx", make.docx(f"<w:tbl><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>", NO_NOTES)
    )

    assert pieces_of(document) == {1: "one", 2: "two"}


def test_a_footnote_counts_as_the_paragraph_and_the_page_that_refer_to_it():
    reference = '<w:p><w:r><w:t>Rent</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    plain = make.docx(make.docx_paragraph("Lease") + reference + make.docx_paragraph("End"))
    paged = make.docx(reference + make.docx_paragraph("End", has_break=True))

    by_paragraph, by_page = read_one("a.docx", plain), read_one("a.docx", paged)

    assert place_of(by_paragraph, "As the owner said.") == 2
    assert place_of(by_page, "As the owner said.") == 1
    assert place_of(by_page, "End") == 2


def test_a_page_may_begin_in_the_middle_of_a_paragraph():
    run = "<w:r><w:t>{}</w:t></w:r>"
    mark = "<w:r><w:lastRenderedPageBreak/></w:r>"
    body = f"<w:p>{run.format('left, ')}{mark}{run.format('right')}</w:p>"
    heading = make.docx_paragraph("Next", "berschrift1", has_break=True)

    document = read_one("a.docx", make.docx(body + heading + make.docx_paragraph("more"), NO_NOTES))

    assert document.text == b"left, right\n\n# Next\n\nmore\n"
    assert pieces_of(document) == {1: "left,", 2: "right", 3: "# Next\n\nmore"}


def test_a_style_based_on_a_heading_is_a_heading():
    document = read_one("a.docx", make.docx(make.docx_paragraph("Mine", style="Mine")))

    assert document.text.startswith(b"# Mine\n")


def test_a_table_inside_a_cell_becomes_part_of_its_row():
    inner = make.docx_table([["a", "b"]])
    body = (
        f"<w:tbl><w:tr><w:tc>{inner}</w:tc><w:tc>{make.docx_paragraph('c')}</w:tc></w:tr></w:tbl>"
    )

    document = read_one("a.docx", make.docx(body))

    assert document.text.startswith(b"a | b | c\n")


def test_slides_come_in_the_order_of_the_show_with_title_first_and_notes_last():
    document = read_one("a.pptx", make.pptx())

    assert document.unit == "slide"
    assert pieces_of(document) == {
        1: "# The beginning\n\n- One point\n- Another point\n\nNotes: Speak slowly.",
        2: "# The end\n\n- Thank you",
    }


def test_each_sheet_of_a_workbook_is_a_document_of_rows():
    rent, other = read("a.xlsx", make.xlsx())

    assert (rent.key, rent.unit, rent.markup) == ("Rent", "row", "rows")
    assert pieces_of(rent) == {1: "day | rent", 3: "2024-05-01 |  | 900.5"}
    assert other.text == b"only here\n"


def long_string_in_many_cells(kind):
    """Give a small workbook whose cells show a long string again and again, in 1 row or 1000."""
    long = "whale " * 5_000
    if kind == "ods":
        cell = f'<table:table-cell table:number-columns-repeated="256"><text:p>{long}</text:p>'
        row = f"<table:table-row>{cell}</table:table-cell></table:table-row>"
        return make.ods({"Sheet": row * 50})
    cell = '<c t="s"><v>0</v></c>'
    rows = "<row>" + cell * 100_000 + "</row>" if kind == "a row" else f"<row>{cell}</row>" * 10_000
    return make.xlsx(
        {
            "xl/sharedStrings.xml": f"{make.XML}<sst><si><t>{long}</t></si></sst>",
            "xl/worksheets/sheet1.xml": f"{make.XML}<worksheet>{rows}</worksheet>",
        }
    )


@pytest.mark.parametrize("kind", ["a row", "rows", "ods"])
def test_a_small_workbook_cannot_grow_to_a_huge_text(kind):
    data = long_string_in_many_cells(kind)
    assert len(data) < 20_000

    tracemalloc.start()
    with pytest.raises(Unreadable, match="too much for a workbook of its size"):
        read("a.ods" if kind == "ods" else "a.xlsx", data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 100_000_000


def test_a_workbook_may_repeat_what_it_says_within_reason():
    cells = '<c t="s"><v>0</v></c>' * 100
    sheet = f"{make.XML}<worksheet><row>{cells}</row></worksheet>"

    rent, _ = read("a.xlsx", make.xlsx({"xl/worksheets/sheet1.xml": sheet}))

    assert rent.text.decode() == " | ".join(["day"] * 100) + "\n"


def test_an_open_document_keeps_headings_lists_tables_and_footnotes():
    document = read_one("a.odt", make.odt())

    assert document.text.decode() == (
        "## The lease\n\nFootnote: As the owner said.\n\nIt ends in May.\n\n- first\n\nMay | 900\n"
    )
    assert document.title == "Open"


def test_the_paragraphs_of_an_open_document_are_counted_and_notes_with_theirs():
    document = read_one("a.odt", make.odt())

    found = ("## The lease", "As the owner said.", "It ends in May.", "- first", "May | 900")
    assert [place_of(document, text) for text in found] == [1, 2, 2, 3, 4]


def test_the_pages_of_an_open_document_may_begin_in_a_paragraph():
    body = "<text:p>left, <text:soft-page-break/>right</text:p><text:p>more</text:p>"

    document = read_one("a.odt", make.open_document("text", body))

    assert (document.unit, pieces_of(document)) == ("page", {1: "left,", 2: "right\n\nmore"})


def test_the_sheets_of_an_open_document_are_documents_of_rows():
    first, second = read("a.ods", make.ods())

    assert (first.kind, first.key, first.unit, first.markup) == ("ods", "Rent", "row", "rows")
    assert pieces_of(first) == {1: "day | rent", 4: "May |  |  | 900"}
    assert (second.key, pieces_of(second)) == ("Other", {1: "only here"})


def test_the_slides_of_an_open_document_are_places():
    document = read_one("a.odp", make.odp())

    assert pieces_of(document) == {1: "# One\n\nfirst words", 2: "# Two\n\nmore words"}


def test_an_office_file_is_told_by_what_is_inside_not_by_its_name():
    assert read("a.docx", make.pptx())[0].kind == "pptx"


def test_an_office_file_with_a_password_says_so():
    container = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)

    with pytest.raises(Unreadable, match="password-protected"):
        read("a.docx", container + "EncryptedPackage".encode("utf-16-le"))


def test_an_office_file_of_the_old_format_says_what_to_do():
    with pytest.raises(Unreadable, match=r"save it as \.docx"):
        read("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.docx", "word/document.xml"),
        ("a.docx", "word/styles.xml"),
        ("a.docx", "docProps/core.xml"),
        ("a.epub", "META-INF/container.xml"),
        ("a.epub", "OEBPS/book.opf"),
    ],
)
def test_xml_that_declares_entities_is_refused(name, part):
    builder = make.docx if name == "a.docx" else make.epub

    with pytest.raises(Unreadable, match="entities"):
        read(name, builder(extra={part: ENTITY_BOMB}))


def test_a_zip_bomb_is_refused():
    paragraph = make.docx_paragraph("whale " * 100)

    with pytest.raises(Unreadable, match="zip bomb"):
        read("a.docx", make.docx(paragraph * 50_000))


def test_an_archive_that_lies_about_its_sizes_is_refused():
    data = bytearray(make.docx(make.docx_paragraph("whale " * 100) * 50_000))
    entry = data.rindex(b"word/document.xml") - 46
    data[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")

    with pytest.raises(Unreadable):
        read("a.docx", bytes(data))


def test_an_archive_packed_without_a_bound_is_refused():
    members = {"word/document.xml": "<a/>"}

    with pytest.raises(Unreadable, match="packed in a way"):
        read("a.docx", make.archive(members, zipfile.ZIP_BZIP2))


def test_an_archive_of_too_many_members_is_refused():
    with pytest.raises(Unreadable, match="members"):
        read("a.docx", b"PK\x01\x02" * 20_001)


def test_deeply_nested_xml_is_refused():
    with pytest.raises(Unreadable, match="nested"):
        read("a.docx", make.docx("<w:tbl>" * 5000))


def test_styles_that_name_one_another_in_a_circle_end():
    styles = (
        '<w:styles xmlns:w="urn:w"><w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>'
    )
    body = make.docx_paragraph("text", style="A")

    document = read_one("a.docx", make.docx(body, {"word/styles.xml": styles}))

    assert document.text.startswith(b"text\n")


def test_a_zip_archive_of_something_else_is_refused():
    with pytest.raises(Unreadable, match="without a document"):
        read("a.docx", make.archive({"readme.txt": "hello"}))


# E-books


def test_chapters_come_in_reading_order():
    document = read_one("a.epub", make.epub())

    assert (document.unit, document.markup, document.title) == ("chapter", "markdown", "Moby")
    assert pieces_of(document) == {
        1: "# Loomings\n\nCall me Ishmael.",
        2: "# The Carpet-Bag\n\nI stuffed a shirt & left.",
    }
    assert document.metadata == {"author": "H. M.", "date": "1851-10-18"}


def test_a_damaged_chapter_is_left_out_and_counted():
    document = read_one("a.epub", make.epub({"OEBPS/a.xhtml": b"\x00\x01\x02" * 500}))

    assert list(pieces_of(document)) == [2]
    assert document.metadata["damaged_chapters"] == 1


def parts_of(documents):
    """Give (key, number) -> text for the numbered pieces of all parts of a book."""
    return {
        (document.key, number): text
        for document in documents
        for number, text in pieces_of(document).items()
    }


@pytest.mark.parametrize("has_nav", [True, False], ids=["nav", "ncx"])
def test_chapters_have_the_numbers_that_the_contents_say(has_nav):
    pages = {
        "cover.xhtml": "<p>A whale on the sea</p>",
        "title.xhtml": "<h1>Moby</h1><p>by H. M.</p>",
        "a.xhtml": "<h1>Chapter One</h1><p>Call me Ishmael.</p>",
        "a2.xhtml": "<p>Still the first.</p>",
        "b.xhtml": "<h1>Chapter Two</h1><p>I left.</p>",
        "end.xhtml": "<h1>Epilogue</h1><p>One did survive.</p><p>It was me.</p>",
    }
    contents = [
        ("Title Page", "title.xhtml", 1),
        ("Part One", "a.xhtml", 1),
        ("Chapter One", "a.xhtml", 2),
        ("Part Two", "b.xhtml", 1),
        ("Chapter Two", "b.xhtml", 2),
        ("Epilogue", "end.xhtml", 1),
    ]

    documents = read("a.epub", make.book(pages, contents, has_nav))

    assert parts_of(documents) == {
        ("", 1): "# Chapter One\n\nCall me Ishmael.\n\nStill the first.",
        ("", 2): "# Chapter Two\n\nI left.",
        ("front matter", 1): "A whale on the sea",
        ("Title Page", 1): "# Moby",
        ("Title Page", 2): "by H. M.",
        ("Epilogue", 1): "# Epilogue",
        ("Epilogue", 2): "One did survive.",
        ("Epilogue", 3): "It was me.",
    }
    assert {document.key: document.title for document in documents}["Epilogue"] == "Moby: Epilogue"


def test_chapters_may_share_a_file():
    body = '<h2 id="i">I. Sea</h2><p>Wet.</p><div><a id="ii"/><h2>II. Land</h2></div><p>Dry.</p>'
    contents = [("I. Sea", "a.xhtml#i", 1), ("II. Land", "a.xhtml#ii", 1)]

    documents = read("a.epub", make.book({"a.xhtml": body}, contents))

    assert parts_of(documents) == {
        ("", 1): "## I. Sea\n\nWet.",
        ("", 2): "## II. Land\n\nDry.",
    }


def test_chapters_without_numbers_are_counted_from_the_first_that_is_one():
    names = ["Cover", "Preface", "Loomings", "The Carpet-Bag", "Index"]
    pages = {f"{at}.xhtml": f"<h1>{name}</h1><p>Text.</p>" for at, name in enumerate(names)}
    contents = [(name, f"{at}.xhtml", 1) for at, name in enumerate(names)]

    documents = read("a.epub", make.book(pages, contents))
    from_the_guide = read("a.epub", make.book(pages, contents, guide="3.xhtml"))

    assert list(pieces_of(documents[0])) == [1, 2]
    assert documents[0].text.startswith(b"# Loomings")
    assert [document.key for document in documents] == ["", "Cover", "Preface", "Index"]
    assert from_the_guide[0].text.startswith(b"# The Carpet-Bag")


def test_headings_that_say_numbers_count_and_appendices_that_begin_again_do_not():
    headings = ["1. Scope", "2. Archive", "3. Files", "1. Old manual", "2. License"]
    pages = {f"{at}.xhtml": f"<h1>{name}</h1>" for at, name in enumerate(headings)}
    contents = [(name[3:], f"{at}.xhtml", 1) for at, name in enumerate(headings)]

    documents = read("a.epub", make.book(pages, contents))

    assert list(pieces_of(documents[0])) == [1, 2, 3]
    assert [document.key for document in documents[1:]] == ["Old manual", "License"]


def book_of(labels):
    """Give a book with a page for each (label, depth) of its contents, in their order."""
    pages = {f"{at}.xhtml": f"<p>Text {at}.</p>" for at in range(len(labels))}
    contents = [(label, f"{at}.xhtml", depth) for at, (label, depth) in enumerate(labels)]
    return make.book(pages, contents)


@pytest.mark.parametrize("depth", [1, 2], ids=["flat", "nested"])
def test_parts_that_count_their_chapters_anew_are_cited_with_them(depth):
    labels = [
        ("Preface", 1),
        ("Part One", 1),
        ("Chapter 1", depth),
        ("Chapter 2", depth),
        ("Part Two", 1),
        ("Chapter 1", depth),
        ("Chapter 2", depth),
        ("Chapter 3", depth),
        ("Notes", 1),
        ("Chapter 1", 2),
    ]

    documents = read("a.epub", book_of(labels))

    found = {key: text for key, text in parts_of(documents).items() if key[0].startswith("Part")}
    assert found == {
        ("Part One", 1): "Text 2.",
        ("Part One", 2): "Text 3.",
        ("Part One: front matter", 1): "Text 1.",
        ("Part Two", 1): "Text 5.",
        ("Part Two", 2): "Text 6.",
        ("Part Two", 3): "Text 7.",
        ("Part Two: front matter", 1): "Text 4.",
    }
    assert {one.unit for one in documents if one.key in ("Part One", "Part Two")} == {"chapter"}
    assert len({one.key for one in documents}) == len(documents)


def test_the_novels_of_one_book_count_their_chapters_each():
    labels = [("Emma", 1), ("I", 2), ("II", 2), ("Emma", 1), ("I", 2), ("II", 2)]

    documents = read("a.epub", book_of(labels))

    found = [(one.key, *pieces_of(one)) for one in documents if one.unit == "chapter"]
    assert found == [("Emma", 1, 2), ("Emma (2)", 1, 2)]


def test_parts_without_a_page_of_their_own_count_anew_as_well():
    links = [f'<li><a href="{at}.xhtml">Chapter {1 + at % 2}</a></li>' for at in range(4)]
    listed = "".join(
        f"<li><span>{part}</span><ol>{''.join(some)}</ol></li>"
        for part, some in (("Part I", links[:2]), ("Part II", links[2:]))
    )
    nav = f'<html><nav type="toc"><ol>{listed}</ol></nav></html>'
    book = make.epub({**members_of(book_of([("", 1)] * 4)), "OEBPS/nav.xhtml": nav})

    documents = read("a.epub", book)

    assert parts_of(documents) == {
        ("Part I", 1): "Text 0.",
        ("Part I", 2): "Text 1.",
        ("Part II", 1): "Text 2.",
        ("Part II", 2): "Text 3.",
    }


def members_of(data):
    """Give the members of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["Foreword", "Chapter 11", "Chapter 12", "Chapter 14"], [11, 12, 14]),
        (["XI", "XII. Sea", "XIII"], [11, 12, 13]),
        (["100 ways to walk", "1. Sea", "2. Land", "3. Air"], [1, 2, 3]),
        (["39 steps", "The sea", "12 angry men"], [1, 2, 3]),  # counted
    ],
)
def test_a_volume_may_begin_with_a_later_chapter(labels, numbers):
    documents = read("a.epub", book_of([(label, 1) for label in labels]))

    assert list(pieces_of(documents[0])) == numbers


@pytest.mark.parametrize("fragment", ["ii", ""], ids=["found", "at the beginning"])
def test_an_entry_that_leads_nowhere_takes_no_text_from_others(fragment):
    begin = "<p>Dark.</p>" if fragment else ""
    body = f'{begin}<h2 id="ii">Sea</h2><p>Wet.</p><h2 id="iv">Land</h2><p>Dry.</p>'
    targets = ["a.xhtml#gone"] if fragment else []
    targets += [f"a.xhtml#{fragment}".rstrip("#"), "a.xhtml#lost", "a.xhtml#iv", "a.xhtml#none"]
    contents = [(f"Chapter {at}", target, 1) for at, target in enumerate(targets, 1)]

    document = read_one("a.epub", make.book({"a.xhtml": body}, contents))

    texts = ["## Sea\n\nWet.", "## Land\n\nDry."]
    first = 2 if fragment else 1
    expected = dict(zip((first, first + 2), texts, strict=True))
    assert pieces_of(document) == ({1: "Dark."} if fragment else {}) | expected


@pytest.mark.parametrize("kind", ["one page", "one word each"])
def test_a_book_whose_spine_and_contents_are_hostile_is_read_fast_and_once(kind):
    count = 10_000
    letters = [
        "".join(chr(97 + number // 26**at % 26) for at in range(4)) for number in range(count)
    ]
    labels = ["Part"] * count if kind == "one page" else [f"{word} 1" for word in letters]
    listed = "".join(f'<li><a href="a.xhtml">{label}</a></li>' for label in labels)
    html_type = 'media-type="application/xhtml+xml"'
    items = f'<item id="a" href="a.xhtml" {html_type}/>'
    items += f'<item id="nav" href="nav.xhtml" properties="nav" {html_type}/>'
    spine = '<itemref idref="a"/>' * count
    package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
    nav = f'<html><nav type="toc"><ol>{listed}</ol></nav></html>'

    begin = time.process_time()
    documents = read("a.epub", make.epub({"OEBPS/book.opf": package, "OEBPS/nav.xhtml": nav}))

    assert time.process_time() - begin < 10
    assert sum(len(document.text) for document in documents) < 100


def test_a_page_without_a_heading_goes_on_with_the_chapter_before():
    pages = {"a.xhtml": "<h1>Sea</h1>", "b.xhtml": "<p>Wet.</p>", "c.xhtml": "<h1>Land</h1>"}

    document = read_one("a.epub", make.book(pages))

    assert pieces_of(document) == {1: "# Sea\n\nWet.", 2: "# Land"}


def test_the_contents_of_a_book_are_no_chapter_and_may_be_damaged():
    pages = {"a.xhtml": "<h1>Sea</h1>", "b.xhtml": "<h1>Land</h1>"}
    contents = [("Sea", "a.xhtml", 1), ("Land", "b.xhtml", 1)]
    damaged = make.book(pages, contents).replace(b"OEBPS/nav.xhtml", b"OEBPS/nav.xhtmX")

    assert list(pieces_of(read_one("a.epub", make.book(pages, contents)))) == [1, 2]
    assert list(pieces_of(read_one("a.epub", damaged))) == [1, 2]


def test_a_copy_protected_book_says_so():
    noise = bytes(range(256)) * 8
    pages = {"OEBPS/a.xhtml": noise, "OEBPS/b b.xhtml": noise, "META-INF/encryption.xml": "<e/>"}

    with pytest.raises(Unreadable, match="copy-protected"):
        read("a.epub", make.epub(pages))


def test_a_book_without_a_container_is_refused():
    with pytest.raises(Unreadable, match="not an e-book"):
        read("a.epub", make.archive({"mimetype": "application/epub+zip"}))


# Notebooks


def test_a_notebook_keeps_prose_code_and_printed_text():
    document = read_one("a.ipynb", make.notebook())

    assert (document.kind, document.unit, document.title) == ("notebook", "cell", "A study")
    assert pieces_of(document) == {
        1: "# A study\nof whales",
        2: "```python\nprint('whale')\n```\n\n```text\nwhale\n```",
        3: "The end.",
    }


def test_long_output_of_a_cell_is_cut():
    output = {"output_type": "stream", "text": "a line of output\n" * 1000}
    cell = {"cell_type": "code", "source": "f()", "outputs": [output]}

    document = read_one("a.ipynb", json.dumps({"cells": [cell]}).encode())

    assert len(document.text) < notebook.MAX_OUTPUT_CHARS + 100


def test_code_that_holds_a_fence_gets_a_longer_one():
    cell = {"cell_type": "code", "source": "s = '''\n```\n'''"}

    document = read_one("a.ipynb", json.dumps({"cells": [cell]}).encode())

    assert document.text.startswith(b"````\n")
    assert document.text.endswith(b"\n````\n")


def test_a_notebook_of_version_3_is_read():
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Whales"]},
        {"cell_type": "code", "input": ["x = 1"], "outputs": []},
    ]

    document = read_one("a.ipynb", json.dumps({"worksheets": [{"cells": cells}]}).encode())

    assert document.text == b"## Whales\n\n```python\nx = 1\n```\n"
