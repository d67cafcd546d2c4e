#include <algorithm>
#include <cmath>
#include <string>

#include "base/parallel.h"
#include "index/index.h"

namespace gossamer {

namespace {

// From here on a walk over the graph touches so many fewer codes that it beats a scan.
constexpr std::size_t kWalkFrom = 4'000'000;
// The same where vectors stay outside, which is in the browser: scans are slower there.
constexpr std::size_t kWalkOutsideFrom = 20'000;
// Where no more than one vector in so many is outside, exact walks read less than they save.
constexpr std::size_t kFewOutside = 8;
// So few nodes are faster looked at than searched.
constexpr std::size_t kFewNodes = 2'000;
// A walk through nodes of which fewer than this share may be returned finds too few.
constexpr double kRareShare = 0.05;
constexpr std::uint32_t kMaxBeam = 1u << 20;

}  // namespace

Bitmap Index::live_nodes() const {
  Bitmap live(node_count_);
  live.fill();
  live.subtract(deleted_);
  return live;
}

View Index::view(const Bitmap* allowed, std::size_t allowed_count, bool with_graph) const {
  View view;
  view.space = &space_;
  view.kept = &kept_;
  view.codebook = codebook_.get();
  view.codes = codebook_ ? &codes_ : nullptr;
  view.graph = with_graph && options_.graph != GraphKind::kNone ? &graph() : nullptr;
  view.allowed = allowed;
  // A file that keeps all vectors keeps those of deleted nodes too: walks get the same ones.
  view.deleted = deleted_count_ > 0 && !is_detached() ? &deleted_ : nullptr;
  view.node_count = node_count_;
  view.allowed_count = allowed_count;
  return view;
}

Bitmap Index::allow_ids(std::span<const std::uint64_t> ids) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  Bitmap allowed(node_count_);
  for (const std::uint64_t id : ids) allowed.insert(node_of(id));
  return allowed;
}

Bitmap Index::allow_all_but(std::span<const std::uint64_t> ids) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  Bitmap allowed(node_count_);
  allowed.fill();
  for (const std::uint64_t id : ids)
    if (const auto node = ids_.find(id)) allowed.erase(*node);
  return allowed;
}

Bitmap Index::allow_mask(std::span<const bool> mask) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  Bitmap allowed(node_count_);
  for (std::size_t i = 0; i < node_count_; ++i) {
    const auto node = static_cast<NodeId>(i);
    const std::uint64_t id = ids_.id(node);
    if (id < mask.size() && mask[id]) allowed.insert(node);
  }
  return allowed;
}

std::unique_ptr<IndexSearch> Index::search(const float* queries, std::size_t count,
                                           Request request) const {
  expect(request.k > 0, Reason::kInvalidArgument, "k must be at least 1");
  expect(request.recall > 0 && request.recall <= 1, Reason::kInvalidArgument,
         "recall must be above 0 and at most 1");
  check_finite(queries, count, space_.dim());
  check_codes();
  load_ids();
  if (is_detached()) resident()->begin_search();
  return std::make_unique<IndexSearch>(*this, queries, count, std::move(request));
}

std::optional<Effort> Index::effort_for(Strategy strategy, std::size_t k, double recall) const {
  const ReadLock<SharedMutex> lock(mutex_);
  return calibration_.effort_for(strategy, k, recall, live_count());
}

Calibration Index::calibration() const {
  const ReadLock<SharedMutex> lock(mutex_);
  return calibration_;
}

void Index::set_calibration(Calibration calibration) {
  const WriteLock<SharedMutex> lock(mutex_);
  calibration_ = std::move(calibration);
}

std::optional<Bitmap> Index::returnable(std::optional<Bitmap> allowed) const {
  if (!allowed) return deleted_count_ > 0 ? std::optional(live_nodes()) : std::nullopt;
  expect(allowed->size() == node_count_, Reason::kWrongState,
         "the index changed after the filter was made; make it again");
  allowed->subtract(deleted_);
  return allowed;
}

std::vector<Index::Hit> Index::estimate(const float* query, std::size_t best,
                                        std::optional<Bitmap> allowed) const {
  expect(codebook_ != nullptr, Reason::kWrongState,
         "estimates come from codes, and this index was built without");
  check_finite(query, 1, space_.dim());
  check_codes();
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  allowed = returnable(std::move(allowed));
  const std::size_t allowed_count = allowed ? allowed->count() : node_count_;
  const Estimator estimator(*codebook_, query);
  std::vector<Hit> hits;
  for (const Candidate& candidate :
       scan(estimator, codes_.bytes(), node_count_, std::min(best, allowed_count),
            allowed ? &*allowed : nullptr)) {
    hits.push_back({ids_.id(candidate.node), space_.public_distance(candidate.distance)});
  }
  return hits;
}

Strategy Index::choose_strategy(std::size_t allowed_count) const {
  const bool has_graph = can_walk();
  const double share = static_cast<double>(allowed_count) / static_cast<double>(node_count_);
  if (kept_.has_all()) {
    if (allowed_count <= kFewNodes) return Strategy::kExact;
    if (has_graph && share >= kRareShare) return Strategy::kBestFirst;
    return codebook_ ? Strategy::kScan : Strategy::kExact;
  }
  if (is_detached()) {
    const bool walks = has_graph && allowed_count > kFewNodes && share >= kRareShare;
    const bool is_mostly_here = resident()->used() >= node_count_ - node_count_ / kFewOutside;
    if (walks && (is_mostly_here || codebook_ == nullptr)) return Strategy::kLazy;
    if (codebook_ == nullptr) return Strategy::kExact;
  }
  const std::size_t walk_from = is_detached() ? kWalkOutsideFrom : kWalkFrom;
  if (has_graph && node_count_ >= walk_from && share >= kRareShare) return Strategy::kWalk;
  return Strategy::kScan;
}

void Index::check_strategy(Strategy strategy) const {
  const bool needs_codes =
      strategy == Strategy::kScan || strategy == Strategy::kWalk || strategy == Strategy::kTwoLevel;
  const bool needs_graph = strategy == Strategy::kWalk || strategy == Strategy::kTwoLevel ||
                           strategy == Strategy::kBestFirst || strategy == Strategy::kLazy;
  if (needs_codes && codebook_ == nullptr) {
    fail(Reason::kInvalidArgument, std::string("the strategy '") + strategy_name(strategy) +
                                       "' needs codes, and this index was built without");
  }
  if (needs_graph && options_.graph == GraphKind::kNone) {
    fail(Reason::kInvalidArgument, std::string("the strategy '") + strategy_name(strategy) +
                                       "' needs a graph, and this index was built without");
  }
}

Effort Index::choose_effort(const Request& request, Strategy strategy,
                            std::size_t allowed_count) const {
  if (request.effort) return *request.effort;
  Effort effort = measured_effort(request, strategy, allowed_count).value_or(Effort());
  // Nodes that may not be returned take places in the beam.
  const double share = static_cast<double>(std::max<std::size_t>(allowed_count, 1)) /
                       static_cast<double>(node_count_);
  const double beam = static_cast<double>(effort.beam) / std::max(share, kRareShare);
  effort.beam = static_cast<std::uint32_t>(std::lround(beam));
  return effort;
}

std::optional<Effort> Index::measured_effort(const Request& request, Strategy strategy,
                                             std::size_t allowed_count) const {
  const auto measured = [&](Strategy way) {
    return calibration_.effort_for(way, request.k, request.recall, allowed_count);
  };
  if (strategy == Strategy::kLazy) return measured(Strategy::kBestFirst);
  std::optional<Effort> effort = measured(strategy);
  if (effort || strategy != Strategy::kWalk) return effort;
  // Where all vectors are kept, exact walks and scans are measured. A walk by estimates that is
  // twice as wide as the exact one passes what the scan would look at.
  const std::optional<Effort> exact = measured(Strategy::kBestFirst);
  effort = measured(Strategy::kScan);
  if (!exact || !effort) return std::nullopt;
  effort->beam = 2 * exact->beam;
  return effort;
}

IndexSearch::IndexSearch(const Index& index, const float* queries, std::size_t count,
                         Index::Request request)
    : index_(index) {
  const ReadLock<SharedMutex> lock(index.mutex_);
  version_ = index.version_;
  allowed_ = index.returnable(std::move(request.allowed));
  const std::size_t allowed_count = allowed_ ? allowed_->count() : index.node_count_;
  strategy_ =
      request.strategy == Strategy::kAuto ? index.choose_strategy(allowed_count) : request.strategy;
  index.check_strategy(strategy_);
  effort_ = index.choose_effort(request, strategy_, allowed_count);
  expect(effort_.beam <= kMaxBeam && effort_.rerank <= kMaxBeam, Reason::kInvalidArgument,
         "the effort is beyond what a search can do");
  expect(effort_.ratio >= 0 && effort_.ratio <= 1 && std::isfinite(effort_.margin),
         Reason::kInvalidArgument,
         "the ratio of an effort lies between 0 and 1, its margin is finite");
  const bool with_graph = strategy_ != Strategy::kScan && strategy_ != Strategy::kExact;
  const View view = index.view(allowed_ ? &*allowed_ : nullptr, allowed_count, with_graph);
  batch_ = std::make_unique<SearchBatch>(view, queries, count, request.k, strategy_, effort_,
                                         resolve_threads(request.threads));
  name_wanted();
}

void IndexSearch::supply(std::span<const float> vectors, std::span<const bool> missing) {
  const std::size_t dim = index_.space_.dim();
  if (missing.empty()) check_finite(vectors.data(), vectors.size() / dim, dim);
  for (std::size_t i = 0; i < std::min(missing.size(), vectors.size() / dim); ++i) {
    if (!missing[i]) check_finite(vectors.data() + i * dim, 1, dim);
  }
  const ReadLock<SharedMutex> lock(index_.mutex_);
  check_version();
  batch_->supply(vectors, missing);
  name_wanted();
}

void IndexSearch::supply_rows(ByteView rows, std::span<const bool> missing) {
  const ReadLock<SharedMutex> lock(index_.mutex_);
  check_version();
  batch_->supply_rows(rows, missing);
  name_wanted();
}

std::vector<IndexSearch::Hit> IndexSearch::nearest(std::size_t query) const {
  const ReadLock<SharedMutex> lock(index_.mutex_);
  check_version();
  std::vector<Hit> hits;
  for (const Candidate& candidate : batch_->nearest(query)) {
    hits.push_back(
        {index_.ids_.id(candidate.node), index_.space_.public_distance(candidate.distance)});
  }
  return hits;
}

std::vector<std::uint64_t> IndexSearch::estimated(std::size_t best) const {
  const ReadLock<SharedMutex> lock(index_.mutex_);
  check_version();
  const std::span<const Candidate> scanned = batch_->scanned();
  std::vector<std::uint64_t> ids;
  const std::size_t count = std::min(best, allowed_ ? allowed_->count() : index_.node_count_);
  if (scanned.size() < count) return ids;
  for (const Candidate& candidate : scanned.first(count))
    ids.push_back(index_.ids_.id(candidate.node));
  return ids;
}

void IndexSearch::name_wanted() {
  wanted_.clear();
  for (const NodeId node : batch_->wanted()) wanted_.push_back(index_.ids_.id(node));
}

void IndexSearch::check_version() const {
  expect(version_ == index_.version_, Reason::kWrongState,
         "the index changed while this search was under way; start the search again");
}

}  // namespace gossamer
