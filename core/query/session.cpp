#include "query/session.h"

#include <algorithm>

#include "base/number_map.h"
#include "query/needs.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// Whether it can be written for hosts: UTF-8, where lone surrogates stand as three bytes.
bool is_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (is_half(text, at))
      at += 3;
    else if (next_point(text, at) == kReplacement &&
             text.substr(start, at - start) != "\xEF\xBF\xBD")
      return false;
  }
  return true;
}

}  // namespace

QuerySession::QuerySession(const Collection& collection, bool has_vectors, Query query)
    : collection_(collection),
      query_(std::move(query)),
      question_(query_.is_plain ? Question{query_.question, {}, {}}
                                : read_question(query_.question)),
      terms_(question_.text, side()),
      test_(question_.requirements, terms_, side()),
      exact_(question_.text),
      reader_(collection),
      has_vectors_(has_vectors && query_.mode != QueryMode::kLexical) {
  expect(is_text(question_.text), Reason::kInvalidArgument, "the question is no UTF-8");
  expect(query_.k > 0, Reason::kInvalidArgument, "k must be at least 1");
  const double recall = query_.recall.value_or(Query::kUsualRecall);
  expect(recall > 0 && recall <= 1, Reason::kInvalidArgument,
         "recall must be above 0 and at most 1");
  const std::size_t most = collection.catalogue().counts().chunks;
  query_.k = std::min(query_.k, std::max<std::size_t>(most, 1));
  allow_files();
  // In a pass over texts that costs nothing; postings of keywords would have to be fetched.
  if (query_.words != WordSource::kPostings && terms_.is_lookup())
    for (const std::string& name : exact_.names()) terms_.expect_definition(name);
  for (const std::uint64_t id : query_.excluded) scope_.excluded.insert(id);
  begin();
}

// Ranks, from the beginning where sources turned out to be stale.
void QuerySession::begin() {
  stage_ = Stage::kRank;
  hits_.clear();
  hits_of_.clear();
  held_back_.clear();
  copies_ = {};
  sifted_.clear();
  left_out_.clear();
  next_ = 0;
  scope_.chunks = nullptr;
  is_checked_ = is_sure_ = false;
  begin_words();
  // What is required is found by words first.
  if (meaning_ && (test_.empty() || query_.words == WordSource::kNone))
    meaning_->begin(query_, scope_);
  advance();
}

void QuerySession::supply_question(const Index& vectors, std::span<const float> vector,
                                   std::span<const float> tokens,
                                   std::span<const std::uint32_t> starts) {
  expect(has_vectors_ && !meaning_, Reason::kWrongState, "no vector of the question was asked for");
  auto meaning = std::make_unique<MeaningSearch>(
      vectors, reader_, vector, QuestionTokens(vectors.space().dim(), tokens, starts));
  if (test_.empty() || words_ == Words::kReady) meaning->begin(query_, scope_);
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
  if (words_ == Words::kUnsure && reader_.is_over()) take_unsure();
  if (stage_ == Stage::kRank || stage_ == Stage::kMeasure) {
    if (meaning_ && meaning_->stage() == MeaningSearch::Stage::kTexts && reader_.is_over())
      meaning_->take_texts();
    if (!is_ranked()) return;
  }
  if (stage_ == Stage::kRank && !is_checked_) begin_pairs();
  if (stage_ == Stage::kPairs && reader_.is_over()) finish_pairs();
  while (stage_ == Stage::kCheck && reader_.is_over()) take_checked();
  if (stage_ == Stage::kRank && is_checked_ && is_ranked()) {
    fuse_rankings();
    begin_sifting();
  }
  while (stage_ == Stage::kSift && reader_.is_over()) take_sifted();
  if (stage_ == Stage::kMeasure && is_ranked()) begin_weighing();
  if (stage_ == Stage::kWeigh && reader_.is_over()) finish_weighing();
  if (stage_ == Stage::kScore && reader_.is_over()) finish_scoring();
  while (stage_ == Stage::kRead && reader_.is_over()) take_hits();
  if (stage_ == Stage::kPlaces && reader_.is_over()) finish_places();
}

std::span<const std::uint64_t> QuerySession::meaning_ids() const {
  return meaning_ ? meaning_->ids() : std::span<const std::uint64_t>();
}

// Makes one ranking of two.
void QuerySession::fuse_rankings() { fused_ = fuse(meaning_ids(), by_words_.ids); }

// Asks for what tells which of the best are better.
void QuerySession::begin_measuring() {
  stage_ = Stage::kMeasure;
  if (!meaning_ || candidates_.empty()) return;
  if (query_.words != WordSource::kNone)
    meaning_->tokens().weigh(question_.text, word_terms_, by_words_.chunks_with, chunk_count());
  meaning_->measure(candidates_);
}

// Whatever their vectors came from, the best are read: what they say counts too. Texts that only a
// server has are not worth the way.
void QuerySession::begin_weighing() {
  stage_ = Stage::kWeigh;
  reader_.begin(candidates_, false);
  reader_.take_away();
}

// What turned out to be stale is no hit, and tells nothing of the others.
void QuerySession::finish_weighing() {
  std::erase_if(candidates_, [&](std::uint64_t id) { return is_stale(id); });
  add_pairs();
  NumberMap scores;
  for (std::size_t i = 0; i < by_words_.scores.size(); ++i) scores.insert(by_words_.ids[i], i);
  std::vector<Evidence> evidence;
  for (const std::uint64_t id : candidates_) {
    Evidence& one = evidence.emplace_back();
    if (meaning_) one.distance = meaning_->likely_distance_of(id);
    if (meaning_) one.tokens = meaning_->match_of(id);
    if (const std::uint64_t* place = scores.find(id)) one.words = by_words_.scores[*place];
    if (const Passage* passage = reader_.find(id))
      one.exact = exact_.weigh(passage->title, passage->body);
  }
  if (!candidates_.empty())
    rank_again(fused_, candidates_, evidence, meaning_ ? meaning_->tokens().size() : 0);
  begin_scoring();
}

bool QuerySession::is_stale(std::uint64_t id) const {
  const std::optional<ChunkNumber> chunk = collection_.layout().number_of(id);
  return chunk && reader_.stale().contains(collection_.layout().document_of(*chunk).source);
}

void QuerySession::find_grounds(Hit& hit, WordCoverage& coverage) {
  hit.grounds = {.tokens = hit.rank.tokens, .terms = terms_.asked(), .chunks = chunk_count()};
  if (meaning_) hit.grounds.nearness = meaning_->nearness_of(hit.rank.id);
  if (!hit.passage.embedded.empty()) hit.grounds.coverage = coverage.find(hit.passage.embedded);
  compare(hit);
}

void QuerySession::compare(Hit& hit) const {
  hit.grounds.exact = exact_of(fused_, hit.rank);
  hit.grounds.lead = lead_of(fused_, hit.rank);
  hit.probability = probability_of(hit.grounds);
}

std::optional<std::vector<std::uint64_t>> QuerySession::allowed_ids() const {
  if (scope_.holds_all()) return std::nullopt;
  return scope_.ids(collection_.layout());
}

std::string QuerySession::needs() const {
  NeedsWriter needs;
  if (stage_ == Stage::kRank || stage_ == Stage::kMeasure) {
    if (words_ == Words::kTexts) needs.words(pass_->pieces().size());
    if (words_ == Words::kHost) needs.ranking(question_.text, depth());
    if (words_ == Words::kPostings) needs.postings(postings_->ranges());
    if (has_vectors_ && !meaning_) needs.question(question_.text);
    if (meaning_) needs.meaning(*meaning_);
  }
  need_scores(needs);
  needs.texts(reader_.texts());
  needs.chunks(reader_.away());
  return needs.take();
}

}  // namespace gossamer
