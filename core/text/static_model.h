#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "text/wordpiece.h"

namespace gossamer {

// An embedding model that is a table of tokens: a text is the weighted sum of its tokens, brought
// to length 1. Sums are of whole numbers and what follows is one square root and one division a
// value, so that a text has the same bits on every machine. May be used by several threads at once.
class StaticModel {
 public:
  // The sections of a model file, see docs/format.md. Untrusted: kTruncated or kDamaged. Nothing of
  // them is needed afterwards.
  static StaticModel from_parts(ByteView description, ByteView vocabulary, ByteView table);

  std::size_t dim() const { return dim_; }
  // How many tokens a chunk may have. embed() takes texts of any length, as questions may be.
  std::size_t max_tokens() const { return max_tokens_; }
  // What the file says about the model, in JSON; not looked into.
  const std::string& description() const { return description_; }
  const WordPiece& tokenizer() const { return tokenizer_; }

  // Writes the vector of a text into dim() values, and gives the number of its tokens. A text that
  // has no token of any weight gets the first axis: a direction that means nothing.
  std::size_t embed(std::string_view text, std::span<float> vector) const;
  // The vectors of the tokens of a text, end to end, in whole numbers of any length; and where each
  // begins, in bytes.
  struct Tokens {
    std::vector<float> rows;
    std::vector<std::uint32_t> starts;
  };
  Tokens embed_tokens(std::string_view text) const;

 private:
  StaticModel(std::string vocabulary, std::string description)
      : tokenizer_(make_tokenizer(vocabulary)), description_(std::move(description)) {}
  static WordPiece make_tokenizer(std::string_view vocabulary);
  void read_table(ByteView table);
  std::vector<std::int64_t> sum(std::span<const std::uint32_t> ids) const;
  void add_token(std::uint32_t id, std::span<std::int32_t> sums) const;

  WordPiece tokenizer_;
  std::string description_;
  std::size_t dim_ = 0;
  std::size_t max_tokens_ = 0;
  std::size_t pieces_ = 0;              // parts of a vector that are coded apart
  std::vector<std::uint8_t> weights_;   // of each token
  std::vector<std::int8_t> centroids_;  // pieces_ × 256 × dim_ / pieces_
  std::vector<std::uint8_t> codes_;     // tokens × pieces_
};

}  // namespace gossamer
