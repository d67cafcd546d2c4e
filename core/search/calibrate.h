#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "search/calibration.h"
#include "search/view.h"

namespace gossamer {

// Queries to calibrate with, and the node that each was made from (kNoNode if none): it would be
// found too easily and is left out of the answer.
struct SampleQueries {
  std::vector<float> vectors;
  std::vector<NodeId> made_from;

  std::size_t count() const { return made_from.size(); }
};

// Queries made from the data. A question lies farther from its answer than chunks lie from each
// other, so each sampled vector is moved by noise of the data's own covariance; how far was
// measured against real questions (docs/decisions/0005).
SampleQueries make_queries(const Rows& rows, const Bitmap* allowed, std::size_t count,
                           std::uint64_t seed);

// Tries efforts of each strategy on the queries and keeps what each recall costs. The view must
// keep all vectors. `progress` counts trials.
Calibration calibrate(const View& view, const SampleQueries& queries,
                      std::span<const Strategy> strategies, unsigned threads, Progress* progress);

}  // namespace gossamer
