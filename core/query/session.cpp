#include "query/session.h"

#include <algorithm>

#include "base/number_map.h"
#include "query/needs.h"

namespace gossamer {

QuerySession::QuerySession(const Collection& collection, bool has_vectors, Query query)
    : collection_(collection),
      query_(std::move(query)),
      terms_(query_.question),
      reader_(collection),
      has_vectors_(has_vectors && query_.mode != QueryMode::kLexical) {
  expect(query_.k > 0, Reason::kInvalidArgument, "k must be at least 1");
  const double recall = query_.recall.value_or(Query::kUsualRecall);
  expect(recall > 0 && recall <= 1, Reason::kInvalidArgument,
         "recall must be above 0 and at most 1");
  const std::size_t most = collection.catalogue().counts().chunks;
  query_.k = std::min(query_.k, std::max<std::size_t>(most, 1));
  if (query_.filter) scope_.allowed = collection.allow(*query_.filter);
  scope_.excluded.insert(query_.excluded.begin(), query_.excluded.end());
  begin();
}

// Ranks, from the beginning where sources turned out to be stale.
void QuerySession::begin() {
  stage_ = Stage::kRank;
  hits_.clear();
  next_ = 0;
  begin_words();
  if (meaning_) meaning_->begin(query_, scope_);
  advance();
}

void QuerySession::begin_words() {
  words_ = Words::kReady;
  by_words_ = {};
  if (query_.mode == QueryMode::kSemantic || query_.words == WordSource::kNone) return;
  if (query_.words == WordSource::kHost) {
    words_ = Words::kHost;
    return;
  }
  if (query_.words == WordSource::kTexts) return begin_pass();
  const PostingsView* postings = collection_.postings();
  expect(postings != nullptr, Reason::kWrongState, "the index has no postings");
  if (postings->side() != Side::kQuestion) terms_ = LexicalQuery(query_.question, postings->side());
  postings_ = std::make_unique<PostingsPass>(terms_, *postings, collection_.layout(), scope_);
  words_ = Words::kPostings;
  if (postings_->ranges().empty()) end_words(postings_->rank(depth()), terms_.terms());
}

void QuerySession::count_words() {
  expect(words_ == Words::kHost, Reason::kWrongState, "no ranking was asked for");
  begin_pass();
  advance();
}

void QuerySession::begin_pass() {
  pass_ = std::make_unique<WordPass>(terms_, collection_.layout(), scope_);
  words_ = Words::kTexts;
  if (pass_->pieces().empty()) end_words({}, terms_.terms());
}

WordPass& QuerySession::pass() {
  expect(words_ == Words::kTexts, Reason::kWrongState, "no words are to be counted");
  return *pass_;
}

void QuerySession::finish_words() {
  WordPass& counted = pass();
  expect(counted.is_counted(), Reason::kWrongState, "not every piece of the texts was counted");
  word_bytes_ += counted.bytes_read();
  reader_.stale().insert(counted.unreadable_sources().begin(), counted.unreadable_sources().end());
  end_words(counted.rank(depth()), terms_.terms());
  advance();
}

void QuerySession::supply_ranking(std::span<const std::uint64_t> ids,
                                  std::vector<std::string> terms,
                                  std::vector<std::uint64_t> chunks_with) {
  expect(words_ == Words::kHost, Reason::kWrongState, "no ranking was asked for");
  expect(terms.size() == chunks_with.size(), Reason::kInvalidArgument,
         "expected a number of chunks for each term");
  // A database that somebody spoilt may name any.
  WordRanking ranking;
  for (const std::uint64_t id : ids.first(std::min(ids.size(), depth())))
    if (may_find(id)) ranking.ids.push_back(id);
  // Its scores would depend on what the database still holds of chunks that have left.
  for (std::size_t place = 1; place <= ranking.ids.size(); ++place)
    ranking.scores.push_back(static_cast<float>(weight_of(static_cast<std::uint32_t>(place))));
  ranking.chunks_with = std::move(chunks_with);
  end_words(std::move(ranking), std::move(terms));
  advance();
}

bool QuerySession::may_find(std::uint64_t id) const {
  const std::optional<ChunkNumber> chunk = collection_.layout().number_of(id);
  return chunk && !scope_.excluded.contains(id) &&
         scope_.holds(collection_.layout().document_of(*chunk));
}

void QuerySession::supply_postings(std::span<const ByteView> ranges) {
  expect(words_ == Words::kPostings, Reason::kWrongState, "no postings were asked for");
  postings_->supply(ranges);
  if (postings_->ranges().empty()) end_words(postings_->rank(depth()), terms_.terms());
  advance();
}

void QuerySession::end_words(WordRanking ranking, std::vector<std::string> terms) {
  by_words_ = std::move(ranking);
  word_terms_ = std::move(terms);
  by_words_.chunks_with.resize(word_terms_.size());
  words_ = Words::kReady;
  pass_.reset();
  postings_.reset();
}

void QuerySession::supply_question(const Index& vectors, std::span<const float> vector,
                                   std::span<const float> tokens,
                                   std::span<const std::uint32_t> starts) {
  expect(has_vectors_ && !meaning_, Reason::kWrongState, "no vector of the question was asked for");
  auto meaning = std::make_unique<MeaningSearch>(
      vectors, reader_, vector, QuestionTokens(vectors.space().dim(), tokens, starts));
  meaning->begin(query_, scope_);
  meaning_ = std::move(meaning);
  advance();
}

MeaningSearch& QuerySession::meaning() {
  expect(meaning_ && (stage_ == Stage::kRank || stage_ == Stage::kMeasure), Reason::kWrongState,
         "nothing is searched for by meaning");
  return *meaning_;
}

void QuerySession::supply_vectors(std::span<const Supplied> states, std::span<const float> rows) {
  meaning().supply(states, rows);
  advance();
}

void QuerySession::finish_rows() {
  meaning().finish_rows();
  advance();
}

void QuerySession::supply_embeddings(std::span<const float> rows, const TokenRows& tokens) {
  meaning().supply_embeddings(rows, tokens);
  advance();
}

void QuerySession::supply_texts(std::span<const std::optional<ByteView>> spans) {
  expect(!reader_.texts().empty(), Reason::kWrongState, "no texts were asked for");
  reader_.supply_texts(spans);
  advance();
}

void QuerySession::supply_chunks(std::span<const std::optional<AwayText>> chunks,
                                 bool is_answered) {
  expect(!reader_.away().empty(), Reason::kWrongState, "no chunks were asked for");
  reader_.supply_away(chunks, is_answered);
  advance();
}

bool QuerySession::is_ranked() const {
  if (words_ != Words::kReady) return false;
  if (!has_vectors_) return true;
  return meaning_ && meaning_->stage() == MeaningSearch::Stage::kOver;
}

void QuerySession::advance() {
  if (stage_ == Stage::kRank || stage_ == Stage::kMeasure) {
    if (meaning_ && meaning_->stage() == MeaningSearch::Stage::kTexts && reader_.is_over())
      meaning_->take_texts();
    if (!is_ranked()) return;
    if (stage_ == Stage::kRank) begin_measuring();
    if (!is_ranked()) return;
    finish_measuring();
    stage_ = Stage::kRead;
    read_next();
  }
  while (stage_ == Stage::kRead && reader_.is_over()) take_hits();
}

// Makes one ranking of two, and asks for what tells which of the best are better.
void QuerySession::begin_measuring() {
  stage_ = Stage::kMeasure;
  const std::span<const std::uint64_t> by_meaning =
      meaning_ ? meaning_->ids() : std::span<const std::uint64_t>();
  fused_ = fuse(by_meaning, by_words_.ids);
  candidates_.clear();
  if (!meaning_ || !query_.reranks_best()) return;
  for (const FusedChunk& chunk : fused_)
    if (chunk.best_rank() <= query_.candidates()) candidates_.push_back(chunk.id);
  if (query_.words != WordSource::kNone)
    meaning_->tokens().weigh(query_.question, word_terms_, by_words_.chunks_with,
                             collection_.catalogue().counts().chunks);
  meaning_->measure(candidates_);
}

// What turned out to be stale is no hit, and tells nothing of the others.
void QuerySession::finish_measuring() {
  std::erase_if(candidates_, [&](std::uint64_t id) { return is_stale(id); });
  if (candidates_.empty()) return;
  NumberMap scores;
  for (std::size_t i = 0; i < by_words_.scores.size(); ++i) scores.insert(by_words_.ids[i], i);
  std::vector<Evidence> evidence;
  for (const std::uint64_t id : candidates_) {
    const std::uint64_t* place = scores.find(id);
    evidence.push_back({meaning_->likely_distance_of(id), meaning_->match_of(id),
                        place ? by_words_.scores[*place] : 0});
  }
  rank_again(fused_, candidates_, evidence, meaning_->tokens().size());
}

bool QuerySession::is_stale(std::uint64_t id) const {
  const std::optional<ChunkNumber> chunk = collection_.layout().number_of(id);
  return chunk && reader_.stale().contains(collection_.layout().document_of(*chunk).source);
}

void QuerySession::read_next() {
  const std::size_t end = std::min(fused_.size(), next_ + query_.k);
  batch_.assign(fused_.begin() + static_cast<std::ptrdiff_t>(next_),
                fused_.begin() + static_cast<std::ptrdiff_t>(end));
  next_ = end;
  std::vector<std::uint64_t> ids;
  for (const FusedChunk& chunk : batch_) ids.push_back(chunk.id);
  reader_.begin(ids, true);
}

// Takes the best until k of them are there, leaving out those whose text has changed.
void QuerySession::take_hits() {
  for (const FusedChunk& chunk : batch_) {
    if (hits_.size() == query_.k) break;
    const Passage* passage = reader_.find(chunk.id);
    if (passage == nullptr && !reader_.is_out_of_reach(chunk.id)) continue;
    hits_.push_back({passage ? *passage : reader_.without_text(chunk.id), chunk,
                     meaning_ ? meaning_->distance_of(chunk.id) : std::nullopt});
  }
  if (hits_.size() == query_.k || (next_ == fused_.size() && reader_.stale() == scope_.stale)) {
    stage_ = Stage::kOver;
  } else if (next_ < fused_.size()) {
    read_next();
  } else {
    // What was found to be stale leaves its place to others. Where that happens again, more is read
    // each time: all the sources of a large index may be stale.
    if (!scope_.stale.empty() && depth() < collection_.catalogue().counts().chunks)
      scope_.depth *= 2;
    scope_.stale = reader_.stale();
    begin();
  }
}

std::optional<std::vector<std::uint64_t>> QuerySession::allowed_ids() const {
  if (scope_.holds_all()) return std::nullopt;
  return scope_.ids(collection_.layout());
}

std::string QuerySession::needs() const {
  NeedsWriter needs;
  if (stage_ == Stage::kRank || stage_ == Stage::kMeasure) {
    if (words_ == Words::kTexts) needs.words(pass_->pieces().size());
    if (words_ == Words::kHost) needs.ranking(depth());
    if (words_ == Words::kPostings) needs.postings(postings_->ranges());
    if (has_vectors_ && !meaning_) needs.question();
    if (meaning_) needs.meaning(*meaning_);
  }
  needs.texts(reader_.texts());
  needs.chunks(reader_.away());
  return needs.take();
}

}  // namespace gossamer
