#pragma once

#include <cstddef>
#include <cstdint>

namespace gossamer {

// How candidates are found and which vectors are asked for.
enum class Strategy : std::uint8_t {
  kAuto = 0,       // chosen by size and by what the index holds
  kScan = 1,       // estimate every code, look at the best
  kWalk = 2,       // walk the graph by estimates, look at the best
  kTwoLevel = 3,   // LEANN, algorithm 2: exact walk, estimates decide who is looked at
  kBestFirst = 4,  // exact walk; what is missing is asked for hop by hop
  kLazy = 5,       // WebANNS, algorithm 1: exact walk; what is missing is asked for in phases
  kExact = 6,      // every vector
};
inline constexpr std::size_t kStrategyCount = 7;
inline const char* strategy_name(Strategy strategy) {
  constexpr const char* kNames[kStrategyCount] = {"auto",       "scan", "walk", "two-level",
                                                  "best-first", "lazy", "exact"};
  return kNames[static_cast<std::size_t>(strategy)];
}
inline bool needs_codes(Strategy strategy) {
  return strategy == Strategy::kScan || strategy == Strategy::kWalk ||
         strategy == Strategy::kTwoLevel;
}
inline bool needs_graph(Strategy strategy) {
  return strategy == Strategy::kWalk || strategy == Strategy::kTwoLevel ||
         strategy == Strategy::kBestFirst || strategy == Strategy::kLazy;
}

// How much work a search does. Each strategy reads the fields it knows.
struct Effort {
  // Scan, walk: how many vectors are looked at; 0 leaves it to `margin`.
  std::uint32_t rerank = 0;
  // Scan, walk: stop once the next estimate is this many standard errors behind the k-th hit
  // (fewer, the more was looked at: see Rerank).
  float margin = 4.0f;
  // Walks: width of the beam (elsewhere called ef).
  std::uint32_t beam = 64;
  // Two-level: share of the estimated nodes that are looked at exactly (α).
  float ratio = 0.1f;
  // How many vectors are asked for at a time, where the strategy can wait for that many.
  std::uint32_t batch = 16;
};

}  // namespace gossamer
