#include "graph/build.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "codes/estimate.h"
#include "graph/order.h"
#include "graph/prune_hub.h"
#include "graph/slim.h"
#include "index/index.h"
#include "search/calibrate.h"

namespace gossamer {

namespace {

// The space that rows are encoded in. While building, vectors that will not be kept are held in
// half precision: it is exact enough to choose neighbors by, and half the memory.
Space choose_space(const IndexOptions& options, const float* vectors, std::size_t count) {
  const float largest =
      options.metric == Metric::kCosine ? 1.0f : largest_value(vectors, count * options.dim);
  Scalar scalar = options.scalar;
  if (scalar == Scalar::kF16 && largest > kMaxF16) scalar = Scalar::kF32;
  const float scale = scalar == Scalar::kI8 ? std::max(largest, 1e-30f) / 127.0f : 1.0f;
  return {options.metric, scalar, options.dim, scale};
}

void start_phase(Progress* progress, const char* phase) {
  if (progress == nullptr) return;
  progress->throw_if_cancelled();
  progress->phase.store(phase);
  progress->start(0);
}

RowBytes encode_rows(const Space& space, const float* vectors, std::span<const NodeId> order,
                     unsigned threads) {
  RowBytes rows(order.size() * space.row_bytes());
  parallel_for(order.size(), threads, 256, [&](std::size_t i, unsigned) {
    space.encode_row(vectors + static_cast<std::size_t>(order[i]) * space.dim(),
                     rows.data() + i * space.row_bytes());
  });
  return rows;
}

RowBytes encode_codes(const Codebook& codebook, const float* vectors, std::span<const NodeId> order,
                      unsigned threads) {
  constexpr std::size_t kBlock = 4096;
  const std::size_t dim = codebook.dim();
  RowBytes codes(order.size() * codebook.code_bytes());
  std::vector<float> block;
  for (std::size_t begin = 0; begin < order.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, order.size() - begin);
    block.resize(count * dim);
    for (std::size_t i = 0; i < count; ++i) {
      const float* vector = vectors + static_cast<std::size_t>(order[begin + i]) * dim;
      std::copy(vector, vector + dim, block.begin() + static_cast<std::ptrdiff_t>(i * dim));
    }
    codebook.encode(block.data(), count, codes.data() + begin * codebook.code_bytes(), threads);
  }
  return codes;
}

SampleQueries given_queries(const float* queries, std::size_t count, std::size_t dim) {
  return {std::vector<float>(queries, queries + count * dim), std::vector<NodeId>(count, kNoNode)};
}

}  // namespace

Index::Index(const IndexOptions& options, Space space, std::shared_ptr<const Codebook> codebook)
    : options_(options),
      space_(space),
      codebook_(std::move(codebook)),
      codes_(codebook_ ? codebook_->code_bytes() : 0),
      kept_(options.keep, space_, options.hot_budget) {
  expect(options.dim > 0, Reason::kInvalidArgument, "vectors need at least one dimension");
  expect(codebook_ != nullptr || options.keep == Keep::kAll, Reason::kInvalidArgument,
         "without codes all vectors must be kept: give a codebook, or keep=\"all\"");
  if (codebook_ != nullptr &&
      (codebook_->dim() != options.dim || codebook_->metric() != options.metric)) {
    fail(Reason::kCodebookMismatch,
         "the codebook was trained for another dimension or metric: it has " +
             std::to_string(codebook_->dim()) + " dimensions, the index " +
             std::to_string(options.dim));
  }
}

std::unique_ptr<Index> Index::build(const IndexOptions& options,
                                    std::shared_ptr<const Codebook> codebook, const float* vectors,
                                    std::size_t count, const std::uint64_t* ids,
                                    const float* queries, std::size_t query_count,
                                    const BuildRun& run, Progress* progress) {
  expect(count > 0, Reason::kEmpty, "there are no vectors to index");
  expect(count < Beam::kMaxNodes, Reason::kTooLarge, kTooManyVectors);
  expect(!options.keep_source || (options.graph == GraphKind::kSlim && options.keep == Keep::kAll),
         Reason::kInvalidArgument,
         "a source graph is kept beside a slim graph whose vectors are all kept");
  check_finite(vectors, count, options.dim);
  std::unique_ptr<Index> index(
      new Index(options, choose_space(options, vectors, count), std::move(codebook)));
  index->order_and_encode(vectors, count, ids, run, progress);
  index->build_graphs(run, progress);
  if (run.refine_order && options.graph != GraphKind::kNone) index->refine(run, progress);
  if (run.calibration_queries > 0) {
    index->recalibrate(queries, query_count, run, progress);
  }
  index->settle_kept(run);
  return index;
}

std::unique_ptr<Index> Index::assemble(const IndexOptions& options,
                                       std::shared_ptr<const Codebook> codebook, Column codes,
                                       Graph graph, std::span<const std::uint64_t> ids,
                                       Calibration calibration) {
  expect(options.keep == Keep::kNone && codebook != nullptr, Reason::kInvalidArgument,
         "an index assembled from parts keeps codes and no vectors");
  const Space space(options.metric, Scalar::kF32, options.dim);
  std::unique_ptr<Index> index(new Index(options, space, std::move(codebook)));
  expect(ids.size() < Beam::kMaxNodes, Reason::kTooLarge, kTooManyVectors);
  expect(codes.row_bytes() == index->codebook_->code_bytes(), Reason::kInvalidArgument,
         "codes have another length than the codebook makes them");
  index->codes_ = std::move(codes);
  index->graph_ = std::move(graph);
  index->node_count_ = ids.size();
  expect(index->codes_.count() == ids.size() &&
             (options.graph == GraphKind::kNone || index->graph_.node_count() == ids.size()),
         Reason::kInvalidArgument, "codes, graph and ids are of different lengths");
  index->ids_ = IdMap(ids);
  index->deleted_ = Bitmap(ids.size());
  index->ids_.check_unique();
  index->calibration_ = std::move(calibration);
  return index;
}

std::unique_ptr<Index> Index::create(std::shared_ptr<const Codebook> codebook,
                                     Calibration calibration) {
  expect(codebook != nullptr, Reason::kInvalidArgument, "an index of codes needs a codebook");
  IndexOptions options;
  options.dim = codebook->dim();
  options.metric = codebook->metric();
  options.scalar = Scalar::kF32;
  Column codes(codebook->code_bytes(), RowBytes());
  return assemble(options, std::move(codebook), std::move(codes), {}, {}, std::move(calibration));
}

// Nodes are numbered so that near vectors have near numbers: their lists are shorter and their
// rows share the cache. Without a graph the given order stays, and ids cost nothing.
void Index::order_and_encode(const float* vectors, std::size_t count, const std::uint64_t* ids,
                             const BuildRun& run, Progress* progress) {
  node_count_ = count;
  deleted_ = Bitmap(count);
  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  if (options_.graph != GraphKind::kNone) {
    start_phase(progress, "ordering");
    const RowBytes given = encode_rows(space_, vectors, order, run.threads);
    order = order_by_locality({&space_, given.data(), count}, run.threads, run.seed, progress);
  }
  std::vector<std::uint64_t> public_ids(count);
  for (std::size_t i = 0; i < count; ++i) public_ids[i] = ids == nullptr ? order[i] : ids[order[i]];
  ids_ = IdMap(public_ids);
  ids_.check_unique();
  start_phase(progress, "encoding");
  if (codebook_ != nullptr) {
    codes_ = Column(codebook_->code_bytes(), encode_codes(*codebook_, vectors, order, run.threads));
  }
  kept_ =
      Kept(space_, Column(space_.row_bytes(), encode_rows(space_, vectors, order, run.threads)));
}

void Index::build_graphs(const BuildRun& run, Progress* progress) {
  if (options_.graph == GraphKind::kNone) return;
  BuildOptions build = options_.build;
  build.threads = run.threads;
  build.seed = run.seed;
  options_.build.seed = run.seed;
  start_phase(progress, "graph");
  Graph full = build_graph(rows(), build, progress);
  start_phase(progress, "pruning");
  if (options_.graph == GraphKind::kHub) {
    HubOptions hub = options_.hub;
    hub.threads = run.threads;
    graph_ = prune_hub(full, rows(), hub, progress);
  } else if (options_.graph == GraphKind::kSlim && options_.keep_source) {
    source_ = std::move(full);
    follow_anew(run.threads);
  } else if (options_.graph == GraphKind::kSlim) {
    graph_ = prune_slim(full, rows(), options_.slim, build.max_degree, run.threads, slim_variant());
  } else {
    graph_ = std::move(full);
  }
}

void Index::refine(const BuildRun& run, Progress* progress) {
  start_phase(progress, "refining");
  std::vector<NodeId> as_is(node_count_);
  std::iota(as_is.begin(), as_is.end(), NodeId{0});
  const std::vector<NodeId> order = refine_order(graph(), as_is, run.threads, progress);
  std::vector<std::uint64_t> ids(node_count_);
  for (std::size_t i = 0; i < node_count_; ++i) ids[i] = ids_.id(order[i]);
  ids_ = IdMap(ids);
  if (codebook_ != nullptr) codes_ = codes_.take(order);
  kept_ = Kept(space_, kept_.column().take(order));
  if (source_) {
    source_ = renumber(*source_, order);
    follow_anew(run.threads);
  } else {
    graph_ = renumber(graph_, order);
  }
}

SlimVariant Index::slim_variant() const {
  return options_.slim_by_in_degree ? SlimVariant::kByInDegree : SlimVariant::kReverseLinks;
}

std::vector<Strategy> Index::strategies_to_calibrate() const {
  std::vector<Strategy> strategies;
  if (codebook_ != nullptr) strategies.push_back(Strategy::kScan);
  if (options_.graph == GraphKind::kNone) return strategies;
  strategies.push_back(Strategy::kBestFirst);
  if (codebook_ != nullptr && options_.keep != Keep::kAll) {
    strategies.push_back(Strategy::kWalk);
    strategies.push_back(Strategy::kTwoLevel);
  }
  return strategies;
}

void Index::recalibrate(const float* queries, std::size_t query_count, const BuildRun& run,
                        Progress* progress) {
  check_attached();
  expect(kept_.has_all(), Reason::kWrongState,
         "calibration compares with exact search: it needs all vectors to be kept");
  if (query_count > 0) check_finite(queries, query_count, space_.dim());
  check_codes();
  check_kept();
  const WriteLock<SharedMutex> lock(mutex_);
  start_phase(progress, "calibrating");
  Bitmap live(node_count_);
  live.fill();
  live.subtract(deleted_);
  const SampleQueries sample =
      query_count > 0 ? given_queries(queries, query_count, space_.dim())
                      : make_queries(rows(), &live, run.calibration_queries, run.seed + 1);
  View all = parts();
  if (options_.graph != GraphKind::kNone) all.graph = &graph();
  if (deleted_count_ > 0) all.allowed = &live;
  all.allowed_count = live_count();
  calibration_ = calibrate(all, sample, strategies_to_calibrate(), run.threads, progress);
}

// Drops the vectors that are not to be kept. Hot mode begins with those that many queries look at.
void Index::settle_kept(const BuildRun& run) {
  if (options_.keep == Keep::kAll) return;
  Kept settled(options_.keep, space_, options_.hot_budget);
  if (options_.keep == Keep::kHot) {
    std::vector<float> vector(space_.dim());
    for (const NodeId node : popular_nodes(run, settled.capacity() / 2)) {
      space_.decode_row(kept_.find(node), vector.data());
      settled.pin(space_, node, vector.data());
    }
  }
  kept_ = std::move(settled);
}

std::vector<NodeId> Index::popular_nodes(const BuildRun& run, std::size_t most) const {
  constexpr std::size_t kQueries = 2000;
  constexpr std::size_t kLookedAt = 32;
  const SampleQueries sample = make_queries(rows(), nullptr, kQueries, run.seed + 2);
  std::vector<std::uint32_t> looked_at(node_count_, 0);
  Mutex mutex;
  parallel_for(sample.count(), run.threads, 16, [&](std::size_t q, unsigned) {
    const Estimator estimator(*codebook_, sample.vectors.data() + q * space_.dim());
    const std::vector<Candidate> best =
        scan(estimator, codes_.bytes(), node_count_, kLookedAt, nullptr);
    const WriteLock<Mutex> lock(mutex);
    for (const Candidate& candidate : best) {
      if (candidate.node != sample.made_from[q]) ++looked_at[candidate.node];
    }
  });
  std::vector<NodeId> nodes(node_count_);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](NodeId a, NodeId b) { return looked_at[a] > looked_at[b]; });
  nodes.resize(std::min(most, nodes.size()));
  return nodes;
}

}  // namespace gossamer
