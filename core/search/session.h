#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/top_k.h"
#include "base/types.h"
#include "codes/estimate.h"
#include "search/effort.h"
#include "search/exact.h"
#include "search/layered_walk.h"
#include "search/lookup.h"
#include "search/rerank.h"
#include "search/two_level.h"
#include "search/view.h"

namespace gossamer {

// What a search did.
struct SearchCounters {
  std::size_t rounds = 0;           // how often the host was asked
  std::size_t vectors_asked = 0;    // vectors wanted, counted for each query
  std::size_t vectors_fetched = 0;  // vectors the host supplied: a batch asks for each once a round
  std::size_t distances = 0;        // exact distances computed
  std::size_t codes_touched = 0;    // estimates computed
  std::size_t hops = 0;             // neighbor lists decoded
  double find_s = 0;                // seconds spent finding candidates: scan or walk
  double rank_s = 0;                // seconds spent on supplied vectors

  SearchCounters& operator+=(const SearchCounters& other);
};

// A search in progress. It never computes an embedding: it names the nodes whose vectors it needs
// and waits for the host to supply them, so the same code serves Python (which may block) and the
// browser (which may not).
class SearchSession {
 public:
  // The strategy must be one that the view can serve (not kAuto). `scanned`, if given, are the
  // best codes of a scan made for many queries at once.
  SearchSession(const View& view, const float* query, std::size_t k, Strategy strategy,
                const Effort& effort, WalkScratch& scratch, std::vector<Candidate> scanned = {});

  // Nodes whose vectors must be supplied next; empty once the search is over.
  std::span<const NodeId> wanted() const { return lookup_.wanted(); }
  // The vector of each of wanted(), in the same order; null where it is not to be had.
  void supply(std::span<const float* const> vectors);
  // The same with rows as the index keeps them.
  void supply_rows(std::span<const Row> rows);
  // The nearest nodes, nearest first, with raw distances: min(k, nodes that may be returned and
  // whose vectors can be had) of them once the search is over, the best so far before that.
  std::span<const Candidate> nearest() const { return hits_.items(); }

  // What a scan of all codes selected, nearest estimate first; nothing where there was none.
  std::span<const Candidate> scanned() const;

  SearchCounters counters() const;

  // How many codes a scan for this effort should select to begin with.
  static std::size_t first_scan(std::size_t k, const Effort& effort);

 private:
  void resume();
  // Runs the plan; true once it is over.
  bool run_plan();
  bool run_rerank(Rerank& rerank);
  bool run_walk(LayeredWalk& walk);
  bool run_two_level(TwoLevel& walk);
  void offer(const Candidate& candidate);
  std::vector<Candidate> scan_codes(std::size_t best);
  std::vector<Candidate> walk_codes();
  void start_rerank(std::vector<Candidate> candidates);
  // A walk may end with fewer hits than the filter allows, or meet vectors that are not to be
  // had: then everything is looked at.
  bool fall_back();

  View view_;
  std::vector<float> query_;
  std::size_t k_;
  bool may_extend_;  // a scan can select more codes; a walk has seen all it will see
  Effort effort_;
  WalkScratch& scratch_;
  Lookup lookup_;
  TopK hits_;
  std::optional<Estimator> estimator_;
  std::variant<std::monostate, Rerank, LayeredWalk, TwoLevel, ExactScan> plan_;
  SearchCounters counters_;
};

}  // namespace gossamer
