// Any bytes as a text, and as a vocabulary: tokens that lie within the text, in order, and have ids
// of the vocabulary. Its words lie within it too, and counting them finds what reading them does.
//
// The first byte chooses: a text for a fixed vocabulary (even), lower case or not, or (odd) a
// vocabulary up to the first zero byte and then its text.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lexical/counter.h"
#include "text/unicode.h"
#include "text/word_fold.h"
#include "text/wordpiece.h"

using namespace gossamer;

namespace {

constexpr std::string_view kPieces =
    "[UNK]\n[CLS]\n[SEP]\na\n##a\n##b\nab\nabc\n##abc\n,\n[\n中\né\ne\nᄀ\n##ᅡ\n##ᆨ\n##i\ni\n";
const std::vector<std::string> kSpecials = {"[UNK]", "[CLS]", "[SEP]", "[SE"};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void check_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const char32_t point = next_point(text, at);
    require(at > before && at <= before + 4 && at <= text.size(), "a character has 1 to 4 bytes");
    require(point < 0x110000, "a character is one of Unicode's");
    std::string written;
    for (const char32_t part : fold(point)) append_utf8(written, part);
    require(written.size() <= 12, "a folded character is at most three");
    written.clear();
    append_word_fold(written, point);
    require(written.size() <= 12, "a character of a word has at most twelve bytes");
  }
}

void check_terms(std::string_view text, Side side) {
  std::size_t last = 0;
  visit_terms(text, side, [&](const Term& term) {
    require(!term.form.empty() && term.begin < term.end && term.end <= text.size(),
            "terms lie within the text");
    require(term.end > last || term.begin < last, "terms come from left to right");
    require(std::none_of(term.form.begin(), term.form.end(),
                         [](char byte) { return byte >= 0 && byte < '0'; }),
            "terms hold no spaces");
    last = term.end;
  });
}

void check_words(std::string_view text) {
  for (const Side side : {Side::kText, Side::kQuestion, Side::kOldQuestion})
    check_terms(text, side);
  const LexicalQuery query(text.substr(0, 40));
  std::vector<std::uint32_t> counts(query.terms().size());
  visit_terms(text, Side::kText, [&](const Term& term) {
    if (const auto id = query.find(term.form)) ++counts[*id];
  });
  TermCounter counter(query);
  counter.add(text);
  for (std::size_t i = 0; i < counts.size(); ++i)
    require(counter.count(static_cast<TermId>(i)) == counts[i], "every word is counted");
  std::size_t end = 0;
  for (const auto& [start, stop] : query.find_in(text)) {
    require(start >= end && stop > start && stop <= text.size(), "spans rise, apart");
    end = stop;
  }
}

void check_tokens(const WordPiece& pieces, std::string_view text) {
  const Tokens tokens = pieces.tokenize(text);
  require(tokens.ids.size() == tokens.starts.size(), "each token has an id and a start");
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    require(tokens.ids[i] < pieces.size(), "ids are those of the vocabulary");
    require(tokens.starts[i] >= last && tokens.starts[i] < text.size(),
            "starts rise and lie within the text");
    last = tokens.starts[i];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_characters(input);
  check_words(input);
  const bool lowercase = (data[0] & 2) == 0;
  if (data[0] % 2 == 0) {
    check_tokens(WordPiece(kPieces, lowercase, kSpecials), input);
    return 0;
  }
  const std::size_t end = std::min(input.find('\0'), input.size());
  try {
    const WordPiece pieces("[UNK]\n" + std::string(input.substr(0, end)), lowercase, kSpecials);
    check_tokens(pieces, input.substr(end));
  } catch (const Error&) {
  }
  return 0;
}
