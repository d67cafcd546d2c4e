#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lexical/query.h"

namespace gossamer {

// Vectors of tokens, end to end: of one text after another.
struct TokenRows {
  std::span<const float> rows;
  std::span<const std::uint32_t> counts;  // of each text
};

// The tokens of a question, which those of texts are compared with: for each the likeness to the
// nearest token of a text, and of these the mean by weight (Khattab and Zaharia, 2020: MaxSim).
class QuestionTokens {
 public:
  QuestionTokens() = default;
  // Where each token begins in the question, in bytes. kInvalidArgument where these are not as many
  // as the rows, kNotFinite for a row that is no vector.
  QuestionTokens(std::size_t dim, std::span<const float> rows,
                 std::span<const std::uint32_t> starts);

  bool empty() const { return starts_.empty(); }
  std::size_t size() const { return starts_.size(); }
  // Lets tokens count by how rare the words are that they are of: `chunks_with` of so many chunks
  // hold each of the terms. All count alike until then.
  void weigh(std::string_view question, std::span<const std::string> terms,
             std::span<const std::uint64_t> chunks_with, std::uint64_t chunks);
  // How well a text matches; the rows of its tokens are scaled to unit length on the way.
  float match(std::span<const float> rows) const;

 private:
  std::size_t dim_ = 0;
  std::vector<float> rows_;  // of unit length
  std::vector<std::uint32_t> starts_;
  std::vector<float> weights_;
};

// Of each text its rows. kInvalidArgument where counts and rows do not fit, kNotFinite for values
// that are no numbers.
std::vector<std::span<const float>> split_rows(const TokenRows& tokens, std::size_t dim,
                                               std::size_t texts);

}  // namespace gossamer
