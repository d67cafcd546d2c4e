#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "distance/space.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/link.h"

namespace gossamer::testing {

// Points in clusters of very different sizes, as real text vectors are; each point is encoded once
// and `rows(count)` shows the first of them.
class ClusteredData {
 public:
  ClusteredData(std::size_t count, std::size_t dim, Metric metric = Metric::kL2,
                std::uint64_t seed = 7)
      : space_(metric, Scalar::kF32, dim), count_(count) {
    Random random(seed);
    std::vector<float> centers(kClusters * dim);
    for (float& value : centers) value = static_cast<float>(3 * random.normal());
    bytes_.resize((count + kQueries) * space_.row_bytes());
    std::vector<float> point(dim);
    for (std::size_t i = 0; i < count + kQueries; ++i) {
      const std::size_t cluster =
          static_cast<std::size_t>(random.below(1 + random.below(kClusters)));
      for (std::size_t j = 0; j < dim; ++j) {
        point[j] = centers[cluster * dim + j] + static_cast<float>(random.normal());
      }
      space_.encode_row(point.data(), bytes_.data() + i * space_.row_bytes());
    }
  }
  ClusteredData(const ClusteredData&) = delete;

  Rows rows() const { return rows(count_); }
  Rows rows(std::size_t count) const { return {&space_, bytes_.data(), count}; }
  // Gives one row the vector of another.
  void copy_row(NodeId to, NodeId from) {
    std::copy_n(bytes_.data() + from * space_.row_bytes(), space_.row_bytes(),
                bytes_.data() + to * space_.row_bytes());
  }
  // Queries are the rows behind the points.
  static constexpr std::size_t kQueries = 50;
  NodeId query(std::size_t i) const { return static_cast<NodeId>(count_ + i); }

 private:
  static constexpr std::size_t kClusters = 12;

  Space space_;
  std::size_t count_;
  std::vector<std::uint8_t> bytes_;
};

inline std::vector<NodeId> neighbors_of(const Graph& graph, NodeId node, unsigned layer) {
  std::vector<NodeId> list(kMaxDegree);
  list.resize(graph.neighbors(node, layer, list.data()));
  return list;
}

// What every graph must be: lists without the node itself, without duplicates, within the limits,
// naming only nodes that are on the layer.
inline bool is_sound(const Graph& graph, std::size_t base_limit, std::size_t upper_limit) {
  for (NodeId node = 0; node < graph.node_count(); ++node) {
    for (unsigned layer = 0; layer <= graph.level(node); ++layer) {
      const std::vector<NodeId> list = neighbors_of(graph, node, layer);
      if (list.size() > (layer == 0 ? base_limit : upper_limit)) return false;
      if (std::set<NodeId>(list.begin(), list.end()).size() != list.size()) return false;
      for (const NodeId neighbor : list) {
        if (neighbor == node || neighbor >= graph.node_count()) return false;
        if (graph.level(neighbor) < layer) return false;
      }
    }
  }
  return true;
}

// The nearest nodes that a plain walk finds: greedy above the trade-off layer, a beam from it down.
inline std::vector<NodeId> walk(const Graph& graph, const Rows& rows, NodeId query,
                                std::size_t effort) {
  const auto distance_to = [&](NodeId node) { return rows.between(query, node); };
  Visited visited;
  visited.start(graph.node_count());
  Candidate nearest{distance_to(graph.entry()), graph.entry()};
  unsigned layer = graph.level(graph.entry());
  for (; layer > graph.tradeoff_layer(); --layer) {
    for (NodeId before = kNoNode; before != nearest.node;) {
      before = nearest.node;
      for (const NodeId node : neighbors_of(graph, before, layer)) {
        nearest = std::min(nearest, Candidate{distance_to(node), node});
      }
    }
  }
  Beam beam;
  beam.start(effort);
  visited.insert(nearest.node);
  beam.offer(nearest);
  for (++layer; layer-- > 0;) {
    search_layer(graph, rows, layer, distance_to, visited, beam);
    beam.finish();
  }
  std::vector<NodeId> found;
  for (const Candidate& candidate : beam.finish()) found.push_back(candidate.node);
  return found;
}

// Recall@10 of walk() against brute force; nodes in `gone` do not count as answers.
inline double recall(const Graph& graph, const ClusteredData& data, std::size_t effort,
                     const std::set<NodeId>& gone = {}) {
  const Rows rows = data.rows(graph.node_count());
  std::size_t hits = 0;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < ClusteredData::kQueries; ++i) {
    std::vector<Candidate> truth;
    for (NodeId node = 0; node < rows.count; ++node) {
      if (!gone.contains(node)) truth.push_back({rows.between(data.query(i), node), node});
    }
    std::sort(truth.begin(), truth.end());
    truth.resize(std::min<std::size_t>(truth.size(), 10));
    const std::vector<NodeId> found = walk(graph, rows, data.query(i), effort);
    for (const Candidate& wanted_one : truth) {
      hits += static_cast<std::size_t>(std::count(found.begin(), found.end(), wanted_one.node));
    }
    wanted += truth.size();
  }
  return static_cast<double>(hits) / static_cast<double>(wanted);
}

inline BuildOptions small_build() {
  BuildOptions options;
  options.max_degree = 8;
  options.effort = 40;
  options.level_probability = 1.0 / 8;
  return options;
}

}  // namespace gossamer::testing
