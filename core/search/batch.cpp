#include "search/batch.h"

#include <algorithm>
#include <string>

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

}  // namespace

SearchBatch::SearchBatch(const View& view, const float* queries, std::size_t count, std::size_t k,
                         Strategy strategy, const Effort& effort, unsigned threads)
    : count_(count),
      dim_(view.space->dim()),
      row_bytes_(view.space->row_bytes()),
      kept_(view.kept),
      threads_(threads),
      hits_(count) {
  k = std::min(k, view.allowed_count);
  const bool never_asks = view.kept->has_all() && strategy != Strategy::kScan;
  if (never_asks) {
    run_stored(view, queries, k, strategy, effort, threads);
  } else {
    start_sessions(view, queries, k, strategy, effort, threads);
    gather();
  }
}

// Nothing will be asked for: each search runs to its end, and a worker's scratch serves the next.
void SearchBatch::run_stored(const View& view, const float* queries, std::size_t k,
                             Strategy strategy, const Effort& effort, unsigned threads) {
  std::vector<WalkScratch> scratch(threads);
  std::vector<SearchCounters> counters(threads);
  parallel_for(count_, threads, 8, [&](std::size_t q, unsigned worker) {
    const SearchSession session(view, queries + q * dim_, k, strategy, effort, scratch[worker]);
    hits_[q].assign(session.nearest().begin(), session.nearest().end());
    counters[worker] += session.counters();
  });
  for (const SearchCounters& part : counters) finished_ += part;
}

void SearchBatch::start_sessions(const View& view, const float* queries, std::size_t k,
                                 Strategy strategy, const Effort& effort, unsigned threads) {
  std::vector<std::vector<Candidate>> scanned(count_);
  if (strategy == Strategy::kScan && count_ > 1) {
    scanned = scan_together(view, queries, count_, SearchSession::first_scan(k, effort), threads);
  }
  waiting_.resize(count_);
  parallel_for(count_, threads, 1, [&](std::size_t q, unsigned) {
    waiting_[q] = std::make_unique<Waiting>();
    waiting_[q]->session = std::make_unique<SearchSession>(
        view, queries + q * dim_, k, strategy, effort, waiting_[q]->scratch, std::move(scanned[q]));
  });
}

void SearchBatch::supply(std::span<const float> vectors, std::span<const bool> missing) {
  if (vectors.size() != wanted_.size() * dim_) {
    fail(Reason::kInvalidArgument, "expected " + std::to_string(wanted_.size()) + " vectors of " +
                                       std::to_string(dim_) + " numbers, one for each wanted id; " +
                                       std::to_string(vectors.size()) + " numbers came");
  }
  if (!missing.empty() && missing.size() != wanted_.size()) {
    fail(Reason::kInvalidArgument, "expected to be told for each of " +
                                       std::to_string(wanted_.size()) +
                                       " wanted ids whether its vector is missing; " +
                                       std::to_string(missing.size()) + " answers came");
  }
  if (wanted_.empty()) return;
  std::vector<const float*> supplied(wanted_.size());
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const bool is_missing = !missing.empty() && missing[i];
    supplied[i] = is_missing ? nullptr : vectors.data() + i * dim_;
  }
  distribute(
      std::span<const float* const>(supplied),
      [](SearchSession& session, std::span<const float* const> own) { session.supply(own); });
}

void SearchBatch::supply_rows(ByteView rows, std::span<const bool> missing) {
  std::vector<Row> supplied(wanted_.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    supplied[i] = kept_->find(wanted_[i]);
    if (supplied[i] == nullptr) ++others;
  }
  if (rows.size() != others * row_bytes_ || (!missing.empty() && missing.size() != others)) {
    fail(Reason::kInvalidArgument,
         "expected " + std::to_string(others) + " rows of " + std::to_string(row_bytes_) +
             " bytes, one for each wanted node that is not in memory; " +
             std::to_string(rows.size()) + " bytes came, and " + std::to_string(missing.size()) +
             " answers on what is missing");
  }
  if (wanted_.empty()) return;
  std::size_t next = 0;
  for (Row& row : supplied) {
    if (row != nullptr) continue;
    const bool is_missing = !missing.empty() && missing[next];
    row = is_missing ? nullptr : rows.data() + next * row_bytes_;
    ++next;
  }
  distribute(std::span<const Row>(supplied),
             [](SearchSession& session, std::span<const Row> own) { session.supply_rows(own); });
}

template <class T, class Supply>
void SearchBatch::distribute(std::span<const T> supplied, const Supply& supply) {
  parallel_for(count_, threads_, 1, [&](std::size_t q, unsigned) {
    if (!waiting_[q]) return;
    SearchSession& session = *waiting_[q]->session;
    std::vector<T> own;
    for (const NodeId node : session.wanted()) {
      const auto place = std::lower_bound(wanted_.begin(), wanted_.end(), node);
      own.push_back(supplied[static_cast<std::size_t>(place - wanted_.begin())]);
    }
    supply(session, own);
  });
  gather();
}

std::span<const Candidate> SearchBatch::scanned() const {
  const bool is_waiting = waiting_.size() == 1 && waiting_[0];
  return is_waiting ? waiting_[0]->session->scanned() : scanned_;
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

// Ends the searches that are over, and collects what the others want.
void SearchBatch::gather() {
  wanted_.clear();
  for (std::size_t q = 0; q < count_; ++q) {
    if (!waiting_[q]) continue;
    const SearchSession& session = *waiting_[q]->session;
    hits_[q].assign(session.nearest().begin(), session.nearest().end());
    if (session.wanted().empty()) {
      finished_ += session.counters();
      if (count_ == 1) scanned_.assign(session.scanned().begin(), session.scanned().end());
      waiting_[q].reset();
    } else {
      wanted_.insert(wanted_.end(), session.wanted().begin(), session.wanted().end());
    }
  }
  sort_values(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  if (!wanted_.empty()) ++rounds_;
  fetched_ += wanted_.size();
}

}  // namespace gossamer
