#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gossamer {

// Rows that are gone from among others that are numbered 0, 1, 2, ...: those that are left count
// without them.
class Gaps {
 public:
  // Stretches come in their order and do not overlap (kDamaged).
  void add(std::size_t first, std::size_t count) {
    if (count == 0) return;
    expect(gaps_.empty() || first >= gaps_.back().end, Reason::kDamaged,
           "what is gone of a segment is out of order");
    gaps_.push_back({first, first + count, removed_});
    removed_ += count;
  }

  std::size_t removed() const { return removed_; }
  // Where the last one ends; 0 without any.
  std::size_t end() const { return gaps_.empty() ? 0 : gaps_.back().end; }
  bool has(std::size_t row) const {
    const auto gap = gap_behind(row);
    return gap != gaps_.begin() && row < std::prev(gap)->end;
  }
  // The stretches that are left of so many rows: where each begins and ends.
  std::vector<std::pair<std::size_t, std::size_t>> between(std::size_t count) const {
    std::vector<std::pair<std::size_t, std::size_t>> left;
    std::size_t at = 0;
    for (const Gap& gap : gaps_) {
      if (gap.first > at) left.emplace_back(at, gap.first);
      at = gap.end;
    }
    if (count > at) left.emplace_back(at, count);
    return left;
  }
  // What a row that is left counts as.
  std::size_t left_of(std::size_t row) const {
    const auto gap = gap_behind(row);
    return gap == gaps_.begin() ? row : row - removed_until(*std::prev(gap));
  }
  // The other way round.
  std::size_t row_of(std::size_t left) const {
    const auto gap = std::partition_point(
        gaps_.begin(), gaps_.end(), [&](const Gap& one) { return one.first - one.before <= left; });
    return gap == gaps_.begin() ? left : left + removed_until(*std::prev(gap));
  }

 private:
  struct Gap {
    std::size_t first, end;
    std::size_t before;  // removed by the gaps before it
  };
  static std::size_t removed_until(const Gap& gap) { return gap.before + gap.end - gap.first; }
  std::vector<Gap>::const_iterator gap_behind(std::size_t row) const {
    return std::partition_point(gaps_.begin(), gaps_.end(),
                                [&](const Gap& gap) { return gap.first <= row; });
  }

  std::vector<Gap> gaps_;
  std::size_t removed_ = 0;
};

}  // namespace gossamer
