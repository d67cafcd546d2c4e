#include "index/search.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/append.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/sort.h"

namespace gossamer {

namespace {

// Queries whose codes are scanned together: their tables share the cache with a block of codes.
constexpr std::size_t kScanTogether = 16;

std::vector<std::vector<Candidate>> scan_together(const View& view, const float* queries,
                                                  std::size_t count, std::size_t best,
                                                  unsigned threads) {
  std::vector<std::vector<Candidate>> lists(count);
  const std::size_t groups = (count + kScanTogether - 1) / kScanTogether;
  parallel_for(groups, threads, 1, [&](std::size_t group, unsigned) {
    const std::size_t first = group * kScanTogether;
    std::vector<Estimator> estimators;
    for (std::size_t q = first; q < std::min(count, first + kScanTogether); ++q) {
      estimators.emplace_back(*view.codebook, queries + q * view.space->dim());
    }
    auto found = scan_batch(estimators, view.codes->bytes(), view.node_count,
                            std::min(best, view.allowed_count), view.allowed);
    std::move(found.begin(), found.end(), lists.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return lists;
}

// The filter without deleted nodes; nothing if every node may be returned.
std::optional<Bitmap> returnable(const IndexView& index, std::optional<Bitmap> allowed) {
  expect(!allowed || allowed->size() == index.parts.node_count, Reason::kWrongState,
         "the index changed after the filter was made; make it again");
  if (index.deleted == nullptr) return allowed;
  if (!allowed) allowed.emplace(index.parts.node_count).fill();
  allowed->subtract(*index.deleted);
  return allowed;
}

// What a search through the filter reads, but for the graph.
View view_of(const IndexView& index, const std::optional<Bitmap>& allowed) {
  View view = index.parts;
  if (!allowed) return view;
  view.allowed = &*allowed;
  view.allowed_count = allowed->count();
  return view;
}

SearchHit hit_of(const IndexView& index, const Candidate& candidate) {
  return {index.ids.id(candidate.node), index.parts.space->public_distance(candidate.distance)};
}

}  // namespace

SearchBatch::SearchBatch(const Index& index, const float* queries, std::size_t count,
                         SearchRequest request)
    : index_(index), threads_(resolve_threads(request.threads)), nearest_(count) {
  expect(request.k > 0, Reason::kInvalidArgument, "k must be at least 1");
  expect(request.recall > 0 && request.recall <= 1, Reason::kInvalidArgument,
         "recall must be above 0 and at most 1");
  check_finite(queries, count, index.space().dim());
  const IndexView held = index.view();
  if (index.is_detached()) index.resident()->begin_search();
  version_ = held.version;
  allowed_ = returnable(held, std::move(request.allowed));
  view_ = view_of(held, allowed_);
  strategy_ = request.strategy;
  if (strategy_ == Strategy::kAuto) strategy_ = choose_strategy(view_, index.can_walk());
  check_strategy(strategy_, view_.codebook != nullptr, index.options().graph != GraphKind::kNone);
  effort_ = choose_effort(request, strategy_, view_, held.calibration);
  if (needs_graph(strategy_)) view_.graph = &index.graph();
  const std::size_t k = std::min(request.k, view_.allowed_count);
  if (view_.kept->has_all() && strategy_ != Strategy::kScan) {
    run_stored(queries, k);
  } else {
    start_sessions(queries, k);
    gather(held.ids);
  }
}

// Nothing will be asked for: each search runs to its end, and a worker's scratch serves the next.
void SearchBatch::run_stored(const float* queries, std::size_t k) {
  std::vector<WalkScratch> scratch(threads_);
  std::vector<SearchCounters> counters(threads_);
  parallel_for(query_count(), threads_, 8, [&](std::size_t q, unsigned worker) {
    const SearchSession session(view_, queries + q * view_.space->dim(), k, strategy_, effort_,
                                scratch[worker]);
    nearest_[q].assign(session.nearest().begin(), session.nearest().end());
    counters[worker] += session.counters();
  });
  for (const SearchCounters& part : counters) finished_ += part;
}

void SearchBatch::start_sessions(const float* queries, std::size_t k) {
  const std::size_t count = query_count();
  std::vector<std::vector<Candidate>> scanned(count);
  if (strategy_ == Strategy::kScan && count > 1) {
    scanned = scan_together(view_, queries, count, SearchSession::first_scan(k, effort_), threads_);
  }
  waiting_.resize(count);
  parallel_for(count, threads_, 1, [&](std::size_t q, unsigned) {
    waiting_[q] = std::make_unique<Waiting>();
    waiting_[q]->session.emplace(view_, queries + q * view_.space->dim(), k, strategy_, effort_,
                                 waiting_[q]->scratch, std::move(scanned[q]));
  });
}

IndexView SearchBatch::read() const {
  IndexView held = index_.view();
  expect(version_ == held.version, Reason::kWrongState,
         "the index changed while this search was under way; start the search again");
  return held;
}

void SearchBatch::supply(std::span<const float> vectors, std::span<const bool> missing) {
  const std::size_t count = wanted_.size(), dim = index_.space().dim();
  const IndexView held = read();
  if (vectors.size() != count * dim) {
    fail(Reason::kInvalidArgument, "expected " + std::to_string(count) + " vectors of " +
                                       std::to_string(dim) + " numbers, one for each wanted id; " +
                                       std::to_string(vectors.size()) + " numbers came");
  }
  if (!missing.empty() && missing.size() != count) {
    fail(Reason::kInvalidArgument, "expected to be told for each of " + std::to_string(count) +
                                       " wanted ids whether its vector is missing; " +
                                       std::to_string(missing.size()) + " answers came");
  }
  std::vector<const float*> supplied(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!missing.empty() && missing[i]) continue;
    supplied[i] = vectors.data() + i * dim;
    check_finite(supplied[i], 1, dim);
  }
  distribute(
      std::span<const float* const>(supplied),
      [](SearchSession& session, std::span<const float* const> own) { session.supply(own); });
  gather(held.ids);
}

void SearchBatch::supply_rows(ByteView rows, std::span<const bool> missing) {
  const std::size_t row_bytes = index_.space().row_bytes();
  const IndexView held = read();
  std::vector<Row> supplied;
  for (const NodeId node : wanted_) supplied.push_back(view_.kept->find(node));
  const auto others =
      static_cast<std::size_t>(std::count(supplied.begin(), supplied.end(), nullptr));
  if (rows.size() != others * row_bytes || (!missing.empty() && missing.size() != others)) {
    fail(Reason::kInvalidArgument,
         "expected " + std::to_string(others) + " rows of " + std::to_string(row_bytes) +
             " bytes, one for each wanted node that is not in memory; " +
             std::to_string(rows.size()) + " bytes came, and " + std::to_string(missing.size()) +
             " answers on what is missing");
  }
  std::size_t next = 0;
  for (Row& row : supplied) {
    if (row != nullptr) continue;
    const bool is_missing = !missing.empty() && missing[next];
    row = is_missing ? nullptr : rows.data() + next * row_bytes;
    ++next;
  }
  distribute(std::span<const Row>(supplied),
             [](SearchSession& session, std::span<const Row> own) { session.supply_rows(own); });
  gather(held.ids);
}

template <class T, class Supply>
void SearchBatch::distribute(std::span<const T> supplied, const Supply& supply) {
  parallel_for(waiting_.size(), threads_, 1, [&](std::size_t q, unsigned) {
    if (!waiting_[q]) return;
    SearchSession& session = *waiting_[q]->session;
    std::vector<T> own;
    for (const NodeId node : session.wanted()) {
      const auto place = std::lower_bound(wanted_.begin(), wanted_.end(), node);
      own.push_back(supplied[static_cast<std::size_t>(place - wanted_.begin())]);
    }
    supply(session, own);
  });
}

// Ends the searches that are over, and collects what the others want.
void SearchBatch::gather(const IdMap& ids) {
  wanted_.clear();
  for (std::size_t q = 0; q < waiting_.size(); ++q) {
    if (!waiting_[q]) continue;
    const SearchSession& session = *waiting_[q]->session;
    nearest_[q].assign(session.nearest().begin(), session.nearest().end());
    if (session.wanted().empty()) {
      finished_ += session.counters();
      if (query_count() == 1) scanned_.assign(session.scanned().begin(), session.scanned().end());
      waiting_[q].reset();
    } else {
      append(wanted_, session.wanted());
    }
  }
  sort_values(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  if (!wanted_.empty()) ++rounds_;
  fetched_ += wanted_.size();
  wanted_ids_.clear();
  for (const NodeId node : wanted_) wanted_ids_.push_back(ids.id(node));
}

std::vector<SearchHit> SearchBatch::nearest(std::size_t query) const {
  const IndexView held = read();
  std::vector<SearchHit> hits;
  for (const Candidate& candidate : nearest_[query]) hits.push_back(hit_of(held, candidate));
  return hits;
}

std::vector<SearchHit> SearchBatch::estimated(std::size_t best) const {
  const IndexView held = read();
  const bool is_waiting = waiting_.size() == 1 && waiting_[0];
  const std::span<const Candidate> scanned =
      is_waiting ? waiting_[0]->session->scanned() : scanned_;
  const std::size_t count = std::min(best, view_.allowed_count);
  std::vector<SearchHit> hits;
  if (scanned.size() < count) return hits;
  for (const Candidate& candidate : scanned.first(count)) hits.push_back(hit_of(held, candidate));
  return hits;
}

SearchCounters SearchBatch::counters() const {
  SearchCounters total = finished_;
  for (const auto& waiting : waiting_) {
    if (waiting) total += waiting->session->counters();
  }
  total.rounds = rounds_;
  total.vectors_fetched = fetched_;
  return total;
}

std::vector<SearchHit> estimate_nearest(const Index& index, const float* query, std::size_t best,
                                        std::optional<Bitmap> allowed) {
  const IndexView held = index.view();
  expect(held.parts.codebook != nullptr, Reason::kWrongState,
         "estimates come from codes, and this index was built without");
  check_finite(query, 1, index.space().dim());
  allowed = returnable(held, std::move(allowed));
  const View view = view_of(held, allowed);
  const Estimator estimator(*view.codebook, query);
  std::vector<SearchHit> hits;
  for (const Candidate& candidate : scan(estimator, view.codes->bytes(), view.node_count,
                                         std::min(best, view.allowed_count), view.allowed)) {
    hits.push_back(hit_of(held, candidate));
  }
  return hits;
}

std::vector<float> sample_distances(const Index& index, const float* query, std::size_t about) {
  const IndexView held = index.view();
  const View& view = held.parts;
  const std::size_t step =
      std::max<std::size_t>(1, view.node_count / std::max<std::size_t>(1, about));
  std::vector<float> distances;
  const auto visit = [&](const auto& measure) {
    for (std::size_t node = 0; node < view.node_count; node += step) {
      if (held.deleted != nullptr && held.deleted->contains(static_cast<NodeId>(node))) continue;
      if (const std::optional<float> raw = measure(static_cast<NodeId>(node)))
        distances.push_back(view.space->public_distance(*raw));
    }
  };
  check_finite(query, 1, index.space().dim());
  if (view.codebook != nullptr) {
    const Estimator estimator(*view.codebook, query);
    visit([&](NodeId node) { return std::optional(estimator.estimate(view.codes->row(node))); });
  } else {
    const Lookup lookup(view, query);
    visit([&](NodeId node) {
      float distance = 0;
      return lookup.find(node, distance) ? std::optional(distance) : std::nullopt;
    });
  }
  return distances;
}

}  // namespace gossamer
