"""Write compat_tables.h: `python core/text/make_compat_tables.py > core/text/compat_tables.h`.

Run by hand. What letters are to words, beyond what BERT's tokenizer folds: NFKC and full case
folding, by Python's `unicodedata`. Only letters that are small already are in the table, since
these are looked up after BERT's folding. What arithmetic gives (full width, circled, mathematical)
is in word_fold.cpp. Pages load the table, so it leaves out what is hardly ever written:

- Arabic ligatures (U+FC00 on), Arabic mathematical letters, letters for phonetics alone
- half-width and compatibility letters of Hangul, digraphs of kana, Kangxi radicals
- fractions and what else has a sign in it: 1/2 are two words
"""

import unicodedata
from collections.abc import Iterator

from make_tables import differences, show, varints

RANGES = (
    (0xAA, 0x237),  # Latin: ª ² µ ß ĳ ſ ǆ
    (0x2B0, 0x2E4),  # ʰ ˢ
    (0x3C2, 0x3F5),  # Greek: ς ϑ ϕ
    (0x587, 0x587),  # և
    (0x1D2C, 0x1DBF),  # ᵃ ᵢ
    (0x2070, 0x209C),  # ⁰ ₀ ⁿ
    (0x2102, 0x2149),  # ℂ ℓ
    (0x2170, 0x217F),  # ⅰ
    (0x24EA, 0x24EA),  # ⓪
    (0xFB00, 0xFB4F),  # ﬁ, ligatures of Armenian, wide letters of Hebrew
    (0xFB50, 0xFBFF),  # forms of letters of Arabic script
    (0xFE80, 0xFEFC),  # forms of Arabic letters, and lam with alef
    (0xFF66, 0xFF9D),  # half-width katakana
)
# An apostrophe, which is a letter here, and what takes four letters: word_fold.cpp knows it.
LEFT_OUT = {0x149, 0x2177}
# Without its dot a letter is the same, as it is without its accents.
ADDED = {0x131: "i", 0x237: "j"}


def stripped(text: str) -> str:
    """Give small letters without accents, as BERT has them."""
    decomposed = unicodedata.normalize("NFD", text)
    kept = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
    return kept.lower()


def word_fold(letter: str) -> str:
    """Give what a letter is compared by."""
    while True:
        folded = stripped(unicodedata.normalize("NFKD", letter).casefold())
        if folded == letter:
            return folded
        letter = folded


def is_common(point: int, folded: str) -> bool:
    """Say whether a letter is worth its bytes."""
    if not all(unicodedata.category(letter)[0] in "LN" for letter in folded):
        return False
    if 0x1D2C <= point <= 0x1DBF:
        return ord(folded) < 0x250 or 0x3B1 <= ord(folded) <= 0x3C9
    return len(folded) == 1 or not 0xFB50 <= point <= 0xFBFF


def folds() -> Iterator[tuple[int, str]]:
    """Give each letter of the table and what it is in words."""
    for first, last in RANGES:
        for point in range(first, last + 1):
            letter = chr(point)
            if point in ADDED:
                yield point, ADDED[point]
            elif unicodedata.category(letter)[0] in "LN" and stripped(letter) == letter:
                folded = word_fold(letter)
                if folded != letter and point not in LEFT_OUT and is_common(point, folded):
                    yield point, folded


def main() -> None:
    """Print the header."""
    folded = dict(folds())
    assert all(0 < len(said) < 4 for said in folded.values())
    print("// Written by make_compat_tables.py; not to be edited.\n// clang-format off")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace gossamer::compat_tables {\n")
    show("std::uint8_t", "kSteps", varints(differences(list(folded))))
    show("std::uint8_t", "kSizes", [len(said) for said in folded.values()])
    points = [ord(letter) for said in folded.values() for letter in said]
    show("std::uint8_t", "kResults", varints(differences(points)))
    print("}  // namespace gossamer::compat_tables")


if __name__ == "__main__":
    main()
