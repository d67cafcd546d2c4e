#include "chunking/partition.h"

#include <algorithm>
#include <limits>

namespace gossamer {
namespace {

// A chunk costs 1, and empty room a little more, so that a short rest is shared with the chunk
// before it. Less than this part of the budget is a fragment, which is made only in need.
constexpr double kEmptyRoom = 0.15;
constexpr double kFragment = 0.3;
constexpr double kFragmentCost = 0.5;

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  std::size_t from = 0;
};

// The pieces that may begin at a place end at one of these, the last not included.
struct Range {
  std::size_t first;
  std::size_t stop;
};

Range ends_of(std::span<const Place> places, std::size_t begin, std::size_t max_bytes) {
  const Place& here = places[begin];
  const auto count = static_cast<std::int64_t>(here.tokens);
  const auto at = [&](std::size_t number) {
    return places.begin() + static_cast<std::ptrdiff_t>(number);
  };
  const auto number = [&](auto found) { return static_cast<std::size_t>(found - places.begin()); };
  std::size_t stop = number(std::partition_point(at(begin + 1), places.end(), [&](const Place& p) {
    return static_cast<std::int64_t>(p.tokens) <= count + here.budget;
  }));
  stop = number(std::partition_point(at(begin + 1), at(stop), [&](const Place& place) {
    return place.offset <= here.offset + max_bytes;
  }));
  stop = std::max(stop, begin + 2);
  const double least = static_cast<double>(count) + kFragment * static_cast<double>(here.budget);
  const std::size_t first =
      number(std::partition_point(at(begin + 1), at(stop), [&](const Place& place) {
        return static_cast<double>(place.tokens) < least;
      }));
  return {std::min(first, stop - 1), stop};
}

}  // namespace

std::vector<std::size_t> cheapest_partition(std::span<const Place> places, std::size_t max_bytes) {
  std::vector<Best> best(places.size());
  best[0].cost = 0;
  for (std::size_t begin = 0; begin + 1 < places.size(); ++begin) {
    const auto budget = static_cast<double>(places[begin].budget);
    const double scale = 1.0 / std::max(budget, 1.0);
    const auto held = [&](std::size_t end) {
      return static_cast<double>(places[end].tokens - places[begin].tokens);
    };
    const Range ends = ends_of(places, begin, max_bytes);
    double base = best[begin].cost + 1.0;
    if (held(ends.first) < kFragment * budget) base += kFragmentCost;
    for (std::size_t end = ends.first; end < ends.stop; ++end) {
      const double empty = 1.0 - held(end) * scale;
      const double total = base + places[end].cost + kEmptyRoom * empty * empty;
      if (total < best[end].cost) best[end] = {total, begin};
    }
  }
  std::vector<std::size_t> chosen = {places.size() - 1};
  while (chosen.back() > 0) chosen.push_back(best[chosen.back()].from);
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gossamer
