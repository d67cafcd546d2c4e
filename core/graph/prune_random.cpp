#include "graph/prune_random.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/random.h"

namespace gossamer {
namespace {

// A number in (0, 1] that belongs to the pair, whichever way it is asked for.
double draw(NodeId a, NodeId b, std::uint64_t seed) {
  const auto [low, high] = std::minmax(a, b);
  Random mixer(seed);
  Random random(mixer.next() ^ ((std::uint64_t{low} << 32) | high));
  return random.unit();
}

}  // namespace

Graph prune_random(const Graph& base, double keep_share, std::uint64_t seed) {
  expect(keep_share >= 0 && keep_share <= 1, Reason::kInvalidArgument,
         "keep_share must be in [0, 1]");
  Graph pruned = base;
  std::array<NodeId, kMaxDegree> list;
  for (NodeId node = 0; node < base.node_count(); ++node) {
    const auto end = list.begin() + base.neighbors(node, 0, list.data());
    const auto kept = std::remove_if(list.begin(), end, [&](NodeId neighbor) {
      return draw(node, neighbor, seed) > keep_share;
    });
    pruned.set_neighbors(node, 0, {list.begin(), kept});
  }
  pruned.compact();
  return pruned;
}

}  // namespace gossamer
