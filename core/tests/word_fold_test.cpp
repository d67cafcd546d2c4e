#include "text/word_fold.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gossamer;

namespace {

std::string folded(std::u32string_view text) {
  std::string word;
  for (const char32_t point : text) append_word_fold(word, point);
  return word;
}

}  // namespace

TEST_CASE("forms of letters are folded to the usual ones") {
  const std::vector<std::pair<std::u32string_view, std::string_view>> kinds = {
      {U"ßẞſ", "sssss"},  // full case folding
      {U"ﬀﬁﬂﬃﬄﬅﬆĳĲǆǅǄǳ", "fffiflffifflststijijdzdzdzdz"},
      {U"ａＺ０９", "az09"},                // full width
      {U"ªº¹²³⁰⁹₀₉ⁿₓʰᵗ", "ao1230909nxht"},  // raised and lowered
      {U"①⑨⑩⑳⓪⑴⒇⒈⒛㉑㉟㊱㊿",
       "1910200120120213536"
       "50"},
      {U"Ⓐⓩ", "az"},
      {U"ⅠⅣⅧⅷⅫⅿ", "iivviiiviiixiim"},       // Roman numerals
      {U"𝐀𝐳𝑨𝒛𝕬𝚣𝟎𝟗𝟘𝟿ℂℓℎ", "azazaz0909clh"},  // mathematical
      {U"𝚤𝚥ıȷİ", "ijiji"},
      {U"𝚨𝛀𝛂𝛚𝛓𝚹𝛜𝛡𝟊", "αωαωσθεπϝ"},
      {U"ςϑϕµϵ", "σθφμε"},
      {U"և", "եւ"},
      {U"ﺳﻼﻡﭘﮓﯼ", "سلامپگی"},  // Arabic by place in the word
      {U"ﬠﭏ", "עאל"},
      {U"ｱﾝ", "アン"},
  };

  for (const auto& [text, expected] : kinds) CHECK(folded(text) == expected);
}

TEST_CASE("letters that are others stay so, and accents go as before") {
  CHECK(folded(U"éŻжΆ") == "ezжα");
  CHECK(folded(U"æøđłœ½") == "æøđłœ½");
  CHECK(folded(U"\x301") == "");
}

TEST_CASE("half-width kana and ideographs that are there twice have their usual form") {
  CHECK(usual_form(U'ｶ') == U'カ');
  CHECK(usual_form(U'ｰ') == U'ー');
  CHECK(usual_form(0xF900) == 0x8C48);
  CHECK(usual_form(0x2F800) == 0x4E3D);
  for (const char32_t point : std::u32string_view(U"カ中한ไ𠀀")) CHECK(usual_form(point) == point);
}

TEST_CASE("marks and letters of Hangul make one character of two") {
  for (const char32_t mark : {0x3099u, 0xFF9Eu}) {
    CHECK(compose(U'カ', mark) == U'ガ');
    CHECK(compose(U'ほ', mark) == U'ぼ');
    CHECK(compose(U'ウ', mark) == U'ヴ');
    CHECK(compose(U'ヲ', mark) == U'ヺ');
    CHECK(compose(U'ア', mark) == 0);
    CHECK(compose(U'中', mark) == 0);
    CHECK(compose(U'ガ', mark) == 0);
  }
  for (const char32_t mark : {0x309Au, 0xFF9Fu}) {
    CHECK(compose(U'ハ', mark) == U'パ');
    CHECK(compose(U'カ', mark) == 0);
  }
  CHECK(compose(0x1112, 0x1161) == U'하');
  CHECK(compose(U'하', 0x11AB) == U'한');
  CHECK(compose(U'한', 0x11AB) == 0);
  CHECK(compose(U'하', 0x1161) == 0);
}

TEST_CASE("what says nothing within a word") {
  for (const char32_t point : {0xADu, 0x200Cu, 0x200Du, 0x2060u, 0xFEFFu, 0xE0100u, 0xE01EFu})
    CHECK(is_silent(point));
  for (const char32_t point : {0x20u, 0x2Du, 0x200Bu, 0x200Eu, 0xFE0Fu, 0xE01F0u, 0xFFFFFFFFu})
    CHECK_FALSE(is_silent(point));
}
