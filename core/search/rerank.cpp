#include "search/rerank.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gossamer {

namespace {

constexpr float kAskedFor = std::numeric_limits<float>::infinity();

// Before anything is known of a query, its estimates are taken to be off by one standard error,
// with the weight of so many candidates looked at.
constexpr double kPriorWeight = 2;
// Standard errors beyond which a mean error does not come from chance.
constexpr double kStrange = 2;
// Such texts are often like each other as well, so that many candidates are nearly as good.
constexpr double kStrangeFade = 0.6;
// The more was looked at in vain, the less the rest is worth: the margin shrinks by so many
// standard errors each time the number of candidates grows e-fold. This and the prior were chosen
// by what they save at equal recall (docs/decisions/0006).
constexpr double kFade = 0.8;

}  // namespace

Rerank::Rerank(std::vector<Candidate> candidates, float error, std::size_t k, const Effort& effort,
               float unit, std::vector<float> exact)
    : candidates_(std::move(candidates)),
      error_(error),
      unit_(static_cast<double>(unit)),
      k_(k),
      effort_(effort),
      exact_(std::move(exact)) {}

Rerank::State Rerank::resume(Lookup* lookup, TopK& hits) {
  while (true) {
    absorb(lookup, hits);
    bool need_more = false;
    const std::size_t end = next_end(hits, need_more);
    if (end == asked_) return need_more ? State::kNeedMore : State::kOver;
    for (; asked_ < end; ++asked_) {
      if (asked_ < exact_.size()) continue;
      float exact = kAskedFor;
      const NodeId node = candidates_[asked_].node;
      if (!lookup->find(node, exact)) lookup->want(node);
      exact_.push_back(exact);
    }
    if (lookup != nullptr && !lookup->wanted().empty()) return State::kWaiting;
  }
}

void Rerank::absorb(const Lookup* lookup, TopK& hits) {
  for (; absorbed_ < asked_; ++absorbed_) {
    const Candidate& candidate = candidates_[absorbed_];
    if (lookup != nullptr && lookup->is_missing(candidate.node)) {
      ++missing_;
      continue;
    }
    float exact = exact_[absorbed_];
    if (exact == kAskedFor && lookup != nullptr) lookup->find(candidate.node, exact);
    residual_sum_ += unit_ * static_cast<double>(exact) - static_cast<double>(candidate.distance);
    hits.offer({exact, candidate.node});
  }
}

std::size_t Rerank::next_end(const TopK& hits, bool& need_more) const {
  // For each vector that is not to be had, another is looked at.
  if (effort_.rerank > 0) {
    const std::size_t wanted = std::max<std::size_t>(effort_.rerank, k_) + missing_;
    need_more = candidates_.size() < wanted;
    return asked_ < wanted ? end_for(wanted) : asked_;
  }
  // Less than this says too little about how far estimates are off.
  const std::size_t first = k_ + 2 + missing_;
  if (asked_ < first) {
    need_more = candidates_.size() < first;
    return end_for(first);
  }
  const auto error = static_cast<double>(error_);
  const auto looked_at = static_cast<double>(absorbed_ - missing_);
  const double mean = residual_sum_ / std::max(looked_at, 1.0);
  // Texts unlike any that the codebook was trained on are all off by the same much: there the prior
  // is known to be wrong, and would end the search at once.
  const bool is_strange = std::abs(mean) > kStrange * error;
  const double weight = is_strange ? 0 : kPriorWeight;
  const double bias = (residual_sum_ + weight * error) / (looked_at + weight);
  const double fade = is_strange ? kStrangeFade : kFade;
  const double margin = static_cast<double>(effort_.margin) - fade * std::log(looked_at + 1);
  const double last = unit_ * static_cast<double>(hits.last().distance);
  const double limit = last - bias + margin * error;
  const auto end = std::partition_point(
      candidates_.begin() + static_cast<std::ptrdiff_t>(asked_), candidates_.end(),
      [&](const Candidate& c) { return static_cast<double>(c.distance) < limit; });
  const auto promising = static_cast<std::size_t>(end - candidates_.begin());
  need_more = promising == candidates_.size();
  // Hits found on the way draw the limit in, so the rest is not asked for all at once.
  const std::size_t step = std::max<std::size_t>(asked_ / 2, 4);
  return std::min(promising, asked_ + step);
}

// Where much is missing, more is asked for than is still wanted, so that rounds stay few.
std::size_t Rerank::end_for(std::size_t wanted) const {
  const std::size_t lacking = wanted - asked_;
  const std::size_t had = std::max<std::size_t>(absorbed_ - missing_, 1);
  const std::size_t likely = lacking * absorbed_ / had;
  const std::size_t step = std::clamp(likely, lacking, std::max(lacking, asked_));
  return std::min(candidates_.size(), asked_ + step);
}

}  // namespace gossamer
