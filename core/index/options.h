#pragma once

#include <cstddef>
#include <cstdint>

#include "distance/distance.h"
#include "graph/build.h"
#include "graph/prune_hub.h"
#include "graph/slim_parameters.h"
#include "vectors/kept.h"

namespace gossamer {

enum class GraphKind : std::uint8_t {
  kNone = 0,
  kFull = 1,  // HNSW as built
  kHub = 2,   // pruned, hubs preserved (LEANN, algorithm 3)
  kSlim = 3,  // pruned, small world preserved (HNSW-Slim, algorithms 1, 3, 4)
};

// What an index is made of; stored with it.
struct IndexOptions {
  std::size_t dim = 0;
  Metric metric = Metric::kInnerProduct;
  Keep keep = Keep::kNone;
  std::size_t hot_budget = 0;    // bytes of vectors kept in hot mode
  Scalar scalar = Scalar::kF16;  // of kept vectors
  GraphKind graph = GraphKind::kNone;
  BuildOptions build;
  HubOptions hub;
  SlimParameters slim;
  bool slim_by_in_degree = false;  // SlimZero
  // Keep the unpruned graph beside a slim one, so that updates re-prune exactly.
  bool keep_source = false;
};

inline constexpr const char* kTooManyVectors = "an index holds at most 2^31 - 1 vectors";

// How one build runs; not stored.
struct BuildRun {
  unsigned threads = 1;
  std::uint64_t seed = 1;
  // Sample queries to calibrate with; 0 leaves the index without a table.
  std::size_t calibration_queries = 1000;
  // Refine the order of nodes by bisection of the graph: about a tenth fewer bytes of lists for
  // about a tenth more time.
  bool refine_order = false;
};

}  // namespace gossamer
