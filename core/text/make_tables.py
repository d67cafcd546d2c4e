"""Write unicode_tables.h: `python core/text/make_tables.py > core/text/unicode_tables.h`.

Run by hand. What BERT's tokenizer does with a character is asked of the `tokenizers` package, one
character after the other, since the tables inside it are of several versions of Unicode; what is a
word for lexical search comes from Python's `unicodedata`.
"""

import unicodedata
from collections.abc import Sequence

from tokenizers import normalizers, pre_tokenizers

POINTS = 0x110000
PROPERTY_BLOCK = 128
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
VARIATION_SELECTORS = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
IDEOGRAPHIC_PLANES = range(0x20000, 0x40000)  # Han now or in a later version of Unicode
CJK = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL", "HENTAIGANA",
       "HALFWIDTH KATAKANA", "HALFWIDTH HANGUL", "IDEOGRAPHIC", "BOPOMOFO")  # fmt: skip
UNSPACED = ("THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI LE ", "NEW TAI LUE ", "TAI THAM ",
            "TAI VIET ")  # fmt: skip
# The bits of one property byte, in the order of enum Property in unicode.h.
WORD, CJK_BIT, UNSPACED_BIT, PUNCTUATION, WHITESPACE, CONTROL, ACCENT, COMBINING = (
    1 << bit for bit in range(8)
)

FLAGS = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False,
         "lowercase": False}  # fmt: skip
clean = normalizers.BertNormalizer(**(FLAGS | {"clean_text": True}))
lowered = normalizers.BertNormalizer(**(FLAGS | {"strip_accents": True, "lowercase": True}))
decomposed = normalizers.NFD()
pieces = pre_tokenizers.BertPreTokenizer()


def properties(point: int) -> int:
    """Give the property byte of a code point."""
    if point in SURROGATES:
        return 0
    character = chr(point)
    bits = word_properties(point)
    match clean.normalize_str(f"a{character}a"):
        case "aa":
            bits |= CONTROL
        case "a a":
            bits |= WHITESPACE
    if len(pieces.pre_tokenize_str(f"a{character}a")) == 3:
        bits |= PUNCTUATION
    if not fold(point):
        bits |= ACCENT
    return bits | (COMBINING if combining_class(point) else 0)


def word_properties(point: int) -> int:
    """Give the bits for lexical search: is it part of a word, and of what kind of script."""
    if point in IDEOGRAPHIC_PLANES:
        return WORD | CJK_BIT
    character = chr(point)
    if unicodedata.category(character)[0] not in "LMN" or point in VARIATION_SELECTORS:
        return 0
    name = unicodedata.name(character, "")
    is_letter = unicodedata.category(character)[0] in "LM" or point == 0x3007
    if is_letter and name.startswith(CJK):
        return WORD | CJK_BIT
    if is_letter and name.startswith(UNSPACED):
        return WORD | UNSPACED_BIT
    return WORD


def combining_class(point: int) -> int:
    """Give the canonical combining class, 0 where the tokenizer's tables do not know it."""
    combining = unicodedata.combining(chr(point))
    # A mark of class 255 does not exist, so U+0345 (240) or U+0334 (1) must change places with it.
    if combining and any(
        decomposed.normalize_str(f"a{first}{second}") != f"a{first}{second}"
        for first, second in [("\u0345", chr(point)), (chr(point), "\u0334")]
    ):
        return combining
    assert combining in (0, 1, 240) or combining_unknown(point)
    return combining if combining in (1, 240) else 0


def combining_unknown(point: int) -> bool:
    """Tell whether the tokenizer takes a mark for a character that starts anew."""
    return decomposed.normalize_str(f"a\u0345{chr(point)}\u0334") == f"a\u0345{chr(point)}\u0334"


def fold(point: int) -> str:
    """Give the lower case of a character without its accents; "" for an accent by itself."""
    return chr(point) if point in SURROGATES else lowered.normalize_str(chr(point))


def two_level(values: Sequence[int], block: int) -> tuple[list[int], list[int]]:
    """Cut values into blocks and keep each different block once."""
    seen: dict[tuple[int, ...], int] = {}
    first = [
        seen.setdefault(tuple(values[at : at + block]), len(seen))
        for at in range(0, len(values), block)
    ]
    return first, [value for rows in seen for value in rows]


def folds() -> dict[int, str]:
    """Give the lower case of each character that has another one, or is more than one."""
    results = {point: fold(point) for point in range(POINTS) if point not in HANGUL}
    return {point: said for point, said in results.items() if said not in ("", chr(point))}


def varints(numbers: Sequence[int]) -> list[int]:
    """Give numbers as bytes: seven bits each, lowest first; the eighth says that more follow."""
    written = []
    for number in numbers:
        while number >= 128:
            written.append(number & 127 | 128)
            number >>= 7
        written.append(number)
    return written


def differences(numbers: Sequence[int]) -> list[int]:
    """Give how far each number is from the one before; the lowest bit says that it is smaller."""
    steps = [number - before for before, number in zip([0, *numbers], numbers, strict=False)]
    return [2 * step if step >= 0 else -2 * step - 1 for step in steps]


def combining_ranges() -> list[tuple[int, int]]:
    """Give (last code point, class) of each run of equal classes."""
    runs: list[tuple[int, int]] = []
    for point in range(POINTS):
        combining = 0 if point in SURROGATES else combining_class(point)
        if runs and runs[-1][1] == combining:
            runs[-1] = (point, combining)
        else:
            runs.append((point, combining))
    return runs


def digit_zeros() -> list[int]:
    """Give the zeros of all scripts; the other nine digits stand behind each."""
    zeros = [p for p in range(POINTS) if unicodedata.decimal(chr(p), None) == 0]
    for zero in zeros:
        assert [unicodedata.decimal(chr(zero + i), None) for i in range(10)] == list(range(10))
    return zeros


def show(kind: str, name: str, values: Sequence[int]) -> None:
    """Print an array."""
    print(f"inline constexpr {kind} {name}[] = {{")
    line = ""
    for value in values:
        if len(line) + len(f"{value},") > 100:
            print(line)
            line = ""
        line += f"{value},"
    print(f"{line}}};\n")


def main() -> None:
    """Print the header."""
    property_blocks, property_bytes = two_level(
        [properties(p) for p in range(POINTS)], PROPERTY_BLOCK
    )
    folded = folds()
    assert all(len(said) < 4 for said in folded.values())
    assert len({point // 32 for point in folded}) < 256, "blocks of FoldTable have a byte each"
    points = [ord(letter) for said in folded.values() for letter in said]
    runs = combining_ranges()

    print("// Written by make_tables.py; not to be edited.\n// clang-format off")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace gossamer::unicode_tables {\n")
    for name, value in [
        ("kPropertyBlock", PROPERTY_BLOCK), ("kFoldEnd", max(folded) + 1)
    ]:  # fmt: skip
        print(f"inline constexpr char32_t {name} = {value};")
    print()
    show("std::uint8_t", "kPropertyBlocks", property_blocks)
    show("std::uint8_t", "kProperties", property_bytes)
    show("std::uint8_t", "kFoldSteps", varints(differences(list(folded))))
    show("std::uint8_t", "kFoldSizes", [len(said) for said in folded.values()])
    show("std::uint8_t", "kFoldResults", varints(differences(points)))
    show("char32_t", "kCombiningEnds", [end for end, _ in runs])
    show("std::uint8_t", "kCombiningClasses", [combining for _, combining in runs])
    zeros = digit_zeros()
    steps = [zero - before for before, zero in zip([0, *zeros], zeros, strict=False)]
    show("std::uint16_t", "kDigitSteps", steps)
    print("}  // namespace gossamer::unicode_tables")


if __name__ == "__main__":
    main()
