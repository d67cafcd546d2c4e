#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "query/answer.h"
#include "query/collection.h"
#include "query/copies.h"
#include "query/exact_words.h"
#include "query/fusion.h"
#include "query/meaning.h"
#include "query/passages.h"
#include "query/query.h"
#include "query/question.h"
#include "query/requirements.h"
#include "query/scope.h"
#include "query/strength.h"
#include "query/words.h"

namespace gossamer {

class NeedsWriter;

// A whole question: rankings by meaning and by words, made into one, read, checked and cited. It
// computes no vector and reads no text: it says what it needs, and the host supplies that, so that
// one session serves hosts that may block and hosts that may not.
//
//   while (!(needs = session.needs()).empty()) supply what they name;
//   session.answer()
//
// Needs that are named at the same time are independent of each other.
class QuerySession {
 public:
  // The collection outlives the session. Without vectors nothing is searched for by meaning.
  QuerySession(const Collection& collection, bool has_vectors, Query query);
  QuerySession(const QuerySession&) = delete;

  // What is needed, as a JSON list of objects; "[]" once the answer is there:
  //   {"need": "question", "text": ""}          supply_question: the vector of this
  //   {"need": "words", "pieces": N}            pass(): every piece is read and counted; then
  //                                             finish_words()
  //   {"need": "ranking", "text": "", "best": N}           supply_ranking, or count_words() instead
  //   {"need": "postings", "ranges": [[at, length]]}              supply_postings
  //   {"need": "vectors", "ids": [], "away": false, "tokens": false}     supply_vectors
  //   {"need": "rows"}                          meaning().search() is supplied; finish_rows()
  //   {"need": "texts", "documents": [{..., "spans": [[start, end]]}]}   supply_texts
  //   {"need": "embeddings", "ids": [], "texts": [], "tokens": false}    supply_embeddings
  //   {"need": "chunks", "ids": []}             supply_chunks: texts that a server has
  //   {"need": "scores", "question": "", "ids": [], "texts": []}         supply_scores
  // What is supplied out of order fails with kWrongState, of another size with kInvalidArgument;
  // the right thing can be supplied afterwards.
  std::string needs() const;

  // The vectors, which outlive the session too, are not needed before. `tokens`: the vectors of the
  // question's tokens, and where each begins in the question; none where the model gives none.
  void supply_question(const Index& vectors, std::span<const float> vector,
                       std::span<const float> tokens = {},
                       std::span<const std::uint32_t> starts = {});
  // The pass over texts that is under way.
  WordPass& pass();
  void finish_words();
  // Ids of chunks by their words, best first, and how many chunks hold each term. What is no chunk,
  // or may not be found, is left out.
  void supply_ranking(std::span<const std::uint64_t> ids, std::vector<std::string> terms,
                      std::vector<std::uint64_t> chunks_with);
  // Counts words in the texts after all, where the host cannot rank.
  void count_words();
  void supply_postings(std::span<const ByteView> ranges);
  void supply_vectors(std::span<const Supplied> states, std::span<const float> rows);
  MeaningSearch& meaning();
  void finish_rows();
  void supply_texts(std::span<const std::optional<ByteView>> spans);
  void supply_embeddings(std::span<const float> rows, const TokenRows& tokens = {});
  void supply_chunks(std::span<const std::optional<AwayText>> chunks, bool is_answered);
  // How well each text answers the question, larger is better; kNotFinite for what is no number.
  void supply_scores(std::span<const float> scores);

  // The ids that may be found, rising; nothing without a filter.
  std::optional<std::vector<std::uint64_t>> allowed_ids() const;
  bool is_over() const { return stage_ == Stage::kOver; }
  // Hits with their reasons as JSON: docs/how-it-works.md. kWrongState before it is over.
  std::string answer() const;

 private:
  enum class Stage {
    kRank,
    kPairs,
    kCheck,
    kSift,
    kMeasure,
    kWeigh,
    kScore,
    kRead,
    kPlaces,
    kOver
  };
  enum class Words { kNone, kTexts, kHost, kPostings, kUnsure, kReady };

  // How words were folded where they are counted.
  Side side() const;
  void begin();
  void begin_words();
  void begin_pass();
  void end_pass();
  void end_words(WordRanking ranking, std::vector<std::string> terms);
  void end_postings();
  void rank_postings();
  void allow_files();
  // Takes what chunks hold of what is required, as far as that is known.
  void require(std::vector<Held> held);
  // What must not be there and is not known for certain is looked at again.
  void narrow(bool is_known, Held unsure);
  // Chunks whose texts tell all that postings do not: one of a document for its title.
  std::vector<std::uint64_t> find_unsure() const;
  void take_unsure();
  // Which words stand side by side, where postings do not tell.
  void begin_pairs();
  void finish_pairs();
  std::span<const std::uint64_t> meaning_ids() const;
  void fuse_rankings();
  // Whether all that may be found is known: else nothing is said to be nowhere.
  bool may_claim() const;
  // What is required, where only texts tell whether it is held.
  bool must_check() const;
  void check_next();
  void take_checked();
  void finish_checking();
  void rank_checked();
  // Goes as far as it can with what is there.
  void advance();
  bool is_ranked() const;
  // Chooses what is ranked again: of each ranking as many as an answer needs, each passage once.
  void begin_sifting();
  void sift_next();
  void take_sifted();
  void finish_sifting();
  std::uint32_t reach_of(std::uint32_t FusedChunk::* rank) const;
  bool is_copy(std::uint64_t id);
  void begin_measuring();
  void begin_weighing();
  void finish_weighing();
  // Adds to the scores of the candidates by words what stands side by side in them.
  void add_pairs();
  void begin_scoring();
  void finish_scoring();
  void need_scores(NeedsWriter& needs) const;
  bool is_stale(std::uint64_t id) const;
  std::size_t depth() const { return scope_.depth + query_.k; }
  std::size_t chunk_count() const { return collection_.catalogue().counts().chunks; }
  bool may_find(std::uint64_t id) const;
  void read_next();
  void take_hits();
  void take_hit(const FusedChunk& chunk, WordCoverage& coverage, const Showing& showing);
  // Whether a hit shows nothing that another one does not say, whose copy it is then.
  bool is_repeated(const Hit& hit);
  // Rows of the documents that hold it.
  std::set<std::size_t> rows_of(const Hit& hit) const;
  // Whether one of these has its hits; counts this one.
  bool leaves_room(const Hit& hit);
  // Finds what tells how sure a hit is.
  void find_grounds(Hit& hit, WordCoverage& coverage);
  // What of that the others of the ranking tell.
  void compare(Hit& hit) const;
  // Whether nobody wants a hit that is as unsure.
  bool is_below(const Hit& hit) const;
  std::span<const std::uint64_t> copies_to_name(const Hit& hit) const;
  std::size_t best_count() const;
  void fill_up();
  void look_deeper();
  void begin_places();
  void finish_places();
  std::optional<std::size_t> allowed_count() const;
  Showing showing_of_hits() const;

  void write_explanation(JsonWriter& json) const;
  void write_absent(JsonWriter& json) const;

  const Collection& collection_;
  Query query_;
  Question question_;
  LexicalQuery terms_;
  RequirementTest test_;
  ExactWords exact_;
  Held given_up_ = 0;         // what is required, and nowhere to be found
  bool has_unknown_ = false;  // texts that could not be read
  Scope scope_;
  PassageReader reader_;
  Stage stage_ = Stage::kRank;

  Words words_ = Words::kNone;
  std::unique_ptr<WordPass> pass_;  // kept, as more may be ranked by it
  std::unique_ptr<PostingsPass> postings_;
  WordRanking by_words_;
  std::vector<std::string> word_terms_;
  std::uint64_t word_bytes_ = 0;

  bool has_vectors_;
  std::unique_ptr<MeaningSearch> meaning_;  // once there is the vector of the question

  CopyFinder copies_;
  std::vector<FusedChunk> to_sift_;
  std::set<std::uint64_t> sifted_;
  std::vector<FusedChunk> left_out_;       // copies, and what is stale
  std::vector<std::uint64_t> candidates_;  // that are ranked again
  std::vector<FusedChunk> fused_;
  std::vector<Held> held_;  // by number of chunk, where something is required
  bool is_sure_ = false;    // that is exact
  std::vector<std::uint64_t> to_check_;
  std::set<std::uint64_t> checked_;  // that hold what is required
  bool is_checked_ = false;          // the ranking is of these alone
  std::vector<std::uint64_t> to_score_;
  std::map<std::uint64_t, float> scores_;  // also of before, where the ranking began again
  std::size_t next_ = 0;                   // of these, the first that was not read
  std::vector<FusedChunk> batch_;
  std::vector<Hit> hits_;
  std::map<std::size_t, std::size_t> hits_of_;  // how many, by row of document
  std::vector<Hit> held_back_;                  // further ones of these documents
  std::set<std::uint64_t> repeated_;            // what shows nothing that a hit does not say
};

}  // namespace gossamer
