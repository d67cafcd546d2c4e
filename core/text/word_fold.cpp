#include "text/word_fold.h"

#include "text/compat_tables.h"
#include "text/fold_table.h"

namespace gossamer {
namespace {

constexpr char32_t kFirstArithmetic = 0x2460;
constexpr char32_t kRomanEight = 0x2177;
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulCount = 11172;

Folded compatible(char32_t point) {
  static const FoldTable table(compat_tables::kSteps, compat_tables::kSizes,
                               compat_tables::kResults);
  return table.find(point);
}

// What a number in a circle, in parentheses or with a full stop is worth; 0 for what is none.
unsigned circled_number(char32_t point) {
  if (point - 0x2460 < 60) return (point - 0x2460) % 20 + 1;
  if (point - 0x3251 < 15) return point - 0x3251 + 21;
  return point - 0x32B1 < 15 ? point - 0x32B1 + 36 : 0;
}

// A letter or digit of the mathematical alphabets, U+1D400 to U+1D7FF, as an ordinary small one.
char32_t mathematical(char32_t point) {
  if (point < 0x1D6A4) return U'a' + (point - 0x1D400) % 26;
  if (point < 0x1D6A8) return U'i' + (point - 0x1D6A4);  // without their dots
  if (point >= 0x1D7CE) return U'0' + (point - 0x1D7CE) % 10;
  if (point >= 0x1D7CA) return U'ϝ';
  // Capitals with another theta at the place of the final sigma, small letters, and six variants.
  const char32_t place = (point - 0x1D6A8) % 58;
  if (place >= 52) return std::u32string_view(U"εθκφρπ")[place - 52];
  if (place == 17) return U'θ';
  return place == 43 ? U'σ' : U'α' + place % 26;
}

void append_compatible(std::string& word, char32_t letter) {
  if (letter >= kFirstArithmetic) {
    if (letter - 0xFF10 < 0x4B) {  // full width
      letter -= 0xFEE0;
    } else if (letter - 0x24D0 < 26) {
      letter -= 0x24D0 - U'a';
    } else if (letter - 0x1D400 < 0x400) {
      letter = mathematical(letter);
    } else if (const unsigned number = circled_number(letter)) {
      if (number > 9) append_utf8(word, U'0' + number / 10);
      letter = U'0' + number % 10;
    }
  } else if (letter == kRomanEight) {
    word += "vii";
    letter = U'i';
  }
  for (const char32_t part : compatible(letter)) append_utf8(word, part);
}

// By the voiced mark (0) or the one that makes p of h (1); 0 where there is no such kana.
char32_t voice(char32_t kana, char32_t mark) {
  const auto gives = [&](char32_t voiced) {
    const Folded folded = fold(voiced);
    return folded.size == 1 && folded.points[0] == kana;
  };
  if (mark != 0) return gives(kana + 2) ? kana + 2 : 0;
  for (const char32_t step : {0x01, 0x4E, 0x08})  // most, then ヴ, then ヷ and the like
    if (gives(kana + step)) return kana + step;
  return 0;
}

}  // namespace

void append_word_fold(std::string& word, char32_t point) {
  for (const char32_t letter : fold(point)) append_compatible(word, letter);
}

char32_t usual_form(char32_t point) {
  return point < 0xF900 ? point : compatible(fold(point).points[0]).points[0];
}

char32_t compose(char32_t before, char32_t point) {
  if (before >> 8 == 0x30) {
    if (point - 0x3099 < 2) return voice(before, point - 0x3099);
    if (point - 0xFF9E < 2) return voice(before, point - 0xFF9E);
    return 0;
  }
  if (point - 0x1161 < 21 && before - 0x1100 < 19)
    return kHangulFirst + ((before - 0x1100) * 21 + (point - 0x1161)) * 28;
  if (point - 0x11A8 < 27 && before - kHangulFirst < kHangulCount &&
      (before - kHangulFirst) % 28 == 0)
    return before + (point - 0x11A7);
  return 0;
}

}  // namespace gossamer
