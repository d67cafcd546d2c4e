#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "index/index.h"
#include "search/choose.h"
#include "search/session.h"

namespace gossamer {

struct SearchHit {
  std::uint64_t id;
  float distance;
};

// One or many searches of an index side by side, by public ids: what they want is asked for
// together, each id once. Other threads may change the index between two calls; then the next one
// fails (kWrongState).
class SearchBatch {
 public:
  // `queries` are `count` vectors end to end.
  SearchBatch(const Index& index, const float* queries, std::size_t count, SearchRequest request);
  SearchBatch(const SearchBatch&) = delete;
  SearchBatch& operator=(const SearchBatch&) = delete;

  // Ids whose vectors must be supplied next; empty once every search is over.
  const std::vector<std::uint64_t>& wanted() const { return wanted_ids_; }
  // Vectors of wanted(), in the same order, end to end. `missing` (empty, or one for each) says
  // which of them the host cannot give: they are never returned, whatever stands in their rows.
  void supply(std::span<const float> vectors, std::span<const bool> missing = {});
  // The nodes of wanted(): where their rows stand among all vectors. They rise.
  std::span<const NodeId> wanted_nodes() const { return wanted_; }
  // The same as supply() with rows as the index keeps them, end to end, of those wanted nodes whose
  // rows have not become resident meanwhile; `missing` has one for each of these.
  void supply_rows(ByteView rows, std::span<const bool> missing = {});

  std::size_t query_count() const { return nearest_.size(); }
  // The nearest of one query, nearest first: min(k, what may be returned and can be had) once the
  // search is over.
  std::vector<SearchHit> nearest(std::size_t query) const;
  // The `best` nearest by their codes alone, with estimated distances, out of what a search for one
  // query has scanned; nothing if that was less.
  std::vector<SearchHit> estimated(std::size_t best) const;
  // Summed over all searches, but rounds and vectors_fetched as the host saw them.
  SearchCounters counters() const;
  Strategy strategy() const { return strategy_; }
  const Effort& effort() const { return effort_; }

 private:
  void run_stored(const float* queries, std::size_t k);
  void start_sessions(const float* queries, std::size_t k);
  // The index, if it is still the one that the search began with.
  IndexView read() const;
  // Hands every search what it wants of `supplied`, which goes with the wanted nodes.
  template <class T, class Supply>
  void distribute(std::span<const T> supplied, const Supply& supply);
  void gather(const IdMap& ids);

  // A search that waits for vectors, with the scratch it walks in.
  struct Waiting {
    WalkScratch scratch;
    std::optional<SearchSession> session;
  };

  const Index& index_;
  std::uint64_t version_ = 0;
  std::optional<Bitmap> allowed_;
  View view_;
  Strategy strategy_ = Strategy::kAuto;
  Effort effort_;
  unsigned threads_;
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<std::vector<Candidate>> nearest_;  // one list for each query
  std::vector<Candidate> scanned_;
  std::vector<NodeId> wanted_;
  std::vector<std::uint64_t> wanted_ids_;
  std::size_t rounds_ = 0;
  std::size_t fetched_ = 0;
  SearchCounters finished_;
};

// The `best` nearest by their codes alone, nearest first, with estimated distances: nothing is
// asked for. Fewer where fewer may be returned (`allowed` as in SearchRequest).
std::vector<SearchHit> estimate_nearest(const Index& index, const float* query, std::size_t best,
                                        std::optional<Bitmap> allowed);

// Distances of about so many chunks that are spread evenly over the index, by their codes or kept
// vectors: nothing is asked for. Fewer where there are fewer; none where neither is at hand.
std::vector<float> sample_distances(const Index& index, const float* query, std::size_t about);

}  // namespace gossamer
