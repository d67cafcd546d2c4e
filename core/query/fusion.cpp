#include "query/fusion.h"

#include <algorithm>
#include <compare>

#include "base/number_map.h"
#include "base/sort.h"

namespace gossamer {
namespace {

// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how slowly a rank's weight falls.
// The paper takes 60 for rankings of a thousand; for the first ten of two rankings the first places
// tell more (docs/decisions/0011).
constexpr double kOffset = 5;

double weight_of(std::uint32_t place) { return place == 0 ? 0 : 1 / (kOffset + place); }

std::uint32_t best_place(const FusedChunk& chunk) {
  if (chunk.by_meaning == 0 || chunk.by_words == 0)
    return std::max(chunk.by_meaning, chunk.by_words);
  return std::min(chunk.by_meaning, chunk.by_words);
}

}  // namespace

bool FusedChunk::operator<(const FusedChunk& other) const {
  if (score != other.score) return score > other.score;
  if (best_place(*this) != best_place(other)) return best_place(*this) < best_place(other);
  return id < other.id;
}

std::vector<FusedChunk> fuse(std::span<const std::uint64_t> by_meaning,
                             std::span<const std::uint64_t> by_words) {
  std::vector<FusedChunk> fused;
  NumberMap places;
  const auto enter = [&](std::span<const std::uint64_t> ids, std::uint32_t FusedChunk::* rank) {
    std::uint32_t place = 0;
    for (const std::uint64_t id : ids) {
      ++place;
      const auto known = places.find(id);
      const std::size_t at = known ? static_cast<std::size_t>(*known) : fused.size();
      if (!known) {
        places.set(id, at);
        fused.push_back({id, 0, 0, 0});
      }
      if (fused[at].*rank == 0) fused[at].*rank = place;
    }
  };
  enter(by_meaning, &FusedChunk::by_meaning);
  enter(by_words, &FusedChunk::by_words);
  for (FusedChunk& chunk : fused)
    chunk.score = weight_of(chunk.by_meaning) + weight_of(chunk.by_words);
  sort_values(fused.begin(), fused.end());
  return fused;
}

}  // namespace gossamer
