#include "codes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/error.h"
#include "codes/codebook.h"
#include "codes/estimate.h"
#include "codes/kmeans.h"
#include "codes/product.h"

namespace gossamer {
namespace {

using MutableFloats = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<float> copy_of(const FloatRow& row) { return {row.data(), row.data() + row.size()}; }
std::vector<float> copy_of(const FloatMatrix& rows) {
  return {rows.data(), rows.data() + rows.size()};
}

const char* metric_name(Metric metric) {
  switch (metric) {
    case Metric::kInnerProduct:
      return "ip";
    case Metric::kCosine:
      return "cosine";
    case Metric::kL2:
      return "l2";
  }
  return "";
}

Metric metric_named(const std::string& name) {
  for (const Metric metric : {Metric::kInnerProduct, Metric::kCosine, Metric::kL2})
    if (name == metric_name(metric)) return metric;
  fail(Reason::kInvalidArgument, "metric must be 'ip', 'cosine' or 'l2', not '" + name + "'");
}

void check_splits(const std::vector<std::uint32_t>& splits, std::size_t dim,
                  std::size_t centroid_floats) {
  expect(splits.size() > 1 && splits.front() == 0 && splits.back() == dim &&
             std::is_sorted(splits.begin(), splits.end(), std::less_equal<>()) &&
             centroid_floats == dim * kSubspaceCentroids,
         Reason::kInvalidArgument, "splits must rise from 0 to the dimension of the vectors");
}

Codebook make_codebook(const std::string& metric, std::vector<std::uint32_t> splits,
                       const FloatRow& mean, const FloatMatrix& encode,
                       const std::optional<FloatMatrix>& query, const FloatRow& centroids,
                       const std::optional<FloatMatrix>& coarse, const FloatRow& residual_variance,
                       std::pair<float, float> rest_and_energy_variance,
                       std::tuple<float, float, float> correction) {
  CodebookParts parts;
  parts.metric = metric_named(metric);
  parts.dim = static_cast<std::uint32_t>(mean.size());
  parts.splits = std::move(splits);
  parts.mean = copy_of(mean);
  parts.encode = copy_of(encode);
  if (query) parts.query = copy_of(*query);
  parts.centroids = copy_of(centroids);
  if (coarse) parts.coarse = copy_of(*coarse);
  parts.residual_variance = copy_of(residual_variance);
  parts.rest_variance = rest_and_energy_variance.first;
  parts.energy_variance = rest_and_energy_variance.second;
  std::tie(parts.correction_low, parts.correction_step, parts.correlation) = correction;
  return Codebook(std::move(parts));
}

auto encode(const Codebook& codebook, const FloatMatrix& vectors, unsigned threads) {
  check_dim(vectors.shape(1), codebook.dim());
  std::vector<std::uint8_t> codes(vectors.shape(0) * codebook.code_bytes());
  {
    nb::gil_scoped_release release;
    codebook.encode(vectors.data(), vectors.shape(0), codes.data(), threads);
  }
  return to_numpy(std::move(codes), {vectors.shape(0), codebook.code_bytes()});
}

auto decode(const Codebook& codebook, const ByteMatrix& codes) {
  check_dim(codes.shape(1), codebook.code_bytes());
  std::vector<float> vectors(codes.shape(0) * codebook.dim());
  {
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < codes.shape(0); ++i)
      codebook.decode(codes.data() + i * codebook.code_bytes(),
                      vectors.data() + i * codebook.dim());
  }
  return to_numpy(std::move(vectors), {codes.shape(0), codebook.dim()});
}

auto corrections(const Codebook& codebook, const FloatMatrix& vectors, const ByteMatrix& codes,
                 unsigned threads) {
  check_dim(vectors.shape(1), codebook.dim());
  check_dim(codes.shape(1), codebook.code_bytes());
  check_dim(codes.shape(0), vectors.shape(0));
  std::vector<float> missed(vectors.shape(0));
  {
    nb::gil_scoped_release release;
    codebook.corrections(vectors.data(), missed.size(), codes.data(), missed.data(), threads);
  }
  return to_numpy(std::move(missed));
}

auto estimate(const Codebook& codebook, const FloatRow& query, const ByteMatrix& codes) {
  check_dim(query.size(), codebook.dim());
  check_dim(codes.shape(1), codebook.code_bytes());
  const Estimator estimator(codebook, query.data());
  std::vector<float> estimates(codes.shape(0));
  for (std::size_t i = 0; i < estimates.size(); ++i)
    estimates[i] = estimator.estimate(codes.data() + i * codebook.code_bytes());
  return std::make_pair(to_numpy(std::move(estimates)), estimator.error());
}

// Two matrices, a row for each query: nodes and estimates, nearest first.
auto scan_codes(const Codebook& codebook, const FloatMatrix& queries, const ByteMatrix& codes,
                std::size_t best, const std::optional<BoolRow>& allowed) {
  check_dim(queries.shape(1), codebook.dim());
  check_dim(codes.shape(1), codebook.code_bytes());
  const std::size_t count = codes.shape(0);
  std::optional<Bitmap> bitmap;
  if (allowed) {
    check_dim(allowed->size(), count);
    bitmap.emplace(count);
    for (std::size_t i = 0; i < count; ++i)
      if (allowed->data()[i]) bitmap->insert(static_cast<NodeId>(i));
  }
  std::vector<std::vector<Candidate>> found;
  {
    nb::gil_scoped_release release;
    std::vector<Estimator> estimators;
    for (std::size_t i = 0; i < queries.shape(0); ++i)
      estimators.emplace_back(codebook, queries.data() + i * codebook.dim());
    found = scan_batch(estimators, {codes.data(), codes.size()}, count, best,
                       bitmap ? &*bitmap : nullptr);
  }
  // Every query sees the same nodes, so every row has the same length.
  const std::size_t width = found.empty() ? 0 : found.front().size();
  std::vector<NodeId> nodes;
  std::vector<float> estimates;
  for (const auto& candidates : found)
    for (const Candidate& candidate : candidates) {
      nodes.push_back(candidate.node);
      estimates.push_back(candidate.distance);
    }
  return std::make_pair(to_numpy(std::move(nodes), {found.size(), width}),
                        to_numpy(std::move(estimates), {found.size(), width}));
}

void bind_codebook(nb::module_& m) {
  nb::class_<Codebook>(m, "Codebook")
      .def_static(
          "from_bytes", [](const nb::bytes& data) { return Codebook::from_bytes(view_of(data)); },
          nb::arg("data"))
      .def("to_bytes", [](const Codebook& codebook) { return bytes_of(codebook.to_bytes()); })
      .def_prop_ro("fingerprint", &Codebook::fingerprint)
      .def_prop_ro("dim", &Codebook::dim)
      .def_prop_ro("code_bytes", &Codebook::code_bytes)
      .def_prop_ro("metric", [](const Codebook& c) { return metric_name(c.metric()); })
      .def("encode", &encode, nb::arg("vectors"), nb::arg("threads") = 0u)
      .def("decode", &decode, nb::arg("codes"))
      .def("corrections", &corrections, nb::arg("vectors"), nb::arg("codes"),
           nb::arg("threads") = 0u)
      .def("estimate", &estimate, nb::arg("query"), nb::arg("codes"))
      .def("scan", &scan_codes, nb::arg("queries"), nb::arg("codes"), nb::arg("best"),
           nb::arg("allowed") = nb::none());
  m.def("make_codebook", &make_codebook, nb::arg("metric"), nb::arg("splits"), nb::arg("mean"),
        nb::arg("encode"), nb::arg("query").none(), nb::arg("centroids"), nb::arg("coarse").none(),
        nb::arg("residual_variance"), nb::arg("rest_and_energy_variance"), nb::arg("correction"));
}

void bind_product(nb::module_& m) {
  m.def(
      "train_product",
      [](const FloatMatrix& vectors, const std::vector<std::uint32_t>& splits,
         const MutableFloats& centroids, std::size_t iterations, std::uint64_t seed,
         unsigned threads, bool is_warm) {
        check_splits(splits, vectors.shape(1), centroids.size());
        nb::gil_scoped_release release;
        train_product(vectors.data(), vectors.shape(0), splits,
                      {iterations, seed, threads, is_warm}, {centroids.data(), centroids.size()});
      },
      nb::arg("vectors"), nb::arg("splits"), nb::arg("centroids"), nb::arg("iterations"),
      nb::arg("seed"), nb::arg("threads"), nb::arg("is_warm"));
  m.def(
      "quantize_product",
      [](const FloatMatrix& vectors, const std::vector<std::uint32_t>& splits,
         const FloatRow& centroids, unsigned threads) {
        check_splits(splits, vectors.shape(1), centroids.size());
        std::vector<float> quantized(vectors.size());
        {
          nb::gil_scoped_release release;
          quantize_product(vectors.data(), vectors.shape(0), splits,
                           {centroids.data(), centroids.size()}, threads, quantized.data());
        }
        return to_numpy(std::move(quantized), {vectors.shape(0), vectors.shape(1)});
      },
      nb::arg("vectors"), nb::arg("splits"), nb::arg("centroids"), nb::arg("threads"));
}

void bind_kmeans(nb::module_& m) {
  m.def(
      "kmeans",
      [](const FloatMatrix& vectors, std::size_t k, std::size_t iterations, std::uint64_t seed,
         unsigned threads) {
        const auto run = [&] {
          return kmeans(vectors.data(), vectors.shape(0), vectors.shape(1), k, iterations, seed,
                        threads);
        };
        return to_numpy(release_for(run), {k, vectors.shape(1)});
      },
      nb::arg("vectors"), nb::arg("k"), nb::arg("iterations") = std::size_t{10},
      nb::arg("seed") = std::uint64_t{1}, nb::arg("threads") = 0u);
  m.def(
      "assign_nearest_two",
      [](const FloatMatrix& vectors, const FloatMatrix& centroids, unsigned threads) {
        check_dim(vectors.shape(1), centroids.shape(1));
        std::vector<std::uint32_t> found(2 * vectors.shape(0));
        {
          nb::gil_scoped_release release;
          assign_nearest_two(vectors.data(), vectors.shape(0), vectors.shape(1), centroids.data(),
                             centroids.shape(0), found.data(), threads);
        }
        return to_numpy(std::move(found), {vectors.shape(0), 2});
      },
      nb::arg("vectors"), nb::arg("centroids"), nb::arg("threads") = 0u);
}

}  // namespace
}  // namespace gossamer

void bind_codes(nanobind::module_& m) {
  gossamer::bind_codebook(m);
  gossamer::bind_product(m);
  gossamer::bind_kmeans(m);
}
