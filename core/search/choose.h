#pragma once

#include <cstddef>
#include <optional>

#include "base/bitmap.h"
#include "search/calibration.h"
#include "search/effort.h"
#include "search/view.h"

namespace gossamer {

struct SearchRequest {
  std::size_t k = 10;
  Strategy strategy = Strategy::kAuto;
  double recall = 0.90;
  std::optional<Effort> effort;   // instead of recall
  std::optional<Bitmap> allowed;  // nodes that may be returned
  unsigned threads = 1;
};

// The strategy for a request that leaves it open. `can_walk`: the view can be given a graph.
Strategy choose_strategy(const View& view, bool can_walk);
// A strategy that lacks what it needs is refused (kInvalidArgument).
void check_strategy(Strategy strategy, bool has_codes, bool has_graph);
// The effort that was asked for, or the one that was measured to reach the recall.
Effort choose_effort(const SearchRequest& request, Strategy strategy, const View& view,
                     const Calibration& calibration);

}  // namespace gossamer
