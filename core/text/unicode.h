#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gossamer {

// What a character is. Tables of unicode_tables.h; see make_tables.py for where each comes from.
enum Property : std::uint8_t {
  kWord = 1,         // letters, marks and digits
  kCjk = 2,          // Han, Hiragana, Katakana, Bopomofo, Hangul
  kUnspaced = 4,     // Thai, Lao, Khmer, Myanmar, Tai: words without spaces between them
  kPunctuation = 8,  // Unicode P*, and every ASCII sign
  kWhitespace = 16,  // as BERT has it
  kControl = 32,     // what BERT leaves out: U+0000, U+FFFD, and Cc, Cf, Co except tab and newlines
  kAccent = 64,      // a mark that does not take up space (Mn): goes when accents are stripped
  kCombining = 128,  // its combining class is not 0
};

// The sum of the properties of a code point; 0 for what is beyond Unicode.
std::uint8_t properties_beyond_ascii(char32_t point);
extern const std::array<std::uint8_t, 128> kAsciiProperties;

inline std::uint8_t properties_of(char32_t point) {
  return point < 128 ? kAsciiProperties[point] : properties_beyond_ascii(point);
}
inline bool is_word(char32_t point) { return (properties_of(point) & kWord) != 0; }
inline bool is_cjk(char32_t point) { return (properties_of(point) & kCjk) != 0; }
inline bool is_unspaced(char32_t point) { return (properties_of(point) & kUnspaced) != 0; }
inline bool is_punctuation(char32_t point) { return (properties_of(point) & kPunctuation) != 0; }
inline bool is_whitespace(char32_t point) { return (properties_of(point) & kWhitespace) != 0; }
inline bool is_control(char32_t point) { return (properties_of(point) & kControl) != 0; }
// The characters that BERT makes words of their own (its ranges, which are not those of kCjk).
bool is_bert_cjk(char32_t point);
// Unicode's White_Space, and the four separators of ASCII: what Python strips and splits at.
bool is_space_character(char32_t point);
// Canonical combining class: marks that follow one another are sorted by it.
std::uint8_t combining_class(char32_t point);

// Up to three code points.
struct Folded {
  std::array<char32_t, 3> points;
  std::uint32_t size;

  const char32_t* begin() const { return points.data(); }
  const char32_t* end() const { return points.data() + size; }
};

Folded fold_beyond_ascii(char32_t point);

// Lower case without accents: decomposed (NFD), marks of category Mn dropped, lowered. Nothing for
// such a mark by itself. A Hangul syllable comes apart into its letters.
inline Folded fold(char32_t point) {
  if (point < 128) return {{point + (point - U'A' < 26 ? 32 : 0)}, 1};
  return fold_beyond_ascii(point);
}

// A byte within a character of UTF-8, not its first.
inline bool is_inside_character(char byte) { return (byte & 0xC0) == 0x80; }
// Of a text that is UTF-8, surrogates of three bytes included.
inline std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += is_inside_character(byte) ? 0 : 1;
  return count;
}

// What a byte that is not part of any character stands for.
inline constexpr char32_t kReplacement = 0xFFFD;

char32_t next_beyond_ascii(std::string_view text, std::size_t& at);

// The code point at `at`, which is less than text.size(); moves `at` behind it. Bytes that are not
// UTF-8 give kReplacement, as often as Python's errors="replace" does.
inline char32_t next_point(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<std::uint8_t>(text[at]);
  if (byte >= 128) return next_beyond_ascii(text, at);
  ++at;
  return byte;
}

// Whether half of a pair of UTF-16 stands at a place, written as the store writes one: three bytes.
bool is_half(std::string_view text, std::size_t at);

// The same as next_point, of a text as the store keeps it, where a lone surrogate stands as three
// bytes. Bytes that are no text give any number.
char32_t next_stored_point(std::string_view text, std::size_t& at);

// A letter of ASCII as a small one; anything else as it is.
inline char32_t small_letter(char32_t point) { return point + (point - U'A' < 26 ? 32 : 0); }

// What a decimal digit of any script is worth; -1 for what is none.
int digit_of(char32_t point);

// Appends the UTF-8 of a code point up to U+10FFFF.
void append_utf8(std::string& text, char32_t point);

}  // namespace gossamer
