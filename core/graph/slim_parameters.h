#pragma once

#include <cstddef>

namespace gossamer {

// How far HNSW-Slim prunes, with the paper's defaults. Names ending in 0 are the base layer's, the
// others hold for every layer above it. A "hub" is one of the share of nodes with the most
// neighbors before pruning.
struct SlimParameters {
  double hub_share0 = 0.02;
  std::size_t hub_degree0 = 32;  // how many neighbors a hub selects
  std::size_t low_degree0 = 8;   // how many any other node selects; reverse links come on top
  double hub_share = 0.02;
  std::size_t hub_degree = 16;
  std::size_t low_degree = 4;
  unsigned tradeoff_layer = 0;          // the layer that hierarchical pruning leaves whole
  double level_probability = 1.0 / 32;  // how likely a node is to reach one layer higher

  friend bool operator==(const SlimParameters&, const SlimParameters&) = default;
};

}  // namespace gossamer
