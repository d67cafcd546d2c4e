#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

// Vectors of tokens, end to end: of one text after another.
struct TokenRows {
  std::span<const float> rows;
  std::span<const std::uint32_t> counts;  // of each text
};

// The tokens of a question, which those of texts are compared with: for each the likeness to the
// nearest token of a text, and of these the mean by weight (Khattab and Zaharia, 2020: MaxSim).
// Most of it counts in the stretch of the text where it is largest: an answer stands in one place.
class QuestionTokens {
 public:
  // A question of more is a text: its tokens tell next to nothing (weigh_evidence), and comparing
  // them takes long. It counts as one that has none.
  static constexpr std::size_t kMostTokens = 512;

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
  // The likeness of each token to the nearest one in each block of a text, block after block; the
  // rows of its tokens are scaled to unit length on the way.
  std::vector<float> compare(std::span<const float> rows) const;
  // How well a text matches, by what compare() gave: their mean by weight.
  float match(std::span<const float> blocks) const;

 private:
  // What blocks hold together, by weight.
  double weigh_blocks(std::span<const float> blocks) const;

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
