#include "lexical/bm25.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gossamer {
namespace {

bool is_better(const ScoredChunk& a, const ScoredChunk& b) {
  return a.score != b.score ? a.score > b.score : a.chunk < b.chunk;
}

}  // namespace

void ChunkCounts::add(ChunkNumber chunk, std::uint64_t bytes, TermCounter& counter) {
  ++chunks_;
  bytes_ += bytes;
  const std::vector<TermId>& found = counter.found();
  if (!found.empty()) {
    matches_.push_back({chunk, static_cast<std::uint32_t>(found.size()), bytes});
    for (const TermId term : found) {
      constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
      const std::uint32_t count = std::min(counter.count(term), kMost);
      counts_.push_back({term, static_cast<std::uint16_t>(count)});
      ++chunks_with_[term];
    }
  }
  counter.clear();
}

void ChunkCounts::add(const ChunkCounts& other) {
  chunks_ += other.chunks_;
  bytes_ += other.bytes_;
  for (std::size_t term = 0; term < chunks_with_.size(); ++term)
    chunks_with_[term] += other.chunks_with_[term];
  matches_.insert(matches_.end(), other.matches_.begin(), other.matches_.end());
  counts_.insert(counts_.end(), other.counts_.begin(), other.counts_.end());
}

std::vector<ScoredChunk> ChunkCounts::top(std::size_t best) const {
  std::vector<double> weights;
  for (const std::uint64_t with : chunks_with_) {
    const double share =
        (static_cast<double>(chunks_ - with) + 0.5) / (static_cast<double>(with) + 0.5);
    weights.push_back(std::log1p(share) * (kSaturation + 1));
  }
  const double mean =
      std::max(1.0, static_cast<double>(bytes_)) / std::max(1.0, static_cast<double>(chunks_));

  std::vector<ScoredChunk> scored;
  scored.reserve(matches_.size());
  const Count* next = counts_.data();
  for (const Match& match : matches_) {
    const double length = static_cast<double>(match.bytes) / mean;
    const double damping = kSaturation * (1 - kLengthWeight + kLengthWeight * length);
    double score = 0;
    for (const Count* end = next + match.terms; next != end; ++next)
      score += weights[next->term] * next->count / (next->count + damping);
    scored.push_back({match.chunk, static_cast<float>(score)});
  }
  const std::size_t kept = std::min(best, scored.size());
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(kept),
                    scored.end(), is_better);
  scored.resize(kept);
  return scored;
}

}  // namespace gossamer
