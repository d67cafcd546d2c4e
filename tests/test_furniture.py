"""How the case `furniture` judges a hit."""

from pathlib import Path

import pytest

from benchmarks.furniture import holds_furniture

PAGE = """<html><body><div class="sphinxsidebar"><ul><li><a href="a">Brewing green tea</a>
<li><a href="b">Washing up</a></ul></div><h1>Tea<a class="headerlink" href="#t">¶</a></h1>
<p>Brewing green tea takes three minutes.</p><br><p>Washing is done later.</p></body></html>"""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("- Brewing green tea\n- Washing up", True),
        ("Brewing green tea takes three minutes.", False),
        ("# Tea¶\n\nBrewing green tea takes three minutes.", True),
    ],
)
def test_words_of_a_menu_are_told_from_those_of_the_page(
    text: str, is_found: bool, tmp_path: Path
) -> None:
    file = tmp_path / "tea.html"
    file.write_text(PAGE, encoding="utf-8")

    assert holds_furniture(file, text) is is_found


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("1 Tea . . . . . . . 3\n2 Milk . . . . . . . . 4", True),
        ("green, 3, 4\nhot, 12, 45\nold, 7, 9, 11", True),
        ("And then . . . nothing. It was 3, 4 or 5.", False),
        ("It is hot.\n\n12 Chapter 3. Brewing tea\nOne waits.", True),
        ("It is hot.\n3.4. Milk and sugar 13", True),
        ("3. Milk and sugar 13\n12 Chapters are long.", False),
    ],
)
def test_contents_indexes_and_running_lines_are_told_in_a_pdf(text: str, is_found: bool) -> None:
    assert holds_furniture(Path("tea.pdf"), text) is is_found
