#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lexical/counter.h"

namespace gossamer {

using ChunkNumber = std::uint32_t;

// What a term tells that so many of all chunks hold.
double rarity(std::uint64_t with, std::uint64_t chunks);

struct ScoredChunk {
  ChunkNumber chunk;
  float score;
};

// What a pass has counted, chunk by chunk, and the ranking that follows from it. Chunks of
// different passes over the same query can be put together in any order.
class ChunkCounts {
 public:
  // Small differences in how often a term stands there, and in length, matter little.
  static constexpr double kSaturation = 0.9;     // k1
  static constexpr double kLengthWeight = 0.75;  // b

  // The query must outlive the counts.
  explicit ChunkCounts(const LexicalQuery& query) : query_(query), chunks_with_(query.size(), 0) {}

  // One more chunk of so many bytes, with what the counter has found in it; clears the counter.
  void add(ChunkNumber chunk, std::uint64_t bytes, TermCounter& counter);
  void add(const ChunkCounts& other);
  // The same for a chunk whose counts are known already: each term once, rising; none is 0. Fails
  // with kInvalidArgument for what is not so.
  struct TermCount {
    TermId term;
    std::uint32_t count;
  };
  void add(ChunkNumber chunk, std::uint64_t bytes, std::span<const TermCount> found);
  // So many chunks more, in which no term stands.
  void add_others(std::uint64_t chunks, std::uint64_t bytes);

  // How much repetition counts in a chunk of so many bytes, where the mean is this.
  static double damping_of(double bytes, double mean) {
    return kSaturation * (1 - kLengthWeight + kLengthWeight * bytes / mean);
  }
  double mean_bytes() const;

  // The `best` chunks by BM25, best first, ties by chunk number; only chunks with a term of the
  // query, and `among` these by number, if they are given. Rare terms count more, and a term counts
  // more in a short chunk. Pairs count where something is looked up; otherwise they would have to
  // be counted in all texts, and to rank the best again by them does as well.
  std::vector<ScoredChunk> top(std::size_t best, const std::vector<bool>* among = nullptr) const;
  // Where pairs count, and were not counted in all chunks: those that may be among the `best`, if
  // theirs were, likeliest first; at most so many.
  std::vector<ChunkNumber> uncertain(std::size_t best, std::size_t most,
                                     const std::vector<bool>* among = nullptr) const;

  const LexicalQuery& query() const { return query_; }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t bytes() const { return bytes_; }
  // How many chunks each term and pair stands in.
  std::span<const std::uint64_t> chunks_with() const { return chunks_with_; }

 private:
  void add_count(TermId term, std::uint32_t count);

  struct Match {
    ChunkNumber chunk;
    std::uint32_t terms;  // how many of counts_ are its own
    std::uint64_t bytes;
  };
  struct Count {
    TermId term;
    std::uint16_t count;
  };

  // Calls `take` with each match, its counts, what terms and pairs count, how much repetition
  // counts in a chunk of its length, and its score.
  template <class Take>
  void score(Take take) const;

  const LexicalQuery& query_;
  std::uint64_t chunks_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> chunks_with_;
  std::vector<Match> matches_;
  std::vector<Count> counts_;
};

// What the pairs that a counter has found in a text count, by weights of the query.
double score_pairs(const LexicalQuery& query, TermCounter& counter, std::span<const double> weights,
                   double damping);

}  // namespace gossamer
