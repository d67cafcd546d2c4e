#include "index/search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "arrays.h"
#include "index.h"

using namespace gossamer;

namespace {

std::optional<Bitmap> filter_of(const Index& index, const std::optional<IdRow>& ids,
                                const std::optional<BoolRow>& mask) {
  if (ids) return index.allow_ids(view_of(*ids));
  if (mask) return index.allow_mask({mask->data(), mask->size()});
  return std::nullopt;
}

auto estimate(const Index& index, const FloatRow& query, std::size_t best,
              const std::optional<IdRow>& allow_ids, const std::optional<BoolRow>& allow_mask) {
  check_dim(query.size(), index.options().dim);
  std::vector<std::uint64_t> ids;
  std::vector<float> distances;
  {
    const nb::gil_scoped_release release;
    for (const SearchHit& hit :
         estimate_nearest(index, query.data(), best, filter_of(index, allow_ids, allow_mask))) {
      ids.push_back(hit.id);
      distances.push_back(hit.distance);
    }
  }
  return std::make_pair(to_numpy(std::move(ids)), to_numpy(std::move(distances)));
}

std::unique_ptr<SearchBatch> search(const Index& index, const FloatMatrix& queries, std::size_t k,
                                    Strategy strategy, double recall,
                                    const std::optional<Effort>& effort,
                                    const std::optional<IdRow>& allow_ids,
                                    const std::optional<BoolRow>& allow_mask, unsigned threads) {
  check_dim(queries.shape(1), index.options().dim);
  const nb::gil_scoped_release release;
  SearchRequest request;
  request.k = k;
  request.strategy = strategy;
  request.recall = recall;
  request.effort = effort;
  request.threads = threads;
  request.allowed = filter_of(index, allow_ids, allow_mask);
  return std::make_unique<SearchBatch>(index, queries.data(), queries.shape(0), std::move(request));
}

// Two matrices, a row for each query: ids and distances. Once the search is over every query has as
// many hits, unless vectors were not to be had; the row of one that has fewer ends with the largest
// id and infinity.
auto nearest(const SearchBatch& search) {
  std::vector<std::uint64_t> ids;
  std::vector<float> distances;
  std::size_t width = 0;
  {
    const nb::gil_scoped_release release;
    std::vector<std::vector<SearchHit>> hits(search.query_count());
    for (std::size_t q = 0; q < hits.size(); ++q) {
      hits[q] = search.nearest(q);
      width = std::max(width, hits[q].size());
    }
    ids.assign(hits.size() * width, ~std::uint64_t{0});
    distances.assign(hits.size() * width, std::numeric_limits<float>::infinity());
    for (std::size_t q = 0; q < hits.size(); ++q) {
      for (std::size_t i = 0; i < hits[q].size(); ++i) {
        ids[q * width + i] = hits[q][i].id;
        distances[q * width + i] = hits[q][i].distance;
      }
    }
  }
  const std::size_t count = search.query_count();
  return std::make_pair(to_numpy(std::move(ids), {count, width}),
                        to_numpy(std::move(distances), {count, width}));
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<SearchCounters>(m, "SearchCounters")
      .def_ro("rounds", &SearchCounters::rounds)
      .def_ro("vectors_asked", &SearchCounters::vectors_asked)
      .def_ro("vectors_fetched", &SearchCounters::vectors_fetched)
      .def_ro("distances", &SearchCounters::distances)
      .def_ro("codes_touched", &SearchCounters::codes_touched)
      .def_ro("hops", &SearchCounters::hops)
      .def_ro("find_s", &SearchCounters::find_s)
      .def_ro("rank_s", &SearchCounters::rank_s);
  nb::class_<SearchBatch>(m, "SearchBatch")
      .def("wanted", [](const SearchBatch& self) { return to_numpy(self.wanted()); })
      .def(
          "supply",
          [](SearchBatch& self, const FloatMatrix& vectors, const std::optional<BoolRow>& missing) {
            const nb::gil_scoped_release release;
            self.supply({vectors.data(), vectors.size()},
                        missing ? std::span<const bool>(missing->data(), missing->size())
                                : std::span<const bool>());
          },
          nb::arg("vectors"), nb::arg("missing").none())
      .def("nearest", &nearest)
      .def("counters", &SearchBatch::counters)
      .def_prop_ro("strategy", &SearchBatch::strategy)
      .def_prop_ro("effort", &SearchBatch::effort, nb::rv_policy::copy);
  m.def("estimate", &estimate, nb::arg("index"), nb::arg("query"), nb::arg("best"),
        nb::arg("allow_ids").none(), nb::arg("allow_mask").none());
  m.def("search", &search, nb::arg("index"), nb::arg("queries"), nb::arg("k"), nb::arg("strategy"),
        nb::arg("recall"), nb::arg("effort").none(), nb::arg("allow_ids").none(),
        nb::arg("allow_mask").none(), nb::arg("threads"), nb::keep_alive<0, 1>());
}
