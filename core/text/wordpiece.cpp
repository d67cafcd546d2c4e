#include "text/wordpiece.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/sort.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostVocabularyBytes = std::size_t{8} << 20;
// A longer word is unknown.
constexpr std::size_t kMostPoints = 100;
constexpr std::string_view kUnknownPiece = "[UNK]";

std::vector<Trie::Entry> lines_of(std::string_view vocabulary) {
  expect(vocabulary.size() <= kMostVocabularyBytes, Reason::kTooLarge,
         "a vocabulary may have 8 MiB, this one is larger; is it the right file?");
  std::vector<Trie::Entry> lines;
  while (!vocabulary.empty()) {
    const std::size_t end = std::min(vocabulary.find('\n'), vocabulary.size());
    std::string_view piece = vocabulary.substr(0, end);
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    lines.emplace_back(piece, static_cast<std::uint32_t>(lines.size()));
    vocabulary.remove_prefix(std::min(end + 1, vocabulary.size()));
  }
  return lines;
}

}  // namespace

// One text on its way to tokens: the word being read, and the marks that wait for their order.
class Tokenizing {
 public:
  Tokenizing(const WordPiece& pieces, std::string_view text) : pieces_(pieces), text_(text) {
    tokens_.ids.reserve(text.size() / 4);
    tokens_.starts.reserve(text.size() / 4);
  }

  Tokens run() {
    using Kind = WordPiece::Kind;
    std::size_t at = 0;
    while (at < text_.size()) {
      const char byte = text_[at];
      switch (pieces_.kinds_[static_cast<std::uint8_t>(byte)]) {
        case Kind::kLetter:
          put_marks();
          put_ascii(byte, at++);
          break;
        case Kind::kSpace:
          end_word();
          ++at;
          break;
        case Kind::kSign:
          end_word();
          put_ascii(byte, at++);
          end_word();
          break;
        case Kind::kNothing:
          ++at;
          break;
        case Kind::kLookCloser:
          at = take_special(at);
          break;
      }
    }
    end_word();
    return std::move(tokens_);
  }

 private:
  // A special token, or else one character, of any kind; gives the place behind it.
  std::size_t take_special(std::size_t at) {
    for (const WordPiece::Special& special : pieces_.specials_) {
      if (!text_.substr(at).starts_with(special.text)) continue;
      end_word();
      add(special.id, static_cast<std::uint32_t>(at));
      return at + special.text.size();
    }
    const std::size_t start = at;
    take_point(next_point(text_, at), start);
    return at;
  }

  void take_point(char32_t point, std::size_t start) {
    const std::uint8_t properties = properties_of(point);
    if ((properties & kControl) != 0) return;
    if ((properties & kWhitespace) != 0) return end_word();
    const bool is_apart = is_bert_cjk(point);
    if (is_apart) end_word();
    if (!pieces_.lowercase_) {
      put(point, start);
    } else {
      if ((properties & (kAccent | kCombining)) == kAccent) put_marks();
      for (const char32_t folded : fold(point)) put_in_order(folded, start);
    }
    if (is_apart) end_word();
  }

  // Decomposed text has its marks sorted. Those that go change nothing about the order of the
  // others; those that stay are rare enough to be kept aside.
  void put_in_order(char32_t point, std::size_t start) {
    if (const std::uint8_t order = combining_class(point); order != 0) {
      marks_.emplace_back(std::int64_t{order} << 32 | static_cast<std::int64_t>(marks_.size()),
                          point);
      mark_starts_.push_back(start);
    } else {
      put_marks();
      put(point, start);
    }
  }
  void put_marks() {
    if (marks_.empty()) return;
    sort_values(marks_.begin(), marks_.end());
    for (std::size_t i = 0; i < marks_.size(); ++i)
      put(static_cast<char32_t>(marks_[i].second), mark_starts_[i]);
    marks_.clear();
    mark_starts_.clear();
  }

  void put(char32_t point, std::size_t start) {
    const bool is_sign = is_punctuation(point);
    if (is_sign) end_word();
    if (points_ < kMostPoints) {
      const std::size_t from = word_.size();
      append_utf8(word_, point);
      starts_.insert(starts_.end(), word_.size() - from, static_cast<std::uint32_t>(start));
    }
    ++points_;
    if (is_sign) end_word();
  }
  void put_ascii(char byte, std::size_t start) {
    if (points_ < kMostPoints) {
      const bool is_upper = static_cast<unsigned char>(byte - 'A') < 26;
      word_.push_back(is_upper && pieces_.lowercase_ ? static_cast<char>(byte + 32) : byte);
      starts_.push_back(static_cast<std::uint32_t>(start));
    }
    ++points_;
  }

  void end_word() {
    put_marks();
    if (points_ == 0) return;
    const std::size_t before = tokens_.ids.size();
    if (points_ > kMostPoints || !add_pieces()) {
      tokens_.ids.resize(before);
      tokens_.starts.resize(before);
      add(pieces_.unknown_, starts_.front());
    }
    word_.clear();
    starts_.clear();
    points_ = 0;
  }

  // False when at some place no piece fits.
  bool add_pieces() {
    const Trie& trie = pieces_.trie_;
    std::uint32_t node = Trie::kRoot;
    for (std::size_t begin = 0; begin < word_.size(); node = pieces_.inside_) {
      std::uint32_t longest = Trie::kNone;
      std::size_t end = begin;
      for (std::size_t i = begin; i < word_.size() && node != Trie::kNone; ++i) {
        node = trie.step(node, static_cast<std::uint8_t>(word_[i]));
        if (node == Trie::kNone || trie.value(node) == Trie::kNone) continue;
        longest = trie.value(node);
        end = i + 1;
      }
      if (longest == Trie::kNone) return false;
      add(longest, starts_[begin]);
      begin = end;
    }
    return true;
  }

  void add(std::uint32_t id, std::uint32_t start) {
    tokens_.ids.push_back(id);
    tokens_.starts.push_back(start);
  }

  const WordPiece& pieces_;
  std::string_view text_;
  Tokens tokens_;
  std::string word_;
  std::vector<std::uint32_t> starts_;  // of each byte of the word
  std::size_t points_ = 0;             // of the word, even when it is too long to be kept
  // Each by its order and then by its place among those that stand together.
  std::vector<SortKey> marks_;
  std::vector<std::size_t> mark_starts_;
};

WordPiece::WordPiece(std::string_view vocabulary, bool lowercase,
                     std::span<const std::string> specials)
    : lowercase_(lowercase), trie_({}) {
  const std::vector<Trie::Entry> lines = lines_of(vocabulary);
  size_ = static_cast<std::uint32_t>(lines.size());
  trie_ = Trie(lines);
  inside_ = trie_.find("##");
  unknown_ = id_of(kUnknownPiece);
  expect(unknown_ != Trie::kNone, Reason::kInvalidArgument,
         "a WordPiece vocabulary holds a line '[UNK]', this one does not; is it the right file?");
  add_specials(specials);
  sort_bytes();
}

Tokens WordPiece::tokenize(std::string_view text) const {
  expect(text.size() <= std::numeric_limits<std::uint32_t>::max(), Reason::kTooLarge,
         "a text of 4 GiB and more cannot be cut into tokens; cut it into parts before");
  return Tokenizing(*this, text).run();
}

std::uint32_t WordPiece::id_of(std::string_view piece) const {
  const std::uint32_t node = trie_.find(piece);
  return node == Trie::kNone ? Trie::kNone : trie_.value(node);
}

void WordPiece::add_specials(std::span<const std::string> specials) {
  for (const std::string& special : specials) {
    const std::uint32_t id = id_of(special);
    if (!special.empty() && id != Trie::kNone) specials_.push_back({special, id});
  }
  // The longest first; those of one length in the order in which they came.
  std::vector<SortKey> order;
  for (std::size_t i = 0; i < specials_.size(); ++i)
    order.emplace_back(-static_cast<std::int64_t>(specials_[i].text.size()), i);
  sort_values(order.begin(), order.end());
  std::vector<Special> sorted;
  for (const auto& [_, i] : order)
    sorted.push_back(std::move(specials_[static_cast<std::size_t>(i)]));
  specials_ = std::move(sorted);
}

void WordPiece::sort_bytes() {
  kinds_.fill(Kind::kLookCloser);
  for (std::size_t byte = 0; byte < 128; ++byte) {
    const std::uint8_t properties = kAsciiProperties[byte];
    kinds_[byte] = (properties & kControl) != 0       ? Kind::kNothing
                   : (properties & kWhitespace) != 0  ? Kind::kSpace
                   : (properties & kPunctuation) != 0 ? Kind::kSign
                                                      : Kind::kLetter;
  }
  for (const Special& special : specials_)
    kinds_[static_cast<std::uint8_t>(special.text.front())] = Kind::kLookCloser;
}

}  // namespace gossamer
