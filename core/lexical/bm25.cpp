#include "lexical/bm25.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/append.h"
#include "base/error.h"

namespace gossamer {
namespace {

bool is_better(const ScoredChunk& a, const ScoredChunk& b) {
  return a.score != b.score ? a.score > b.score : a.chunk < b.chunk;
}

// Leaves the best, best first.
void keep_best(std::vector<ScoredChunk>& chunks, std::size_t best) {
  const std::size_t kept = std::min(best, chunks.size());
  std::partial_sort(chunks.begin(), chunks.begin() + static_cast<std::ptrdiff_t>(kept),
                    chunks.end(), is_better);
  chunks.resize(kept);
}

}  // namespace

double rarity(std::uint64_t with, std::uint64_t chunks) {
  return std::log1p((static_cast<double>(chunks - with) + 0.5) / (static_cast<double>(with) + 0.5));
}

void ChunkCounts::add(ChunkNumber chunk, std::uint64_t bytes, TermCounter& counter) {
  add_others(1, bytes);
  const std::vector<TermId>& found = counter.found();
  if (!found.empty()) {
    matches_.push_back({chunk, static_cast<std::uint32_t>(found.size()), bytes});
    for (const TermId term : found) add_count(term, counter.count(term));
  }
  counter.clear();
}

void ChunkCounts::add(ChunkNumber chunk, std::uint64_t bytes, std::span<const TermCount> found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect(found[i].term < chunks_with_.size() && found[i].count > 0 &&
               (i == 0 || found[i - 1].term < found[i].term),
           Reason::kInvalidArgument,
           "the counts of a chunk name terms of the question, rising, each at least once");
  }
  add_others(1, bytes);
  if (found.empty()) return;
  matches_.push_back({chunk, static_cast<std::uint32_t>(found.size()), bytes});
  for (const TermCount& one : found) add_count(one.term, one.count);
}

void ChunkCounts::add_others(std::uint64_t chunks, std::uint64_t bytes) {
  chunks_ += chunks;
  bytes_ += bytes;
}

void ChunkCounts::add_count(TermId term, std::uint32_t count) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  counts_.push_back({term, static_cast<std::uint16_t>(std::min(count, kMost))});
  ++chunks_with_[term];
}

void ChunkCounts::add(const ChunkCounts& other) {
  chunks_ += other.chunks_;
  bytes_ += other.bytes_;
  for (std::size_t term = 0; term < chunks_with_.size(); ++term)
    chunks_with_[term] += other.chunks_with_[term];
  append(matches_, other.matches_);
  append(counts_, other.counts_);
}

double ChunkCounts::mean_bytes() const {
  return std::max(1.0, static_cast<double>(bytes_)) / std::max(1.0, static_cast<double>(chunks_));
}

double score_pairs(const LexicalQuery& query, TermCounter& counter, std::span<const double> weights,
                   double damping) {
  double score = 0;
  for (const TermId term : counter.found()) {
    if (term < query.terms().size()) continue;
    const double count = counter.count(term);
    score += weights[term] * (ChunkCounts::kSaturation + 1) * count / (count + damping);
  }
  return score;
}

template <class Take>
void ChunkCounts::score(Take take) const {
  std::vector<double> weights = query_.weigh(chunks_with_, chunks_);
  for (double& weight : weights) weight *= kSaturation + 1;
  if (!query_.is_lookup())
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(query_.terms().size()), weights.end(),
              0.0);
  const double mean = mean_bytes();
  const Count* next = counts_.data();
  for (const Match& match : matches_) {
    const double damping = damping_of(static_cast<double>(match.bytes), mean);
    double score = 0;
    const std::span<const Count> counts(next, match.terms);
    for (const Count& one : counts) score += weights[one.term] * one.count / (one.count + damping);
    take(match, counts, weights, damping, score);
    next += match.terms;
  }
}

std::vector<ScoredChunk> ChunkCounts::top(std::size_t best, const std::vector<bool>* among) const {
  std::vector<ScoredChunk> scored;
  scored.reserve(matches_.size());
  score([&](const Match& match, auto, auto&, double, double score) {
    if (score > 0 && (among == nullptr || (*among)[match.chunk]))
      scored.push_back({match.chunk, static_cast<float>(score)});
  });
  keep_best(scored, best);
  return scored;
}

std::vector<ChunkNumber> ChunkCounts::uncertain(std::size_t best, std::size_t most,
                                                const std::vector<bool>* among) const {
  // With every pair of two words as often as the rarer of them.
  std::vector<ScoredChunk> likely;
  std::vector<std::uint32_t> times(query_.terms().size());
  score([&](const Match& match, std::span<const Count> counts, const std::vector<double>& weights,
            double damping, double score) {
    if (among != nullptr && !(*among)[match.chunk]) return;
    for (const Count& one : counts)
      if (one.term < times.size()) times[one.term] = one.count;
    double more = 0;
    std::size_t pair = times.size();
    for (const auto& [first, second] : query_.pairs()) {
      const double count = std::min(times[first], times[second]);
      more += weights[pair++] * count / (count + damping);
    }
    for (const Count& one : counts)
      if (one.term < times.size()) times[one.term] = 0;
    if (more > 0) likely.push_back({match.chunk, static_cast<float>(score + more)});
  });
  const std::vector<ScoredChunk> sure = top(best, among);
  if (sure.size() == best && best > 0)
    std::erase_if(likely, [&](const ScoredChunk& one) { return one.score < sure.back().score; });
  keep_best(likely, most);
  std::vector<ChunkNumber> chunks;
  for (const ScoredChunk& one : likely) chunks.push_back(one.chunk);
  return chunks;
}

}  // namespace gossamer
