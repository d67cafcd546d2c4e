#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "search/effort.h"
#include "search/session.h"
#include "search/view.h"

namespace gossamer {

// One or many searches side by side: what they want is asked for together, each node once.
class SearchBatch {
 public:
  // `queries` are `count` vectors end to end. The strategy must be one that the view can serve.
  SearchBatch(const View& view, const float* queries, std::size_t count, std::size_t k,
              Strategy strategy, const Effort& effort, unsigned threads);

  // Nodes whose vectors must be supplied next; empty once every search is over.
  std::span<const NodeId> wanted() const { return wanted_; }
  // Vectors of wanted(), in the same order, end to end. `missing` says which of them are not to
  // be had, whatever stands in their place; empty means none.
  void supply(std::span<const float> vectors, std::span<const bool> missing = {});

  // The same with rows as the index keeps them, of those wanted nodes whose rows are not kept;
  // `missing` has one for each of these.
  void supply_rows(ByteView rows, std::span<const bool> missing = {});

  std::size_t count() const { return count_; }
  std::span<const Candidate> nearest(std::size_t query) const { return hits_[query]; }
  // What a scan of all codes selected for the one query of a batch, nearest estimate first.
  std::span<const Candidate> scanned() const;
  // Summed over all searches, but rounds and vectors_fetched as the host saw them.
  SearchCounters counters() const;

 private:
  void run_stored(const View& view, const float* queries, std::size_t k, Strategy strategy,
                  const Effort& effort, unsigned threads);
  void start_sessions(const View& view, const float* queries, std::size_t k, Strategy strategy,
                      const Effort& effort, unsigned threads);
  // Hands every search what it wants of `supplied`, which goes with wanted().
  template <class T, class Supply>
  void distribute(std::span<const T> supplied, const Supply& supply);
  void gather();

  // A search that waits for vectors, with the scratch it walks in.
  struct Waiting {
    WalkScratch scratch;
    std::unique_ptr<SearchSession> session;
  };

  std::size_t count_;
  std::size_t dim_;
  std::size_t row_bytes_;
  const Kept* kept_;
  unsigned threads_;
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<std::vector<Candidate>> hits_;
  std::vector<Candidate> scanned_;
  std::vector<NodeId> wanted_;
  std::size_t rounds_ = 0;
  std::size_t fetched_ = 0;
  SearchCounters finished_;
};

}  // namespace gossamer
