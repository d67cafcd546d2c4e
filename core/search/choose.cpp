#include "search/choose.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace gossamer {

namespace {

// From here on a walk over the graph touches so many fewer codes that it beats a scan.
constexpr std::size_t kWalkFrom = 4'000'000;
// The same where vectors stay outside, which is in the browser: scans are slower there.
constexpr std::size_t kWalkOutsideFrom = 20'000;
// Where no more than one vector in so many is outside, exact walks read less than they save.
constexpr std::size_t kFewOutside = 8;
// So few nodes are faster looked at than searched.
constexpr std::size_t kFewNodes = 2'000;
// A walk through nodes of which fewer than this share may be returned finds too few.
constexpr double kRareShare = 0.05;
constexpr std::uint32_t kMaxBeam = 1u << 20;

double share_of(std::size_t allowed_count, const View& view) {
  return static_cast<double>(allowed_count) / static_cast<double>(view.node_count);
}

std::optional<Effort> measured_effort(const SearchRequest& request, Strategy strategy,
                                      const View& view, const Calibration& calibration) {
  const auto measured = [&](Strategy way) {
    return calibration.effort_for(way, request.k, request.recall, view.allowed_count);
  };
  if (strategy == Strategy::kLazy) return measured(Strategy::kBestFirst);
  std::optional<Effort> effort = measured(strategy);
  if (effort || strategy != Strategy::kWalk) return effort;
  // Where all vectors are kept, exact walks and scans are measured. A walk by estimates that is
  // twice as wide as the exact one passes what the scan would look at.
  const std::optional<Effort> exact = measured(Strategy::kBestFirst);
  effort = measured(Strategy::kScan);
  if (!exact || !effort) return std::nullopt;
  effort->beam = 2 * exact->beam;
  return effort;
}

void refuse(Strategy strategy, const char* part) {
  fail(Reason::kInvalidArgument, std::string("the strategy '") + strategy_name(strategy) +
                                     "' needs " + part + ", and this index was built without");
}

}  // namespace

Strategy choose_strategy(const View& view, bool can_walk) {
  const bool walks = can_walk && share_of(view.allowed_count, view) >= kRareShare;
  const bool is_few = view.allowed_count <= kFewNodes;
  const bool has_codes = view.codebook != nullptr;
  if (view.kept->has_all()) {
    if (is_few) return Strategy::kExact;
    if (walks) return Strategy::kBestFirst;
    return has_codes ? Strategy::kScan : Strategy::kExact;
  }
  const ResidentRows* resident = view.kept->resident();
  if (resident != nullptr) {
    const bool is_mostly_here = resident->used() >= view.node_count - view.node_count / kFewOutside;
    if (walks && !is_few && (is_mostly_here || !has_codes)) return Strategy::kLazy;
    if (!has_codes) return Strategy::kExact;
  }
  const std::size_t walk_from = resident != nullptr ? kWalkOutsideFrom : kWalkFrom;
  return walks && view.node_count >= walk_from ? Strategy::kWalk : Strategy::kScan;
}

void check_strategy(Strategy strategy, bool has_codes, bool has_graph) {
  if (needs_codes(strategy) && !has_codes) refuse(strategy, "codes");
  if (needs_graph(strategy) && !has_graph) refuse(strategy, "a graph");
}

Effort choose_effort(const SearchRequest& request, Strategy strategy, const View& view,
                     const Calibration& calibration) {
  Effort effort;
  if (request.effort) {
    effort = *request.effort;
  } else {
    effort = measured_effort(request, strategy, view, calibration).value_or(Effort());
    // Nodes that may not be returned take places in the beam.
    const double share = share_of(std::max<std::size_t>(view.allowed_count, 1), view);
    const double beam = static_cast<double>(effort.beam) / std::max(share, kRareShare);
    effort.beam = static_cast<std::uint32_t>(std::lround(beam));
  }
  expect(effort.beam <= kMaxBeam && effort.rerank <= kMaxBeam, Reason::kInvalidArgument,
         "the effort is beyond what a search can do");
  expect(effort.ratio >= 0 && effort.ratio <= 1 && std::isfinite(effort.margin),
         Reason::kInvalidArgument,
         "the ratio of an effort lies between 0 and 1, its margin is finite");
  return effort;
}

}  // namespace gossamer
