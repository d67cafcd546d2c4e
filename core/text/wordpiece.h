#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/trie.h"

namespace gossamer {

// The tokens of a text, in order.
struct Tokens {
  std::vector<std::uint32_t> ids;
  // Where each begins in the text it was made from, in bytes. Never falling; tokens made from one
  // character (a Hangul syllable may give three) begin at the same byte.
  std::vector<std::uint32_t> starts;
};

// What BERT's tokenizer does, as Hugging Face's `tokenizers` does it: clean the text, set Chinese
// characters apart, strip accents and lower, split at whitespace and punctuation, then take the
// longest piece of the vocabulary that fits, again and again. Bytes that are not UTF-8 are left out
// like other characters nobody can see. May be used by several threads at once.
class WordPiece {
 public:
  // `vocabulary`: one piece a line, pieces within a word begin with "##"; a line's number is its
  // id. It must hold "[UNK]". Text that equals one of `specials` is that token, whatever stands
  // around it; those that the vocabulary does not hold are text like any other.
  WordPiece(std::string_view vocabulary, bool lowercase, std::span<const std::string> specials);

  // No special tokens added and nothing cut off. Fails for texts of 4 GiB and more.
  Tokens tokenize(std::string_view text) const;

  // One more than the largest id.
  std::uint32_t size() const { return size_; }
  // The id of a piece as the vocabulary spells it; Trie::kNone when it does not hold it.
  std::uint32_t id_of(std::string_view piece) const;

 private:
  friend class Tokenizing;

  struct Special {
    std::string text;
    std::uint32_t id;
  };
  // What to do with a byte.
  enum class Kind : std::uint8_t { kLetter, kSpace, kSign, kNothing, kLookCloser };
  void add_specials(std::span<const std::string> specials);
  void sort_bytes();

  bool lowercase_;
  std::uint32_t size_ = 0;
  Trie trie_;
  std::uint32_t inside_;  // the node that pieces within a word hang from
  std::uint32_t unknown_;
  std::vector<Special> specials_;  // longest first
  std::array<Kind, 256> kinds_{};
};

}  // namespace gossamer
