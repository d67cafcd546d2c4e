#include "search/session.h"

#include <algorithm>

#include "base/stopwatch.h"

namespace gossamer {

SearchCounters& SearchCounters::operator+=(const SearchCounters& other) {
  rounds += other.rounds;
  vectors_asked += other.vectors_asked;
  vectors_fetched += other.vectors_fetched;
  distances += other.distances;
  codes_touched += other.codes_touched;
  hops += other.hops;
  find_s += other.find_s;
  rank_s += other.rank_s;
  return *this;
}

SearchSession::SearchSession(const View& view, const float* query, std::size_t k, Strategy strategy,
                             const Effort& effort, WalkScratch& scratch,
                             std::vector<Candidate> scanned)
    : view_(view),
      query_(query, query + view.space->dim()),
      k_(std::min(k, view.allowed_count)),
      may_extend_(strategy == Strategy::kScan),
      effort_(effort),
      scratch_(scratch),
      lookup_(view, query),
      hits_(k_) {
  const Stopwatch watch(counters_.find_s);
  effort_.beam = std::max({effort.beam, static_cast<std::uint32_t>(k_), 1u});
  if (needs_codes(strategy)) estimator_.emplace(*view.codebook, query);
  switch (strategy) {
    case Strategy::kScan:
      counters_.codes_touched += scanned.empty() ? 0 : view.node_count;
      if (scanned.empty()) scanned = scan_codes(first_scan(k_, effort_));
      start_rerank(std::move(scanned));
      break;
    case Strategy::kWalk:
      start_rerank(walk_codes());
      break;
    case Strategy::kTwoLevel:
      plan_.emplace<TwoLevel>(view_, *estimator_, effort_, scratch_);
      break;
    case Strategy::kBestFirst:
      plan_.emplace<LayeredWalk>(*view.graph, effort_.beam, 0, view_.hidden, scratch_);
      break;
    case Strategy::kLazy:
      plan_.emplace<LayeredWalk>(*view.graph, effort_.beam, effort_.beam, view_.hidden, scratch_);
      break;
    case Strategy::kExact:
    case Strategy::kAuto:
      plan_.emplace<ExactScan>(view_);
      break;
  }
  resume();
}

void SearchSession::supply(std::span<const float* const> vectors) {
  const Stopwatch watch(counters_.rank_s);
  lookup_.supply(vectors);
  resume();
}

void SearchSession::supply_rows(std::span<const Row> rows) {
  const Stopwatch watch(counters_.rank_s);
  lookup_.supply_rows(rows);
  resume();
}

SearchCounters SearchSession::counters() const {
  SearchCounters counters = counters_;
  counters.vectors_asked = lookup_.asked() + lookup_.wanted().size();
  counters.distances = lookup_.measured();
  if (const auto* walk = std::get_if<LayeredWalk>(&plan_)) counters.hops += walk->hops();
  if (const auto* walk = std::get_if<TwoLevel>(&plan_)) {
    counters.hops += walk->hops();
    counters.codes_touched += walk->codes_touched();
  }
  return counters;
}

std::span<const Candidate> SearchSession::scanned() const {
  const auto* rerank = std::get_if<Rerank>(&plan_);
  return rerank != nullptr && may_extend_ ? std::span(rerank->candidates())
                                          : std::span<const Candidate>();
}

std::size_t SearchSession::first_scan(std::size_t k, const Effort& effort) {
  return effort.rerank > 0 ? std::max<std::size_t>(effort.rerank, k) : 16 * k + 128;
}

void SearchSession::resume() {
  while (!run_plan()) {
    if (!lookup_.wanted().empty()) {
      ++counters_.rounds;
      return;
    }
  }
}

bool SearchSession::run_plan() {
  if (auto* rerank = std::get_if<Rerank>(&plan_)) return run_rerank(*rerank);
  if (auto* walk = std::get_if<LayeredWalk>(&plan_)) return run_walk(*walk) && fall_back();
  if (auto* walk = std::get_if<TwoLevel>(&plan_)) return run_two_level(*walk) && fall_back();
  if (auto* scan = std::get_if<ExactScan>(&plan_)) return scan->resume(lookup_, hits_);
  return true;
}

bool SearchSession::run_rerank(Rerank& rerank) {
  switch (rerank.resume(&lookup_, hits_)) {
    case Rerank::State::kOver:
      return true;
    case Rerank::State::kWaiting:
      return false;
    case Rerank::State::kNeedMore:
      break;
  }
  if (rerank.candidate_count() >= view_.allowed_count) return true;
  if (!may_extend_) return fall_back();
  rerank.extend(scan_codes(4 * rerank.candidate_count()));
  return false;
}

bool SearchSession::run_walk(LayeredWalk& walk) {
  const auto measure = [&](NodeId node, float& distance) { return lookup_.find(node, distance); };
  const auto prefetch = [&](NodeId node) { lookup_.prefetch(node); };
  bool is_over = false;
  if (view_.allowed == nullptr) {
    is_over = walk.resume(measure, prefetch, [](const Candidate&) {});
    if (is_over) {
      for (const Candidate& candidate : walk.nearest()) {
        if (hits_.is_full()) break;
        offer(candidate);
      }
    }
  } else {
    is_over = walk.resume(measure, prefetch, [&](const Candidate& candidate) { offer(candidate); });
  }
  for (const NodeId node : walk.missing()) lookup_.want(node);
  return is_over;
}

bool SearchSession::run_two_level(TwoLevel& walk) {
  return walk.resume(lookup_, [&](const Candidate& candidate) { offer(candidate); });
}

void SearchSession::offer(const Candidate& candidate) {
  if (view_.may_return(candidate.node) && !lookup_.is_missing(candidate.node)) {
    hits_.offer(candidate);
  }
}

std::vector<Candidate> SearchSession::scan_codes(std::size_t best) {
  counters_.codes_touched += view_.node_count;
  return scan(*estimator_, view_.codes->bytes(), view_.node_count,
              std::min(best, view_.allowed_count), view_.allowed);
}

void SearchSession::start_rerank(std::vector<Candidate> candidates) {
  const float error = estimator_->error_among(candidates, view_.codes->bytes());
  plan_.emplace<Rerank>(std::move(candidates), error, k_, effort_, view_.space->raw_unit());
}

std::vector<Candidate> SearchSession::walk_codes() {
  LayeredWalk walk(*view_.graph, effort_.beam, 0, view_.hidden, scratch_);
  const auto measure = [&](NodeId node, float& distance) {
    ++counters_.codes_touched;
    distance = estimator_->estimate(view_.codes->row(node));
    return true;
  };
  const auto prefetch = [&](NodeId node) { __builtin_prefetch(view_.codes->row(node)); };
  walk.resume(measure, prefetch, [](const Candidate&) {});
  counters_.hops += walk.hops();
  std::vector<Candidate> best;
  for (const Candidate& candidate : walk.nearest()) {
    if (view_.may_return(candidate.node)) best.push_back(candidate);
  }
  if (best.size() >= k_) return best;
  may_extend_ = true;
  return scan_codes(first_scan(k_, effort_));
}

bool SearchSession::fall_back() {
  if (hits_.size() >= k_) return true;
  const SearchCounters so_far = counters();
  counters_.hops = so_far.hops;
  counters_.codes_touched = so_far.codes_touched;
  hits_ = TopK(k_);
  if (view_.codebook != nullptr && !view_.kept->has_all()) {
    if (!estimator_) estimator_.emplace(*view_.codebook, query_.data());
    may_extend_ = true;
    start_rerank(scan_codes(first_scan(k_, effort_)));
  } else {
    plan_.emplace<ExactScan>(view_);
  }
  return false;
}

}  // namespace gossamer
