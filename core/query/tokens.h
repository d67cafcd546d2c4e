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
  std::span<const std::uint32_t> counts;       // of each text
  std::span<const std::uint32_t> starts = {};  // bytes of its text; none where nobody knows
};

// The tokens of a text: how like each is to every token of the question, and where it begins.
struct TokenLikeness {
  std::vector<float> values;
  std::vector<std::uint32_t> starts;
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
  // The likeness to every token of the question, token of the text after token; nothing is less
  // alike than what has nothing in common. Rows are scaled to unit length on the way.
  std::vector<float> compare(std::span<const float> rows) const;
  // How well a text matches, by what compare() gave: the mean by weight.
  float match(std::span<const float> values) const;
  // The same of the tokens that begin within so many bytes, wherever the others are.
  double match_within(const TokenLikeness& text, std::size_t begin, std::size_t end) const;

 private:
  double total_weight() const;
  // What the question's tokens find in some blocks, or tokens, by weight.
  double weigh_best(std::span<const float> blocks) const;

  std::size_t dim_ = 0;
  std::vector<float> rows_;  // of unit length
  std::vector<std::uint32_t> starts_;
  std::vector<float> weights_;
};

// Those of each text. kInvalidArgument where counts, rows and starts do not fit, kNotFinite for
// values that are no numbers.
std::vector<TokenRows> split_rows(const TokenRows& tokens, std::size_t dim, std::size_t texts);

}  // namespace gossamer
