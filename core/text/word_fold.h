#pragma once

#include <string>

#include "text/unicode.h"

namespace gossamer {

// What characters are in words that are compared, beyond fold(), which is BERT's: forms of one
// letter that NFKC or full case folding makes the same. Nothing of it is ever shown. See
// make_compat_tables.py for what is left out.

// Properties of a character in words: a letter in a circle is one.
inline std::uint8_t properties_in_word(char32_t point) {
  if (point < 128) return kAsciiProperties[point];
  return point - 0x24B6 < 52 ? std::uint8_t{kWord} : properties_beyond_ascii(point);
}

// Whether a character within a word says nothing of it: soft hyphens, joiners, marks of byte order,
// and what chooses a form of an ideograph.
inline bool is_silent(char32_t point) {
  if (point < 0xAD) return false;
  return point == 0xAD || point - 0x200C < 2 || point == 0x2060 || point == 0xFEFF ||
         point - 0xE0100 < 240;
}

// Appends the small letters or digits that a character beyond ASCII stands for; nothing for an
// accent.
void append_word_fold(std::string& word, char32_t point);

// The usual form of a character of a script without spaces: half-width katakana, and ideographs
// that are there twice.
char32_t usual_form(char32_t point);

// The character that a mark or letter makes of the one before it: kana that are voiced, syllables
// of Hangul; 0 for none.
char32_t compose(char32_t before, char32_t point);

}  // namespace gossamer
