from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gossamer.chunking import chunk_document, embedded_text, grammar
from gossamer.errors import InvalidArgument
from gossamer.records import ChunkSpan, Document

MARKUPS = ["plain", "markdown", "rst", "rows", "code/python", "code/rust", "code/nothing"]
LANGUAGES = {
    "python": "class Ark:\n    # how it floats\n    @property\n    def float(self):\n{}",
    "javascript": "class Ark {{\n  // how it floats\n  float(a) {{\n{}  }}\n}}\n",
    "typescript": "class Ark {{\n  // how it floats\n  float(a: number): void {{\n{}  }}\n}}\n",
    "java": "class Ark {{\n  // how it floats\n  @Override\n  void float(int a) {{\n{}  }}\n}}\n",
    "rust": "impl Ark {{\n  /// how it floats\n  #[inline]\n  fn float(a: u8) {{\n{}  }}\n}}\n",
    "cpp": "class Ark {{\n  // how it floats\n  void float_(int a) {{\n{}  }}\n}};\n",
    "ruby": "class Ark\n  # how it floats\n  def float(a)\n{}  end\nend\n",
    "php": "<?php\nclass Ark {{\n  // how it floats\n  function float($a) {{\n{}  }}\n}}\n",
    "csharp": "class Ark {{\n  // how it floats\n  void Float(int a) {{\n{}  }}\n}}\n",
    "c_sharp": "class Ark {{\n  // how it floats\n  void Float(int a) {{\n{}  }}\n}}\n",
}
FUNCTIONS = {
    "go": "// how it floats\nfunc float(a int) {{\n{}}}\n",
    "c": "// how it floats\nstatic int float_(int a) {{\n{}}}\n",
    "bash": "# how it floats\nfloat() {{\n{}}}\n",
    "javascript": "// how it floats\nexport const float = (a) => {{\n{}}}\n",
}
STATEMENT = "        a = swim({});\n"


class Words:
    """Counts words, marks and wide characters; long words in pieces of eight letters."""

    pattern = re.compile(r"[^\W\u3000-\uffff]{1,8}|[^\w\s\0]|[\u3000-\uffff]")

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        words = text.decode("utf-8")
        found = [match.start() for match in self.pattern.finditer(words)]
        widths = np.cumsum([0] + [len(character.encode()) for character in words])
        return widths[found].astype(np.uint32) if found else np.empty(0, np.uint32)

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        raise AssertionError(f"chunking asks only where tokens begin, not for {texts}")


class Contrary(Words):
    """Counts newlines, begins with a token of its own, and cuts inside characters."""

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        thirds = np.arange(0, len(text), 3)
        newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == 10)
        return np.sort(np.concatenate([thirds[:1], thirds, newlines])).astype(np.uint32)


class Blind(Words):
    """Sees one token however long a word is, as WordPiece does of words it does not know."""

    pattern = re.compile(r"\S+")


WORDS = Words()


def chunk(text: str, markup="plain", size=64, line="", tokenizer=WORDS) -> list[ChunkSpan]:
    return chunk_document(Document(text.encode(), "text", markup), tokenizer, size, line)


def bodies(text: str, markup="plain", size=64, line="") -> list[str]:
    raw = text.encode()
    return [raw[span.start : span.end].decode() for span in chunk(text, markup, size, line)]


def contexts(text: str, markup="plain", size=64, line="") -> list[list[str]]:
    raw = text.encode()
    spans = chunk(text, markup, size, line)
    return [[raw[start:end].decode() for start, end in span.context] for span in spans]


def count(text: str, tokenizer=WORDS) -> int:
    return len(tokenizer.token_starts(text.encode()))


def sentence(number: int, words: int = 9) -> str:
    return " ".join([f"Sentence {number}", *["goes on"] * ((words - 2) // 2)]) + "."


def paragraph(number: int, sentences: int = 3) -> str:
    return "\n".join(sentence(10 * number + i) for i in range(sentences))


FRAGMENTS = st.sampled_from(
    [
        *(
            "word",
            "Sentence one. ",
            "Next! ",
            "x" * 70,
            "漢字かな",
            "。",
            "！",
            "👩‍👩‍👧",
            "é",
            "\u3000",
        ),
        *("\n", "\n\n", "\r\n", "\r\n\r\n", " ", "\t", "\x0c", "\0", "\u00a0", "\ufeff", '"', ","),
        *("# Head\n", "\n## Sub ##\n\n", "Title\n=====\n", "\n\nPart\n---\n", "```\n", "~~~ py\n"),
        *("---\n", "- item\n", "| a | b |\n", "1.2.  Scope\n\n", "****\nOver\n****\n", "a,b,c\n"),
        *("class A:\n", "  def f(self):\n", "    return 1\n", "fn f() {\n", "}\n", "# note\n", ";"),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=12), max_size=120).map("".join)
TOKENIZERS = st.sampled_from([WORDS, Contrary(), Blind()])


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(MARKUPS), st.integers(32, 70), TEXTS, TOKENIZERS)
def test_whatever_the_text_its_chunks_keep_their_promises(text, markup, size, line, tokenizer):
    raw = text.encode("utf-8", "replace")
    text, line = raw.decode(), line.encode("utf-8", "replace").decode()

    spans = chunk(text, markup, size, line, tokenizer)

    assert spans == chunk(text, markup, size, line, tokenizer)
    end = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
    for span in spans:
        body = raw[span.start : span.end].decode()
        assert body == body.strip() != ""
        assert end <= span.start
        assert not count(raw[end : span.start].decode().strip(), tokenizer)
        assert raw[span.start - 1 : span.start + 1] != b"\r\n"
        headings = [raw[first:last].decode() for first, last in span.context]
        assert count(embedded_text(line, headings, body), tokenizer) <= size
        end = span.end
    assert not count(raw[end:].decode().strip(), tokenizer)


def test_a_text_that_fits_is_one_chunk_without_its_outer_space():
    assert bodies("\n\n  Short text. \n") == ["Short text."]


@pytest.mark.parametrize("text", ["", " \n\t ", "\ufeff", "\0\0\0"])
def test_a_text_without_words_has_no_chunks(text):
    assert chunk(text) == []


def test_a_byte_order_mark_is_not_part_of_a_chunk():
    assert chunk("\ufeffword") == [ChunkSpan(3, 7)]


def test_a_size_that_holds_nothing_is_refused():
    with pytest.raises(InvalidArgument, match="32 tokens"):
        chunk("word", size=31)


def test_long_prose_fills_its_chunks():
    text = "\n\n".join(paragraph(number) for number in range(200))

    fills = [count(body) / 256 for body in bodies(text, size=256)]

    assert np.mean(fills) >= 0.85


def test_prose_is_cut_between_paragraphs():
    text = "\n\n".join(paragraph(number) for number in range(40))

    found = bodies(text, size=128)

    assert all(re.match(r"Sentence \d*0 ", body) for body in found)


def test_a_paragraph_too_long_for_a_chunk_is_cut_between_sentences():
    text = " ".join(sentence(number) for number in range(60))

    found = bodies(text)

    assert all(body.startswith("Sentence ") and body.endswith(".") for body in found)


def test_initials_and_abbreviations_end_no_sentence():
    text = " ".join(["written by J. R. Hartley e.g. Angler"] * 60)

    assert not any(body.startswith(("R.", "Hartley", "Angler")) for body in bodies(text))


def test_text_without_sentences_is_cut_between_lines():
    text = "\n".join(f"row {number} of the list" for number in range(80))

    assert all(body.startswith("row ") for body in bodies(text))


def test_a_line_without_sentences_is_cut_between_words():
    found = bodies("alpha beta gamma " * 200)

    assert {body.split()[0] for body in found} <= {"alpha", "beta", "gamma"}
    assert {body.split()[-1] for body in found} <= {"alpha", "beta", "gamma"}


def test_an_endless_word_is_cut_anywhere():
    found = bodies("x" * 5000)

    assert "".join(found) == "x" * 5000
    assert len(found) < 15


def test_an_endless_word_that_counts_as_one_token_is_cut_by_its_length():
    spans = chunk("é" * 50_000, size=64, tokenizer=Blind())

    assert spans[-1].end == 100_000
    assert max(span.end - span.start for span in spans) <= 64 * 32
    assert all(span.start % 2 == 0 for span in spans)


def test_chinese_is_cut_after_its_full_stops():
    found = bodies("今日は良い天気です。散歩に行きましょう！" * 30)

    assert all(body.endswith(("。", "！")) for body in found)


def test_chinese_without_marks_is_cut_between_characters():
    found = bodies("漢字" * 300)

    assert "".join(found) == "漢字" * 300
    assert len(found) <= 12


def test_a_short_rest_is_shared_with_the_chunk_before_it():
    text = "\n\n".join(paragraph(number, 1) for number in range(8))
    assert count(text) == 72

    first, second = bodies(text)

    assert abs(count(first) - count(second)) <= 10


def test_a_tokenizer_whose_counts_do_not_add_up_keeps_the_limit():
    text = "\n".join(sentence(number) for number in range(50))

    spans = chunk(text, size=40, line="a title", tokenizer=Contrary())

    raw = text.encode()
    texts = [embedded_text("a title", [], raw[span.start : span.end].decode()) for span in spans]
    assert max(count(text, Contrary()) for text in texts) <= 40
    assert np.mean([count(text, Contrary()) for text in texts]) > 28


def test_embedded_text_joins_what_there_is():
    assert embedded_text("title", ["outer", "inner"], "body") == "title\nouter\ninner\nbody"
    assert embedded_text("", [], "body") == "body"


def test_embedded_text_leaves_the_line_out_where_an_empty_heading_says_so():
    assert embedded_text("title", ["", "inner"], "body") == "inner\nbody"


def test_embedded_text_takes_the_beginning_of_a_long_line():
    assert embedded_text("two  words\n" * 100, [], "body") == "two words " * 11 + "two words\nbody"


def test_a_context_line_that_takes_too_much_room_is_left_out():
    assert contexts(sentence(1) * 30, size=64, line="- " * 40)[0] == [""]


def test_markdown_sections_give_their_headings_to_the_chunks_under_them():
    text = f"# Ships\n\n{paragraph(1)}\n\n## Masts\n\n" + "\n\n".join(map(paragraph, range(2, 9)))

    found = contexts(text, "markdown", 128)

    assert found[0] == []
    assert found[-1] == ["Ships", "Masts"]


def test_a_chunk_that_begins_with_its_heading_does_not_repeat_it():
    text = "\n\n".join(f"# Part {number}\n\n{paragraph(number, 9)}" for number in range(6))

    found = bodies(text, "markdown", 100)

    assert [body.split("\n")[0] for body in found] == [f"# Part {number}" for number in range(6)]
    assert contexts(text, "markdown", 100) == [[]] * 6


def test_small_sections_share_a_chunk():
    text = "\n\n".join(f"## Part {number}\n\n{sentence(number)}" for number in range(30))

    assert len(bodies(text, "markdown", 128)) <= 4


def test_a_heading_stays_with_what_it_is_the_heading_of():
    text = "\n\n".join(f"## Part {number}\n\n{paragraph(number)}" for number in range(30))

    assert not any(re.search(r"## Part \d+$", body) for body in bodies(text, "markdown", 100))


def test_a_heading_equal_to_the_context_line_is_not_said_twice():
    text = "# Ships\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "markdown", line="Ships") == [[]] * len(chunk(text, "markdown"))


def test_underlined_markdown_headings_are_headings():
    text = (
        "Ships\n=====\n\n" + paragraph(1) + "\n\nMasts\n-----\n" + "\n\n".join([paragraph(2)] * 9)
    )

    assert contexts(text, "markdown")[-1] == ["Ships", "Masts"]


def test_closing_marks_are_no_part_of_a_heading():
    text = "## C# ##\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "markdown")[-1] == ["C#"]


def test_a_line_in_fenced_code_is_no_heading():
    text = "# Ships\n\n```sh\n# not a heading\n```\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "markdown")[-1] == ["Ships"]


def test_fenced_code_that_fits_is_not_cut():
    code = "```py\n" + "\n\n".join(f"a{n} = b{n}" for n in range(14)) + "\n```"
    text = "\n\n".join([paragraph(1), code, paragraph(2), paragraph(3), code, paragraph(4)])

    found = bodies(text, "markdown")

    assert sum(code in body for body in found) == 2


def test_fenced_code_too_long_for_a_chunk_is_cut_between_lines():
    code = "```py\n" + "\n".join(f"alpha{n} = call. Beta{n}" for n in range(100)) + "\n```"

    found = bodies(code, "markdown")

    assert all(body.startswith(("```", "alpha")) for body in found)


def test_front_matter_is_a_section_of_its_own():
    front = "---\ntitle: Ships\n# a comment\ntags: [a, b]\n---\n"
    text = front + "\n\n".join(map(paragraph, range(9)))

    found = bodies(text, "markdown", 90)

    assert contexts(text, "markdown", 90)[-1] == []
    assert found[0].startswith("---\ntitle")


def test_a_long_list_is_cut_between_items():
    text = "\n".join(
        f"- item {number} that goes\n  on in a line of its own" for number in range(60)
    )

    assert all(body.startswith("- item") for body in bodies(text, "markdown"))


def test_the_outermost_headings_give_way_when_the_path_is_long():
    path = "".join(f"{'#' * level} level {level} of the path\n\n" for level in range(1, 7))
    text = path + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "markdown")[-1] == ["level 5 of the path", "level 6 of the path"]


def test_a_long_heading_is_shortened_between_words():
    text = "# " + "very long heading " * 20 + "\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "markdown")[-1] == ["very long heading " * 3 + "very long heading"]


def test_rst_titles_nest_in_the_order_of_their_marks():
    text = "*****\nShips\n*****\n\n" + paragraph(1) + "\n\nMasts\n=====\n\n" + paragraph(2)
    text += "\n\nSails\n-----\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "rst", 128)[-1] == ["Ships", "Masts", "Sails"]


def test_an_underline_shorter_than_its_line_makes_no_rst_title():
    text = "A long line here\n---\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "rst")[-1] == []


def test_numbered_headings_of_plain_text_are_sections():
    text = "3.  Ships\n\n" + paragraph(1) + "\n\n3.2.  Masts and Sails\n\n"
    text += "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "plain")[-1] == ["3.  Ships", "3.2.  Masts and Sails"]


def test_numbered_sentences_are_no_sections():
    text = "1. The ship sails.\n\n" + "\n\n".join(map(paragraph, range(9)))

    assert contexts(text, "plain")[-1] == []


def test_rows_are_kept_whole_under_their_header():
    text = "name,year\n" + "\n".join(f'ship {number},"19\n{number}"' for number in range(50))

    found = bodies(text, "rows")

    assert all(body.startswith(("name", "ship")) and body.endswith('"') for body in found)
    assert contexts(text, "rows") == [[]] + [["name,year"]] * (len(found) - 1)


def test_a_row_that_fits_is_not_cut_between_its_sentences():
    text = "name,note\n" + "\n".join(f"ship,{sentence(n)} {sentence(n)}" for n in range(30))

    assert all(body.startswith(("name", "ship")) for body in bodies(text, "rows"))


def test_a_lone_quote_in_a_row_does_not_spoil_the_rest():
    text = 'size\n5" pipe\n' + "\n".join(f"ship {number} of oak" for number in range(80))

    assert all(body.startswith(("size", "ship")) for body in bodies(text, "rows"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_is_cut_at_methods_and_a_long_one_keeps_its_class_and_signature(language):
    method = "".join(STATEMENT.format(number) for number in range(40))
    text = LANGUAGES[language].format(method)

    found, around = bodies(text, f"code/{language}"), contexts(text, f"code/{language}")

    assert len(found) > 3
    assert re.search(r"^(class|impl) Ark$", around[2][0])
    assert "float" in around[2][1].lower()
    assert all("swim" not in context for path in around for context in path)


@pytest.mark.parametrize("language", FUNCTIONS)
def test_a_long_function_keeps_its_signature(language):
    body = "    swim;\n" * 100

    around = contexts(FUNCTIONS[language].format(body), f"code/{language}")

    assert "float" in around[-1][0]


@pytest.mark.parametrize("language", ["python", "java", "rust", "cpp", "ruby", "php"])
def test_comments_and_decorators_stay_with_their_method(language):
    method = "".join(STATEMENT.format(number) for number in range(5))
    one = LANGUAGES[language].format(method)
    text = one + "\n" + one.replace("<?php", "").replace("Ark", "Boat")

    found = bodies(text, f"code/{language}", 90)

    assert sum("how it floats" in body for body in found) == 2
    assert not any(body.endswith(("how it floats", "@property", "]")) for body in found)


def test_small_functions_share_a_chunk():
    text = "\n\n".join(f"def float{number}(a):\n    return a" for number in range(30))

    assert len(bodies(text, "code/python", 128)) <= 4


def test_functions_are_not_cut_where_they_fit():
    body = "".join(STATEMENT.format(number) for number in range(6))
    text = "\n\n".join(f"def float{number}(a):\n{body}" for number in range(10))

    assert all(piece.startswith("def float") for piece in bodies(text, "code/python"))


def test_code_after_a_class_does_not_stand_under_it():
    text = "class Ark:\n    def float(self):\n        return 1\n\n\n"
    text += "".join(f"call{number}(alpha, beta)\n" for number in range(40))

    assert contexts(text, "code/python")[-1] == []


def test_code_in_an_unknown_language_is_cut_at_blank_lines():
    text = "\n\n".join(f"block {number}\n  goes on\n  and on" for number in range(40))

    assert all(body.startswith("block") for body in bodies(text, "code/nothing"))


def test_code_too_large_to_parse_is_cut_at_blank_lines(monkeypatch):
    monkeypatch.setattr(grammar, "MAX_PARSED_BYTES", 100)
    text = "class Ark:\n" + "\n\n".join(f"    a{n} = call()\n    b{n} = a{n}" for n in range(40))

    assert contexts(text, "code/python")[-1] == []


def test_a_parser_that_takes_too_long_is_ended_and_the_next_text_is_parsed():
    endless = "a<" * 20_000
    method = "".join(STATEMENT.format(number) for number in range(40))

    assert grammar.captures(endless.encode(), "java") is None
    assert contexts(LANGUAGES["java"].format(method), "code/java")[-1][0] == "class Ark"


@pytest.mark.parametrize("markup", MARKUPS[:5])
@pytest.mark.parametrize(
    "unit",
    [
        "# h\n",
        "x",
        "!?.",
        "\0",
        "👩‍👩‍👧‍👦",
        "```\n",
        '"\n',
        "a\n--\n\n",
        "# ",
        "\r\n",
        "1.1  A\n\n",
    ],
)
def test_texts_made_to_be_slow_are_divided_all_the_same(markup, unit):
    text = unit * (20_000 // len(unit))

    spans = chunk(text, markup, 254)

    assert all(first.end <= second.start for first, second in pairwise(spans))


def test_texts_of_several_stretches_are_divided_without_a_seam():
    text = "".join(f"## Part {number}\n\n{paragraph(number)}\n\n" for number in range(11_000))

    found = bodies(text, "markdown", 254)

    assert len(text) > 2**20
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(body.startswith("## Part") for body in found)
