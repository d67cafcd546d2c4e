#include "text/unicode.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace gossamer;

namespace {

std::u32string points_of(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_point(text, at));
  return points;
}

std::u32string folded(std::u32string_view text) {
  std::u32string points;
  for (const char32_t point : text)
    for (const char32_t part : fold(point)) points.push_back(part);
  return points;
}

}  // namespace

TEST_CASE("every code point survives being written and read") {
  for (char32_t point = 0; point < 0x110000; ++point) {
    if (point >= 0xD800 && point < 0xE000) continue;
    std::string text;
    append_utf8(text, point);
    std::size_t at = 0;

    const char32_t read = next_point(text, at);

    if (read != point || at != text.size()) FAIL(std::uint32_t{point});
  }
}

TEST_CASE("bytes that are not UTF-8 are replaced, and what follows them is read") {
  using namespace std::string_view_literals;

  CHECK(points_of("a\xff\x80z"sv) == U"a\xFFFD\xFFFDz");
  CHECK(points_of("\xe2\x82z"sv) == U"\xFFFDz");
  CHECK(points_of("\xe2\x82"sv) == U"\xFFFD");
  CHECK(points_of("\xf0\x9f\x98"sv) == U"\xFFFD");
  CHECK(points_of("\xc3"sv) == U"\xFFFD");
  CHECK(points_of("\xc0\xaf"sv) == U"\xFFFD\xFFFD");
  CHECK(points_of("\xe0\x80\x80"sv) == U"\xFFFD\xFFFD\xFFFD");
  CHECK(points_of("\xed\xa0\x80"sv) == U"\xFFFD\xFFFD\xFFFD");
  CHECK(points_of("\xf4\x90\x80\x80"sv) == U"\xFFFD\xFFFD\xFFFD\xFFFD");
  CHECK(points_of("\0é"sv) == std::u32string(U"\0é", 2));
}

TEST_CASE("a lone surrogate of a stored text is one character, and any bytes come to an end") {
  using namespace std::string_view_literals;
  const auto stored = [](std::string_view text) {
    std::u32string points;
    for (std::size_t at = 0; at < text.size();) points.push_back(next_stored_point(text, at));
    return points;
  };

  CHECK(stored("aé中😀\0"sv) == std::u32string(U"aé中😀\0", 5));
  CHECK(stored("\xED\xA0\x80x"sv) == std::u32string{0xD800, U'x'});
  CHECK(stored("\xF0\x9F"sv).size() == 1);
  CHECK(stored("\x80\xFFx\xE4x"sv).size() == 5);
}

TEST_CASE("digits of all scripts have their values") {
  for (const std::u32string_view digits :
       {U"0123456789", U"٠١٢٣٤٥٦٧٨٩", U"𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡", U"０１２３４５６７８９"})
    for (std::size_t i = 0; i < 10; ++i) CHECK(digit_of(digits[i]) == static_cast<int>(i));
  for (const char32_t point : std::u32string_view(U"a/:²½Ⅷ一\x10FFFF"))
    CHECK(digit_of(point) == -1);
  CHECK(small_letter(U'Z') == U'z');
  CHECK(small_letter(U'[') == U'[');
  CHECK(small_letter(U'Ä') == U'Ä');
}

TEST_CASE("letters, marks and digits are words, signs and spaces are not") {
  for (const char32_t point : std::u32string_view(U"aZ9éßЖλ中あ한ไ३\x301\xAA"))
    CHECK(is_word(point));
  for (const char32_t point : std::u32string_view(U" _-.,$\t\n«…。\x200B\xFE0F\xFFFD😀"))
    CHECK_FALSE(is_word(point));
  CHECK_FALSE(is_word(0x110000));
  CHECK_FALSE(is_word(0xFFFFFFFF));
}

TEST_CASE("scripts without spaces are told apart") {
  for (const char32_t point : std::u32string_view(U"中㐀豈𠀀𰀀ひカー々ｶ한ᄒㄅ")) {
    CHECK(is_cjk(point));
    CHECK_FALSE(is_unspaced(point));
  }
  for (const char32_t point : std::u32string_view(U"ไลາខမ")) {
    CHECK(is_unspaced(point));
    CHECK_FALSE(is_cjk(point));
  }
  for (const char32_t point : std::u32string_view(U"aéЖक1๑。、 ")) {
    CHECK_FALSE(is_cjk(point));
    CHECK_FALSE(is_unspaced(point));
  }
}

TEST_CASE("folding lowers letters and strips accents") {
  CHECK(folded(U"AZaz09[@`{") == U"azaz09[@`{");
  CHECK(folded(U"Ångström É İ ẞ Σς Ж Ё") == U"angstrom e i ß σς ж е");
  CHECK(folded(U"e\x301") == U"e");
  CHECK(folded(U"각가") == U"\x1100\x1161\x11A8\x1100\x1161");
  CHECK(folded(U"\x1D160") == U"\x1D158\x1D165\x1D16E");
  CHECK(folded(U"豈") == U"豈");
  CHECK(folded(std::u32string(1, 0x110000)) == std::u32string(1, 0x110000));
}

TEST_CASE("BERT's classes are its own") {
  for (const char32_t point : std::u32string_view(U"$+<=>^`|~!_«¡…。"))
    CHECK(is_punctuation(point));
  for (const char32_t point : std::u32string_view(U"a€©°×")) CHECK_FALSE(is_punctuation(point));
  for (const char32_t point : std::u32string_view(U" \t\n\r\xA0\x2028\x3000"))
    CHECK(is_whitespace(point));
  for (const char32_t point : {0x00, 0x07, 0x0B, 0x0C, 0x7F, 0x85, 0xAD, 0x200B, 0xFEFF, 0xFFFD})
    CHECK(is_control(static_cast<char32_t>(point)));
  for (const char32_t point : std::u32string_view(U"\t\n\r a")) CHECK_FALSE(is_control(point));
  CHECK(is_bert_cjk(U'中'));
  CHECK(is_bert_cjk(0x2FA1F));
  CHECK_FALSE(is_bert_cjk(U'あ'));
  CHECK_FALSE(is_bert_cjk(U'한'));
}

TEST_CASE("marks know their order") {
  CHECK(combining_class(U'a') == 0);
  CHECK(combining_class(0x301) == 230);
  CHECK(combining_class(0x323) == 220);
  CHECK(combining_class(0x302E) == 224);
  CHECK(combining_class(0x10FFFF) == 0);
}
