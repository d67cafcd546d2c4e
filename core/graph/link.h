#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "base/visited.h"
#include "distance/space.h"
#include "graph/beam.h"
#include "graph/graph.h"
#include "graph/select.h"

namespace gossamer {

// Distances between pairs of nodes met during one insertion: a pair compared in the search or in
// one selection is not computed again in the next. Forgetful: a pair may push out another.
class PairCache {
 public:
  void start() {
    if (slots_.empty()) slots_.resize(kSlots);
    ++round_;
  }
  float between(const Rows& rows, NodeId a, NodeId b) {
    const std::uint64_t pair = a < b ? join(a, b) : join(b, a);
    Slot& slot = slots_[(pair * 0x9e3779b97f4a7c15ULL) >> (64 - kSlotBits)];
    if (slot.pair != pair || slot.round != round_) {
      slot = {pair, round_, rows.between(a, b)};
    }
    return slot.distance;
  }

 private:
  struct Slot {
    std::uint64_t pair = 0;
    std::uint32_t round = 0;
    float distance = 0;
  };
  static constexpr unsigned kSlotBits = 11;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  static std::uint64_t join(NodeId a, NodeId b) { return (std::uint64_t{a} << 32) | b; }

  std::vector<Slot> slots_;
  std::uint32_t round_ = 0;
};

// What one worker needs to search and link; keep it from one insertion to the next.
struct InsertScratch {
  Visited visited;
  Beam beam;
  PairCache pairs;
  std::vector<Candidate> candidates;
  std::vector<Candidate> kept;
  std::vector<std::vector<Candidate>> picks;  // by layer
};

struct LinkOptions {
  std::size_t base_degree = 60;
  std::size_t upper_degree = 30;
  std::size_t effort = 128;
  bool simple_shrink = false;
  std::size_t pick_degree = kMaxDegree;  // how many neighbors a new node selects at most

  std::size_t limit(unsigned layer) const { return layer == 0 ? base_degree : upper_degree; }
};

// Expands the beam of `scratch` on one layer until all it holds are expanded. The beam's
// candidates must be marked as visited. `distance_to(node)` is measured for each node once.
template <class Store, class DistanceTo>
void search_layer(const Store& store, const Rows& rows, unsigned layer,
                  const DistanceTo& distance_to, Visited& visited, Beam& beam) {
  std::array<NodeId, kMaxDegree> list;
  for (NodeId node = beam.next(); node != kNoNode; node = beam.next()) {
    const std::size_t count = store.neighbors(node, layer, list.data());
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!visited.insert(list[i])) continue;
      rows.prefetch(list[i]);
      list[fresh++] = list[i];
    }
    if (const NodeId ahead = beam.peek(); ahead != kNoNode) store.prefetch(ahead);
    for (std::size_t i = 0; i < fresh; ++i) beam.offer({distance_to(list[i]), list[i]});
  }
}

// The HNSW insertion, over whatever keeps the lists. A store gives `neighbors`, `prefetch`,
// `set_neighbors`, `lock` and `unlock`; writes happen under the lock of the node they are for.
template <class Store>
class Linker {
 public:
  Linker(Store& store, const Rows& rows, const LinkOptions& options, InsertScratch& scratch)
      : store_(store), rows_(rows), options_(options), scratch_(scratch) {}

  // Links a node that has no links yet into a graph whose walks start at `entry` on layer `top`.
  // All layers are searched before any is written, and the base layer is written first: whoever
  // finds the node on a layer finds it linked on all layers below.
  void link(NodeId node, unsigned level, NodeId entry, unsigned top) {
    scratch_.pairs.start();
    const Candidate start = descend(node, level, {rows_.between(node, entry), entry}, top);
    const unsigned highest = std::min(level, top);
    if (scratch_.picks.size() <= highest) scratch_.picks.resize(highest + 1);
    scratch_.candidates.assign(1, start);
    for (unsigned layer = highest + 1; layer-- > 0;) pick(node, layer);
    for (unsigned layer = 0; layer <= highest; ++layer) write(node, layer);
    for (unsigned layer = 0; layer <= highest; ++layer) {
      for (const Candidate& pick : scratch_.picks[layer]) link_back(pick, node, layer);
    }
  }

 private:
  // The nearest node that greedy steps reach on the layers above `level`.
  Candidate descend(NodeId node, unsigned level, Candidate nearest, unsigned top) {
    std::array<NodeId, kMaxDegree> list;
    for (unsigned layer = top; layer > level; --layer) {
      for (bool moved = true; moved;) {
        moved = false;
        const std::size_t count = store_.neighbors(nearest.node, layer, list.data());
        for (std::size_t i = 0; i < count; ++i) rows_.prefetch(list[i]);
        for (std::size_t i = 0; i < count; ++i) {
          const Candidate candidate{rows_.between(node, list[i]), list[i]};
          if (candidate < nearest) {
            nearest = candidate;
            moved = true;
          }
        }
      }
    }
    return nearest;
  }

  // Searches one layer from the candidates of the layer above, and selects.
  void pick(NodeId node, unsigned layer) {
    Beam& beam = scratch_.beam;
    beam.start(options_.effort, NearerTo::salt_of(node));
    scratch_.visited.start(rows_.count);
    scratch_.visited.insert(node);
    for (const Candidate& candidate : scratch_.candidates) {
      if (scratch_.visited.insert(candidate.node)) beam.offer(candidate);
    }
    const auto distance_to = [&](NodeId other) { return rows_.between(node, other); };
    search_layer(store_, rows_, layer, distance_to, scratch_.visited, beam);
    const std::span<const Candidate> found = beam.finish();
    scratch_.candidates.assign(found.begin(), found.end());
    std::vector<Candidate>& picks = scratch_.picks[layer];
    picks.clear();
    const std::size_t most = std::min(options_.limit(layer), options_.pick_degree);
    select_neighbors(found, most, cached_between(), picks);
  }

  void write(NodeId node, unsigned layer) {
    std::array<NodeId, kMaxDegree> list;
    const std::vector<Candidate>& picks = scratch_.picks[layer];
    for (std::size_t i = 0; i < picks.size(); ++i) list[i] = picks[i].node;
    store_.lock(node);
    store_.set_neighbors(node, layer, {list.data(), picks.size()});
    store_.unlock(node);
  }

  // Adds `node` to the list of `from.node`, which lies at from.distance from it.
  void link_back(const Candidate& from, NodeId node, unsigned layer) {
    std::array<NodeId, kMaxDegree + 1> list;
    store_.lock(from.node);
    std::size_t count = store_.neighbors(from.node, layer, list.data());
    if (std::find(list.begin(), list.begin() + count, node) == list.begin() + count) {
      list[count++] = node;
      if (count > options_.limit(layer)) count = shrink(from, node, layer, {list.data(), count});
      store_.set_neighbors(from.node, layer, {list.data(), count});
    }
    store_.unlock(from.node);
  }

  // Cuts an overfull list, whose last node is the new one, back to the limit of its layer.
  std::size_t shrink(const Candidate& from, NodeId node, unsigned layer, std::span<NodeId> list) {
    for (const NodeId other : list) rows_.prefetch(other);
    const auto between = cached_between();
    std::vector<Candidate>& sorted = scratch_.candidates;
    sorted.assign(1, {from.distance, node});
    for (const NodeId other : list.first(list.size() - 1)) {
      sorted.push_back({between(from.node, other), other});
    }
    std::sort(sorted.begin(), sorted.end(), NearerTo(from.node));
    std::vector<Candidate>& kept = scratch_.kept;
    kept.clear();
    if (options_.simple_shrink) {
      kept.assign(sorted.begin(),
                  sorted.begin() + static_cast<std::ptrdiff_t>(options_.limit(layer)));
    } else {
      select_neighbors(sorted, options_.limit(layer), between, kept);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) list[i] = kept[i].node;
    return kept.size();
  }

  auto cached_between() {
    return [this](NodeId a, NodeId b) { return scratch_.pairs.between(rows_, a, b); };
  }

  Store& store_;
  const Rows& rows_;
  LinkOptions options_;
  InsertScratch& scratch_;
};

}  // namespace gossamer
