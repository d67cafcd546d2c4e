#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clustered.h"
#include "index/index.h"
#include "index/insert_batch.h"
#include "index/search.h"
#include "reason.h"
#include "small_codebook.h"

namespace gossamer::testing {

using Ids = std::vector<std::uint64_t>;

// Vectors and queries in clusters, and a codebook for them.
struct World {
  explicit World(std::size_t size, std::size_t dimension = 8, Metric by = Metric::kL2)
      : dim(dimension), metric(by) {
    const ClusteredData data(size, dim, metric);
    vectors = floats(data.rows(), 0, size);
    queries = floats(data.rows(), data.query(0), ClusteredData::kQueries);
    codebook = small_codebook(vectors, dim, metric);
  }

  std::size_t count() const { return vectors.size() / dim; }
  const float* vector(std::size_t i) const { return vectors.data() + i * dim; }
  const float* query(std::size_t i) const { return queries.data() + i * dim; }

  std::size_t dim;
  Metric metric;
  std::vector<float> vectors;
  std::vector<float> queries;
  std::shared_ptr<const Codebook> codebook;

 private:
  std::vector<float> floats(const Rows& rows, NodeId first, std::size_t number) const {
    std::vector<float> values(number * dim);
    std::memcpy(values.data(), rows.row(first), values.size() * sizeof(float));
    return values;
  }
};

// What an index should hold, by id: the truth that it is compared with.
class Model {
 public:
  Model(std::size_t dim, Metric metric) : space_(metric, Scalar::kF32, dim) {}
  explicit Model(const World& world) : Model(world.dim, world.metric) {
    for (std::size_t i = 0; i < world.count(); ++i) add(i, world.vector(i));
  }

  void add(std::uint64_t id, const float* vector) {
    vectors_[id].assign(vector, vector + space_.dim());
  }
  void remove(std::uint64_t id) { vectors_.erase(id); }
  std::size_t size() const { return vectors_.size(); }
  bool contains(std::uint64_t id) const { return vectors_.contains(id); }
  Ids ids() const {
    Ids ids;
    for (const auto& [id, vector] : vectors_) ids.push_back(id);
    return ids;
  }
  const std::vector<float>& vector(std::uint64_t id) const { return vectors_.at(id); }
  std::vector<float> vectors_of(std::span<const std::uint64_t> ids) const {
    std::vector<float> vectors;
    for (const std::uint64_t id : ids) {
      const std::vector<float>& one = vectors_.at(id);
      vectors.insert(vectors.end(), one.begin(), one.end());
    }
    return vectors;
  }

  // Distances of the k nearest with their ids, nearest first, of all or of those in `allowed`.
  std::vector<std::pair<float, std::uint64_t>> nearest(const float* query, std::size_t k,
                                                       const Ids* allowed = nullptr) const {
    RowBytes prepared;
    std::vector<std::uint8_t> row(space_.row_bytes());
    space_.prepare_query(query, prepared);
    std::vector<std::pair<float, std::uint64_t>> found;
    for (const auto& [id, vector] : vectors_) {
      if (allowed != nullptr && std::count(allowed->begin(), allowed->end(), id) == 0) continue;
      space_.encode_row(vector.data(), row.data());
      const float raw = space_.from_query(prepared.data(), row.data());
      found.emplace_back(space_.public_distance(raw), id);
    }
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), k));
    return found;
  }
  Ids nearest_ids(const float* query, std::size_t k, const Ids* allowed = nullptr) const {
    Ids ids;
    for (const auto& [distance, id] : nearest(query, k, allowed)) ids.push_back(id);
    return ids;
  }

 private:
  Space space_;
  std::map<std::uint64_t, std::vector<float>> vectors_;
};

inline constexpr std::array kKeeps = {Keep::kNone, Keep::kHot, Keep::kAll};
inline constexpr std::array kGraphs = {GraphKind::kNone, GraphKind::kFull, GraphKind::kHub,
                                       GraphKind::kSlim};
inline constexpr std::array kStrategies = {Strategy::kScan,     Strategy::kWalk,
                                           Strategy::kTwoLevel, Strategy::kBestFirst,
                                           Strategy::kLazy,     Strategy::kExact};

// Options of a small index; hot mode has room for a tenth of the vectors.
inline IndexOptions small_options(const World& world, Keep keep, GraphKind graph) {
  IndexOptions options;
  options.dim = world.dim;
  options.metric = world.metric;
  options.keep = keep;
  options.hot_budget = world.count() / 10 * world.dim * sizeof(float);
  options.scalar = Scalar::kF32;
  options.graph = graph;
  options.build = small_build();
  options.hub.max_degree = 24;
  options.hub.low_degree = 4;
  options.hub.hub_share = 0.05;
  options.hub.effort = 40;
  options.slim.hub_degree0 = 12;
  options.slim.low_degree0 = 6;
  return options;
}

inline std::unique_ptr<Index> build_small(const World& world, const IndexOptions& options,
                                          const Ids& ids = {}) {
  BuildRun run;
  run.calibration_queries = 0;
  return Index::build(options, world.codebook, world.vectors.data(), world.count(),
                      ids.empty() ? nullptr : ids.data(), nullptr, 0, run, nullptr);
}

// Calls check(index, options) for every way of keeping vectors with every graph.
template <class Check>
void for_each_index(const World& world, const Check& check) {
  for (const Keep keep : kKeeps) {
    for (const GraphKind graph : kGraphs) {
      const IndexOptions options = small_options(world, keep, graph);
      const std::unique_ptr<Index> index = build_small(world, options);
      check(*index, options);
    }
  }
}

// So much that every strategy looks at all it can reach.
inline Effort full_effort() {
  Effort effort;
  effort.margin = 1e6f;
  effort.beam = 4096;
  effort.ratio = 1.0f;
  return effort;
}

inline SearchRequest request_of(std::size_t k, Strategy strategy,
                                const Effort& effort = full_effort()) {
  SearchRequest request;
  request.k = k;
  request.strategy = strategy;
  request.effort = effort;
  return request;
}

// A search that was run to its end.
struct Outcome {
  Ids hits;
  std::vector<float> distances;
  std::vector<Ids> rounds;  // what was wanted, round by round
  SearchCounters counters;

  std::size_t wanted_count() const {
    std::size_t total = 0;
    for (const Ids& round : rounds) total += round.size();
    return total;
  }
  std::set<std::uint64_t> wanted() const {
    std::set<std::uint64_t> all;
    for (const Ids& round : rounds) all.insert(round.begin(), round.end());
    return all;
  }
};

inline Outcome run_search(const Index& index, const Model& model, const float* query,
                          SearchRequest request) {
  SearchBatch search(index, query, 1, std::move(request));
  Outcome outcome;
  while (!search.wanted().empty()) {
    outcome.rounds.push_back(search.wanted());
    search.supply(model.vectors_of(search.wanted()));
  }
  for (const SearchHit& hit : search.nearest(0)) {
    outcome.hits.push_back(hit.id);
    outcome.distances.push_back(hit.distance);
  }
  outcome.counters = search.counters();
  return outcome;
}

// Adds vectors the way that the index needs it.
inline void add_to(Index& index, const Model& model, const Ids& ids, const float* vectors) {
  if (index.options().graph == GraphKind::kNone || index.options().keep == Keep::kAll) {
    index.add(ids, vectors, nullptr);
    return;
  }
  const auto batch = index.begin_add(ids, vectors);
  batch->supply(model.vectors_of(batch->wanted()));
  batch->finish();
}

inline Bytes saved(const Index& index, bool with_codebook = true, bool with_source = true) {
  FileImage image;
  Bytes file;
  for (const ByteView part : index.save(image, {with_codebook, true, with_source})) {
    file.insert(file.end(), part.begin(), part.end());
  }
  return file;
}

inline std::string name_of(Keep keep) {
  static constexpr std::array kNames = {"none", "hot", "all"};
  return kNames[static_cast<std::size_t>(keep)];
}
inline std::string name_of(GraphKind graph) {
  static constexpr std::array kNames = {"none", "full", "hub", "slim"};
  return kNames[static_cast<std::size_t>(graph)];
}
inline std::string describe(const IndexOptions& options) {
  return "keep " + name_of(options.keep) + ", graph " + name_of(options.graph);
}

}  // namespace gossamer::testing
