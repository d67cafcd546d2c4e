#include "text/wordpiece.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "index_fixture.h"
#include "text/trie.h"

using namespace gossamer;
using namespace std::string_view_literals;
using gossamer::testing::reason_of;

namespace {

using Numbers = std::vector<std::uint32_t>;

const std::vector<std::string> kSpecials = {"[UNK]", "[CLS]", "[SEP]"};
//                                      0      1      2      3   4     5     6  7  8   9  10
constexpr std::string_view kPieces = "[UNK]\n[CLS]\n[SEP]\nun\n##a\n##able\nab\n,\n中\né\ne\n";

WordPiece make(bool lowercase = true) { return WordPiece(kPieces, lowercase, kSpecials); }
Numbers ids(std::string_view text) { return make().tokenize(text).ids; }
Numbers starts(std::string_view text) { return make().tokenize(text).starts; }

}  // namespace

TEST_CASE("a trie holds what was put in, the last of equal strings, and no more") {
  const std::vector<Trie::Entry> entries = {{"", 9},           {"ab", 1}, {"abcd", 2},
                                            {"\xff\x00"sv, 3}, {"b", 4},  {"ab", 5}};
  const Trie trie(entries);

  CHECK(trie.value(Trie::kRoot) == 9);
  CHECK(trie.value(trie.find("ab")) == 5);
  CHECK(trie.value(trie.find("abcd")) == 2);
  CHECK(trie.value(trie.find("abc")) == Trie::kNone);
  CHECK(trie.value(trie.find("\xff\x00"sv)) == 3);
  CHECK(trie.find("abcde") == Trie::kNone);
  CHECK(trie.find("x") == Trie::kNone);
  CHECK(Trie({}).find("a") == Trie::kNone);
}

TEST_CASE("a word is cut into the longest pieces that fit") {
  CHECK(ids("unable") == Numbers{3, 5});
  CHECK(ids("una") == Numbers{3, 4});
  CHECK(ids("unaa") == Numbers{3, 4, 4});
  CHECK(starts("unaa") == Numbers{0, 2, 3});
  CHECK(ids("") == Numbers{});
  CHECK(ids(" \n\t ") == Numbers{});
}

TEST_CASE("a word of which any part is unknown is unknown as a whole") {
  CHECK(ids("unx ab") == Numbers{0, 6});
  CHECK(starts("  unx ab") == Numbers{2, 6});
  CHECK(ids("able") == Numbers{0});
}

TEST_CASE("a word of more than a hundred characters is unknown") {
  const std::string tail(98, 'a');

  CHECK(ids("un" + tail).size() == 99);
  CHECK(ids("un" + tail + "a ab") == Numbers{0, 6});
  CHECK(starts("un" + tail + "a ab") == Numbers{0, 102});
}

TEST_CASE("punctuation and Chinese characters are words of their own") {
  CHECK(ids("ab,ab") == Numbers{6, 7, 6});
  CHECK(starts("ab,ab") == Numbers{0, 2, 3});
  CHECK(ids("ab中中ab") == Numbers{6, 8, 8, 6});
  CHECK(starts("ab中中ab") == Numbers{0, 2, 5, 8});
}

TEST_CASE("accents and capitals go, and what nobody sees is left out") {
  CHECK(ids("ÁB É E\u0301") == Numbers{6, 10, 10});
  CHECK(starts("ÁB É E\u0301 ab") == Numbers{0, 4, 7, 11});
  CHECK(ids("a\0b a\xff"
            "b a\u200b"
            "b"sv) == Numbers{6, 6, 6});
  CHECK(starts("\0a\0b"sv) == Numbers{1});
}

TEST_CASE("with capitals kept, accents stay too") {
  const WordPiece pieces = make(false);

  CHECK(pieces.tokenize("ab AB é e").ids == Numbers{6, 0, 9, 10});
}

TEST_CASE("special tokens are found in the text as it was given") {
  CHECK(ids("ab[SEP]ab [CLS]") == Numbers{6, 2, 6, 1});
  CHECK(starts("ab[SEP]ab [CLS]") == Numbers{0, 2, 7, 10});
  CHECK(ids("[sep]") == Numbers{0, 0, 0});
  CHECK(ids("[SEP") == Numbers{0, 0});
}

TEST_CASE("lines may end as on Windows, and the last need not end") {
  const WordPiece pieces("[UNK]\r\nab\r\n##a", true, {});

  CHECK(pieces.size() == 3);
  CHECK(pieces.tokenize("aba").ids == Numbers{1, 2});
  CHECK(pieces.id_of("##a") == 2);
  CHECK(pieces.id_of("a") == Trie::kNone);
}

TEST_CASE("a vocabulary without pieces inside words, or with the bare sign of them, does no harm") {
  CHECK(WordPiece("[UNK]\nab\n", true, {}).tokenize("ab aba").ids == Numbers{1, 0});
  CHECK(WordPiece("[UNK]\nab\n##\n", true, {}).tokenize("ab aba").ids == Numbers{1, 0});
}

TEST_CASE("what is no vocabulary is refused") {
  CHECK(reason_of([] { WordPiece("ab\n", true, {}); }) == "invalid argument");
  CHECK(reason_of([] { WordPiece("", true, {}); }) == "invalid argument");
  CHECK(reason_of([] { WordPiece(std::string(9 << 20, 'a'), true, {}); }) == "too large");
}
