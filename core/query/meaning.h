#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/number_map.h"
#include "index/search.h"
#include "query/passages.h"
#include "query/query.h"
#include "query/scope.h"
#include "query/strength.h"
#include "query/tokens.h"

namespace gossamer {

// What the host says of a vector that was asked for.
enum class Supplied : std::uint8_t {
  kGiven,       // here it is
  kEmbed,       // it is to be embedded from its text
  kMissing,     // nobody has it
  kOutOfReach,  // only a server has it, which did not answer
};

// The ranking of chunks by their distance from the question: exact down to the k-th, by codes
// below. Where the best of both rankings are ranked again, by codes alone, and then the exact
// distances of those that measure() names.
class MeaningSearch {
 public:
  // The vector of the question is as long as the others (kWrongDimension). Tokens, if there are
  // any, are compared with those of the chunks that are measured.
  MeaningSearch(const Index& vectors, PassageReader& reader, std::span<const float> question,
                QuestionTokens tokens);

  // Begins (again, where the scope has become smaller).
  void begin(const Query& query, const Scope& scope);
  // Begins to get the vectors of these, once the ranking is over.
  void measure(std::span<const std::uint64_t> ids);
  QuestionTokens& tokens() { return tokens_; }
  const QuestionTokens& tokens() const { return tokens_; }
  // Whether vectors come with those of their tokens, so that all that can be are embedded.
  bool wants_tokens() const { return is_measuring_ && !tokens_.empty(); }

  enum class Stage { kVectors, kRows, kTexts, kEmbeddings, kOver };
  Stage stage() const { return stage_; }

  // kVectors: ids, and what became of each; rows have something for each, whatever it is. First all
  // that a round wants; then those of the rest whose texts are kept by a server alone.
  std::span<const std::uint64_t> wanted() const { return wanted_; }
  bool is_away() const { return is_away_; }
  void supply(std::span<const Supplied> states, std::span<const float> rows);
  // kRows: the host supplies the search itself, where vectors are stored beside the index.
  SearchBatch& search();
  void finish_rows();
  // kTexts: once the reader has what it wants.
  void take_texts();
  // kEmbeddings: texts to embed.
  std::vector<std::string_view> texts() const;
  std::span<const std::uint64_t> to_embed() const { return to_embed_; }
  // Vectors, and those of the tokens of each text where they are wanted and there are any.
  void supply_embeddings(std::span<const float> rows, const TokenRows& tokens);

  // Once it is over.
  std::span<const std::uint64_t> ids() const { return ids_; }
  // Whether the ranking may go on below.
  bool is_cut() const { return ids_.size() >= (ranks_below_ ? depth_ : k_); }
  // Exact; nothing for what was not looked at.
  std::optional<float> distance_of(std::uint64_t id) const;
  // The same, or by its code where only that was looked at.
  std::optional<float> likely_distance_of(std::uint64_t id) const;
  // How well the tokens of the question are matched; nothing where those of a chunk did not come.
  std::optional<float> match_of(std::uint64_t id) const;
  // What tells where in a chunk they are; null where it is not known.
  const TokenLikeness* likeness_of(std::uint64_t id) const;
  // How near a chunk is on the scale of the others.
  std::optional<float> nearness_of(std::uint64_t id);
  std::string_view strategy() const;
  const SearchCounters& counters() const { return counters_; }
  std::size_t out_of_reach() const { return out_of_reach_.size(); }

 private:
  std::optional<Bitmap> allow(const Scope& scope, bool& is_empty) const;
  void search_by_codes();
  void add_estimates(std::span<const SearchHit> hits);
  void begin_round(std::span<const std::uint64_t> ids);
  void next_round();
  void finish_round();
  void take_stored(std::span<const std::uint64_t> ids);
  void finish_measuring();
  void finish();
  void remember(std::uint64_t id, const float* row);

  const Index& vectors_;
  PassageReader& reader_;
  Stage stage_ = Stage::kOver;
  std::vector<float> question_;
  std::size_t k_ = 0, depth_ = 0;
  bool wants_more_ = false;   // ranks below the k-th
  bool ranks_below_ = false;  // has done so
  bool is_measuring_ = false;
  std::vector<std::uint64_t> measured_;
  QuestionTokens tokens_;
  std::map<std::uint64_t, TokenLikeness> likeness_;  // by chunk
  std::optional<Bitmap> allowed_;
  std::optional<SearchBatch> search_;
  std::vector<std::uint64_t> wanted_, to_embed_;
  bool is_away_ = false;
  std::size_t round_size_ = 0;   // how many vectors were wanted, known ones included
  std::size_t unreachable_ = 0;  // in this round
  // Vectors that were supplied, for when the search begins again.
  NumberMap places_;
  std::vector<float> known_;
  std::vector<std::uint64_t> ids_;
  std::map<std::uint64_t, float> distances_;
  std::map<std::uint64_t, float> estimates_;  // by codes
  std::optional<Background> background_;
  Strategy strategy_ = Strategy::kAuto;
  bool has_searched_ = false;
  SearchCounters counters_;
  std::set<std::uint64_t> out_of_reach_;
  bool is_cut_off_ = false;  // so much is out of reach that going on makes no sense
};

}  // namespace gossamer
