#pragma once

#include <cstddef>
#include <vector>

#include "base/bitmap.h"
#include "base/top_k.h"
#include "base/types.h"
#include "search/lookup.h"
#include "search/view.h"

namespace gossamer {

// Looks at every node that may be returned: the truth, and what small indexes and rare filters
// are searched with. Vectors that are not at hand are asked for in batches.
class ExactScan {
 public:
  explicit ExactScan(const View& view) : view_(view) {}

  // Goes on until every node was looked at (true) or vectors are wanted (false).
  bool resume(Lookup& lookup, TopK& hits);

 private:
  // What one request to the host may carry: so many vectors, a few megabytes of them at most.
  static constexpr std::size_t kBatch = 1024;
  static constexpr std::size_t kBatchNumbers = 1u << 20;

  View view_;
  std::vector<NodeId> pending_;
  NodeId next_ = 0;
};

// The k nearest rows of each query by brute force, nearest first: the truth that searches are
// measured against. Result i holds min(k, count of allowed rows) candidates; `skip[i]`, if given,
// is a row that query i must not find (kNoNode for none).
std::vector<std::vector<Candidate>> exact_nearest(const Rows& rows, const float* queries,
                                                  std::size_t query_count, std::size_t k,
                                                  const Bitmap* allowed, const NodeId* skip,
                                                  unsigned threads);

}  // namespace gossamer
