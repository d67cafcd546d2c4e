#include "graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "base/parallel.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/merge.h"
#include "graph/order.h"
#include "graph/prune_hub.h"
#include "graph/prune_random.h"
#include "graph/slim.h"
#include "index/index.h"
#include "search/stream_calibration.h"

using namespace gossamer;

namespace {

using NodeRow = nb::ndarray<const NodeId, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Vectors of one shard, in half precision where it can hold them, in an order that puts near ones
// side by side.
class Shard {
 public:
  Shard(const FloatMatrix& vectors, Metric metric, unsigned threads, std::uint64_t seed)
      : space_(metric, fitting_scalar(vectors), vectors.shape(1)), count_(vectors.shape(0)) {
    check_finite(vectors.data(), count_, space_.dim());
    const nb::gil_scoped_release release;
    const RowBytes given = encode(vectors.data(), {});
    order_ =
        order_by_locality({&space_, given.data(), count_}, resolve_threads(threads), seed, nullptr);
    rows_ = encode(vectors.data(), order_);
  }

  Graph build(BuildOptions options, Progress* progress) const {
    options.threads = resolve_threads(options.threads);
    return build_graph(rows(), options, progress);
  }
  Graph prune(const Graph& full, HubOptions options, Progress* progress) const {
    options.threads = resolve_threads(options.threads);
    return prune_hub(full, rows(), options, progress);
  }
  Graph prune_slim(const Graph& full, const SlimParameters& parameters, unsigned max_degree,
                   unsigned threads) const {
    return gossamer::prune_slim(full, rows(), parameters, max_degree, resolve_threads(threads));
  }
  // Place in the shard's order -> row of the matrix it was made from.
  const std::vector<NodeId>& order() const { return order_; }

 private:
  static Scalar fitting_scalar(const FloatMatrix& vectors) {
    return largest_value(vectors.data(), vectors.size()) > kMaxF16 ? Scalar::kF32 : Scalar::kF16;
  }
  Rows rows() const { return {&space_, rows_.data(), count_}; }
  RowBytes encode(const float* vectors, std::span<const NodeId> order) const {
    RowBytes rows(count_ * space_.row_bytes());
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t from = order.empty() ? i : order[i];
      space_.encode_row(vectors + from * space_.dim(), rows.data() + i * space_.row_bytes());
    }
    return rows;
  }

  Space space_;
  std::size_t count_;
  std::vector<NodeId> order_;
  RowBytes rows_;
};

// Queries to calibrate with: those given, or made from a sample of the vectors whose nodes are
// `sampled`.
SampleQueries sample_queries(const std::optional<FloatMatrix>& given, const FloatMatrix& sample,
                             const NodeRow& sampled, Metric metric, std::size_t count,
                             std::uint64_t seed) {
  if (given) {
    check_finite(given->data(), given->shape(0), given->shape(1));
    return {std::vector<float>(given->data(), given->data() + given->size()),
            std::vector<NodeId>(given->shape(0), kNoNode)};
  }
  const Space space(metric, Scalar::kF32, sample.shape(1));
  RowBytes rows(sample.shape(0) * space.row_bytes());
  for (std::size_t i = 0; i < sample.shape(0); ++i) {
    space.encode_row(sample.data() + i * space.dim(), rows.data() + i * space.row_bytes());
  }
  SampleQueries queries =
      make_queries({&space, rows.data(), sample.shape(0)}, nullptr, count, seed);
  for (NodeId& node : queries.made_from) node = sampled.data()[node];
  return queries;
}

std::unique_ptr<StreamCalibration> start_calibration(std::shared_ptr<Codebook> codebook,
                                                     const ByteMatrix& codes,
                                                     const std::optional<FloatMatrix>& given,
                                                     const FloatMatrix& sample,
                                                     const NodeRow& sampled, std::size_t count,
                                                     std::uint64_t seed, unsigned threads) {
  check_dim(sample.shape(1), codebook->dim());
  if (given) check_dim(given->shape(1), codebook->dim());
  const nb::gil_scoped_release release;
  return std::make_unique<StreamCalibration>(
      *codebook, std::span<const std::uint8_t>(codes.data(), codes.size()),
      sample_queries(given, sample, sampled, codebook->metric(), count, seed),
      resolve_threads(threads));
}

std::unique_ptr<Index> assemble(const IndexOptions& options, std::shared_ptr<Codebook> codebook,
                                const ByteMatrix& codes, const Graph* graph, const IdRow& ids,
                                StreamCalibration* calibration) {
  const nb::gil_scoped_release release;
  return Index::assemble(
      options, std::move(codebook),
      Column(codes.shape(1), RowBytes(codes.data(), codes.data() + codes.size())),
      graph == nullptr ? Graph() : *graph, view_of(ids),
      calibration == nullptr ? Calibration() : calibration->finish());
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<Graph>(m, "Graph")
      .def("edge_count", &Graph::edge_count, nb::arg("layer"))
      .def("memory_bytes", &Graph::memory_bytes);
  m.def(
      "renumber",
      [](const Graph& graph, const NodeRow& position_to_old) {
        return renumber(graph, {position_to_old.data(), position_to_old.size()});
      },
      nb::arg("graph"), nb::arg("position_to_old"), Release());
  m.def("prune_random", &prune_random, nb::arg("graph"), nb::arg("keep_share"), nb::arg("seed"),
        Release());
  nb::class_<Shard>(m, "Shard")
      .def(nb::init<const FloatMatrix&, Metric, unsigned, std::uint64_t>(), nb::arg("vectors"),
           nb::arg("metric"), nb::arg("threads"), nb::arg("seed"))
      .def("order", [](const Shard& self) { return to_numpy(self.order()); })
      .def("build", &Shard::build, nb::arg("options"), nb::arg("progress").none(), Release())
      .def("prune_slim", &Shard::prune_slim, nb::arg("full"), nb::arg("parameters"),
           nb::arg("max_degree"), nb::arg("threads"), Release())
      .def("prune", &Shard::prune, nb::arg("full"), nb::arg("options"), nb::arg("progress").none(),
           Release());
  nb::class_<GraphMerger>(m, "GraphMerger")
      .def(nb::init<std::size_t, unsigned, std::uint64_t>(), nb::arg("node_count"),
           nb::arg("max_degree"), nb::arg("seed"))
      .def(
          "add",
          [](GraphMerger& self, const Graph& shard, const NodeRow& local_to_global) {
            self.add(shard, {local_to_global.data(), local_to_global.size()});
          },
          nb::arg("shard"), nb::arg("local_to_global"), Release())
      .def("finish", &GraphMerger::finish, Release());
  nb::class_<StreamCalibration>(m, "StreamCalibration")
      .def(
          "observe",
          [](StreamCalibration& self, const NodeRow& nodes, const FloatMatrix& vectors) {
            check_dim(nodes.size(), vectors.shape(0));
            self.observe({nodes.data(), nodes.size()}, vectors.data());
          },
          nb::arg("nodes"), nb::arg("vectors"), Release());
  m.def("start_calibration", &start_calibration, nb::arg("codebook"), nb::arg("codes"),
        nb::arg("queries").none(), nb::arg("sample"), nb::arg("sampled"), nb::arg("count"),
        nb::arg("seed"), nb::arg("threads"));
  m.def("assemble", &assemble, nb::arg("options"), nb::arg("codebook"), nb::arg("codes"),
        nb::arg("graph").none(), nb::arg("ids"), nb::arg("calibration").none());
}
