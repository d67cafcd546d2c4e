// How a model of the host orders the best at last. Pages have none, and leave this file out.

#include <algorithm>
#include <cmath>

#include "query/needs.h"
#include "query/session.h"

namespace gossamer {

void QuerySession::supply_scores(std::span<const float> scores) {
  expect(stage_ == Stage::kScore && reader_.is_over(), Reason::kWrongState,
         "no texts were to be scored");
  expect(scores.size() == to_score_.size(), Reason::kInvalidArgument,
         "expected a score for each text that was to be scored");
  for (const float score : scores)
    expect(std::isfinite(score), Reason::kNotFinite,
           "a score is NaN or infinite; each must be a finite number");
  for (std::size_t i = 0; i < scores.size(); ++i) scores_[to_score_[i]] = scores[i];
  to_score_.clear();
  advance();
}

// The best are read, to be scored by what they say: those that were ranked again, or the first of
// the ranking where none were.
void QuerySession::begin_scoring() {
  stage_ = Stage::kScore;
  to_score_.clear();
  if (!query_.rescores) return;
  const std::size_t best = candidates_.empty() ? query_.candidates() : candidates_.size();
  for (std::size_t i = 0; i < std::min(best, fused_.size()); ++i)
    if (!scores_.contains(fused_[i].id)) to_score_.push_back(fused_[i].id);
  reader_.begin(to_score_, false);
}

// Goes on once nothing is left to score. A chunk whose text cannot be had has no score.
void QuerySession::finish_scoring() {
  std::erase_if(to_score_, [&](std::uint64_t id) { return reader_.find(id) == nullptr; });
  if (!to_score_.empty()) return;
  rank_by_scores(fused_, scores_);
  stage_ = Stage::kRead;
  read_next();
}

void QuerySession::need_scores(NeedsWriter& needs) const {
  if (stage_ != Stage::kScore || !reader_.is_over()) return;
  std::vector<std::string_view> texts;
  for (const std::uint64_t id : to_score_) texts.push_back(reader_.find(id)->embedded);
  needs.scores(question_.text, to_score_, texts);
}

}  // namespace gossamer
