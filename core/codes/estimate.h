#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/types.h"
#include "codes/codebook.h"

namespace gossamer {

// One query against codes, by lookup tables. Estimates are raw distances in the units of Space:
// the negated dot product (of a normalised query for cosine), or the squared L2 distance.
class Estimator {
 public:
  // `query` has codebook.dim() finite values. Fails when they are too large to compute with.
  Estimator(const Codebook& codebook, const float* query);

  float estimate(const std::uint8_t* code) const {
    float total = base_;
    if (!coarse_.empty()) {
      total += coarse_[coarse_id(code)];
      code += kCoarseBytes;
    }
    const float* table = tables_.data();
    for (std::size_t piece = 0; piece < pieces_; ++piece, table += kSubspaceCentroids)
      total += table[code[piece]];
    return total;
  }
  // The same for several codes, whose sums go on side by side: an addition waits longer for the one
  // before it than for its turn.
  static constexpr std::size_t kTogether = 4;
  std::array<float, kTogether> estimate_together(
      const std::array<const std::uint8_t*, kTogether>& codes) const {
    std::array<float, kTogether> totals;
    const std::size_t skipped = coarse_.empty() ? 0 : kCoarseBytes;
    for (std::size_t i = 0; i < kTogether; ++i)
      totals[i] = skipped == 0 ? base_ : base_ + coarse_[coarse_id(codes[i])];
    const float* table = tables_.data();
    for (std::size_t at = skipped; at < skipped + pieces_; ++at, table += kSubspaceCentroids)
      for (std::size_t i = 0; i < kTogether; ++i) totals[i] += table[codes[i][at]];
    return totals;
  }
  // Standard deviation of (exact distance - estimate) for this query, from the residuals
  // seen in training: what decides when a search may stop.
  float error() const { return error_; }
  // The same for the nearest of these candidates, whose codes are rows of `codes`: where they say
  // that they miss more than codes did in training, estimates are off by more (inner product and
  // cosine; the same as error() for L2).
  float error_among(std::span<const Candidate> candidates,
                    std::span<const std::uint8_t> codes) const;

  std::size_t code_bytes() const { return pieces_ + (coarse_.empty() ? 0 : kCoarseBytes); }
  // What estimate() adds up: a constant, a table of 256 for each byte after the coarse id, and one
  // entry for each value a coarse id can take (empty without coarse centroids).
  float base() const { return base_; }
  std::span<const float> tables() const { return tables_; }
  std::span<const float> coarse() const { return coarse_; }
  // An id past the last centroid (a damaged file) gives the entry that stands for "no centroid".
  std::size_t coarse_id(const std::uint8_t* code) const {
    const std::size_t id = static_cast<std::size_t>(code[0] | code[1] << 8);
    return id < coarse_.size() ? id : coarse_.size() - 1;
  }

 private:
  void fill_inner_product(const Codebook& codebook, std::span<const float> query,
                          std::span<const float> mapped);
  void fill_l2(const CodebookParts& parts, std::span<const float> query,
               std::span<const float> mapped);

  std::size_t pieces_;  // bytes after the coarse id: pieces and the correction
  float base_ = 0.0f;
  float error_ = 0.0f;
  // What a step of the correction byte is worth, against what it says at the middle of its range;
  // 0 where it says nothing about errors.
  float correction_step_ = 0.0f;
  std::vector<float> tables_;
  std::vector<float> coarse_;
};

// The `best` codes with the smallest estimates, sorted; only nodes in `allowed` if it is given.
// Equal to sorting all float estimates (ties by node). Fewer when fewer are there.
std::vector<Candidate> scan(const Estimator& estimator, std::span<const std::uint8_t> codes,
                            std::size_t count, std::size_t best, const Bitmap* allowed);
// The same for several queries of one codebook; the codes are read once.
std::vector<std::vector<Candidate>> scan_batch(std::span<const Estimator> estimators,
                                               std::span<const std::uint8_t> codes,
                                               std::size_t count, std::size_t best,
                                               const Bitmap* allowed);

}  // namespace gossamer
