// How a question finds chunks by words, and those that hold what it requires.

#include <algorithm>

#include "query/session.h"

namespace gossamer {
namespace {

// Counts the words of a passage as a pass over the texts does: those of its title where that is
// near. Gives the title that was counted.
std::string_view count_passage(const Passage& passage, const ChunkLayout& layout,
                               TermCounter& counter) {
  const std::optional<ChunkNumber> chunk = layout.number_of(passage.chunk.id);
  std::string_view title;
  if (chunk && !layout.title_near(layout.document_of(*chunk), *chunk).empty())
    title = passage.title;
  counter.add(title);
  counter.add(passage.body);
  return title;
}

// What passages hold, by their texts, however words were folded where they were counted.
class PassageTest {
 public:
  explicit PassageTest(const Question& question)
      : query_(question.text), test_(question.requirements, query_), counter_(query_) {}

  Held find(const Passage& passage, const ChunkLayout& layout) {
    const std::string_view title = count_passage(passage, layout, counter_);
    const Held held = test_.find(counter_.found(), title, passage.body) & ~test_.titles();
    counter_.clear();
    return held | test_.find_title(passage.title);
  }

 private:
  LexicalQuery query_;
  RequirementTest test_;
  TermCounter counter_;
};

// How many passages are read, at a time and at most, where only their texts tell whether they hold
// what is required, or which words stand side by side.
constexpr std::size_t kCheckedAtOnce = 32, kMostChecked = 256, kMostUncertain = 32,
                      kMostUnsure = 64;

}  // namespace

Side QuerySession::side() const {
  const bool has_postings = query_.words == WordSource::kPostings && collection_.postings();
  return has_postings ? collection_.postings()->side() : Side::kQuestion;
}

void QuerySession::allow_files() {
  if (query_.filter) scope_.allowed = collection_.allow(*query_.filter);
  for (const FileTest& test : question_.files) {
    const std::shared_ptr<const Allowed> wanted = collection_.allow(test.filter);
    Allowed both(*wanted);
    for (std::size_t row = 0; row < both.size(); ++row)
      both[row] = both[row] != test.is_excluded && (!scope_.allowed || (*scope_.allowed)[row]);
    scope_.allowed = std::make_shared<const Allowed>(std::move(both));
  }
}

void QuerySession::begin_words() {
  words_ = Words::kReady;
  by_words_ = {};
  postings_.reset();
  if (query_.words == WordSource::kNone) return require({});
  if (query_.mode == QueryMode::kSemantic && test_.empty()) return;
  // A host that ranks does not say what is side by side.
  if (query_.words == WordSource::kHost && test_.empty()) {
    words_ = Words::kHost;
    return;
  }
  if (query_.words != WordSource::kPostings) return begin_pass();
  const PostingsView* postings = collection_.postings();
  expect(postings != nullptr, Reason::kWrongState, "the index has no postings");
  postings_ = std::make_unique<PostingsPass>(terms_, *postings, collection_.layout(), scope_);
  words_ = Words::kPostings;
  if (postings_->ranges().empty()) end_postings();
}

void QuerySession::end_postings() {
  if (test_.empty()) return rank_postings();
  require(postings_->held(test_));
  to_check_ = find_unsure();
  if (to_check_.empty() || to_check_.size() > kMostUnsure) return rank_postings();
  words_ = Words::kUnsure;
  reader_.begin(to_check_, false);
  reader_.take_away();
}

void QuerySession::rank_postings() {
  end_words(postings_->rank(depth(), scope_.chunks.get()), terms_.terms());
}

std::vector<std::uint64_t> QuerySession::find_unsure() const {
  std::vector<std::uint64_t> ids;
  for (const ChunkLayout::Document& document : collection_.layout().documents()) {
    if (!scope_.holds(document)) continue;
    Held open = test_.by_text() & ~given_up_;
    if (document.title_length == 0) open &= ~test_.titles();
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk) {
      if (!(*scope_.chunks)[chunk] || (held_[chunk] & open) == 0) continue;
      ids.push_back(document.id_of(chunk));
      open &= ~test_.titles();
    }
  }
  return ids;
}

void QuerySession::take_unsure() {
  const ChunkLayout& layout = collection_.layout();
  PassageTest test(question_);
  for (const std::uint64_t id : to_check_) {
    const Passage* passage = reader_.find(id);
    const std::optional<ChunkNumber> number = layout.number_of(id);
    if (!number) continue;
    has_unknown_ = has_unknown_ || passage == nullptr;
    const Held held = passage ? test.find(*passage, layout) : 0;
    held_[*number] = held;
    const ChunkLayout::Document& document = layout.document_of(*number);
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      held_[chunk] = (held_[chunk] & ~test_.titles()) | (held & test_.titles());
  }
  narrow(true, 0);
  is_sure_ = true;
  rank_postings();
}

void QuerySession::count_words() {
  expect(words_ == Words::kHost, Reason::kWrongState, "no ranking was asked for");
  begin_pass();
  advance();
}

void QuerySession::begin_pass() {
  if (!pass_)
    pass_ = std::make_unique<WordPass>(terms_, collection_.layout(), scope_,
                                       test_.empty() ? nullptr : &test_);
  words_ = Words::kTexts;
  if (pass_->is_counted()) end_pass();
}

void QuerySession::end_pass() {
  if (!test_.empty()) require(pass_->held());
  end_words(pass_->rank(depth(), scope_.chunks.get()), terms_.terms());
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
  end_pass();
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
  if (postings_->ranges().empty()) end_postings();
  advance();
}

void QuerySession::end_words(WordRanking ranking, std::vector<std::string> terms) {
  by_words_ = std::move(ranking);
  word_terms_ = std::move(terms);
  by_words_.chunks_with.resize(word_terms_.size());
  if (query_.mode == QueryMode::kSemantic) by_words_.ids.clear(), by_words_.scores.clear();
  words_ = Words::kReady;
  if (meaning_ && !test_.empty()) meaning_->begin(query_, scope_);
}

// Narrows the scope to chunks that may hold all that is required. What none of them holds is given
// up; so that is said, and the rest of the question is answered.
void QuerySession::require(std::vector<Held> held) {
  if (test_.empty()) return;
  const ChunkLayout& layout = collection_.layout();
  const bool is_known = !held.empty();
  held.resize(layout.chunk_count(), ~Held{0});
  for (const ChunkLayout::Document& document : layout.documents()) {
    // A title that no text holds is in the catalogue.
    if (test_.titles() == 0 || document.title_length > 0) continue;
    const Held titles = test_.find_title(collection_.document(document.row).document.title);
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      held[chunk] = (held[chunk] & ~test_.titles()) | titles;
  }
  held_ = std::move(held);
  narrow(is_known, !is_known ? ~Held{0} : pass_ ? 0 : test_.by_text());
}

void QuerySession::narrow(bool is_known, Held unsure) {
  Held found = 0;
  for (const ChunkLayout::Document& document : collection_.layout().documents()) {
    if (!scope_.holds(document)) continue;
    // A pass has not read what is not here.
    has_unknown_ = has_unknown_ || (pass_ && document.segment == kAway);
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      found |= held_[chunk];
  }
  if (is_known && may_claim()) given_up_ |= test_.required() & ~found;
  auto chunks = std::make_shared<std::vector<bool>>(held_.size());
  for (const ChunkLayout::Document& document : collection_.layout().documents()) {
    if (pass_ && document.segment == kAway) continue;
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      (*chunks)[chunk] = test_.is_met(held_[chunk] & ~(test_.excluded() & unsure), given_up_);
  }
  scope_.chunks = std::move(chunks);
}

bool QuerySession::may_claim() const { return !has_unknown_ && scope_.stale.empty(); }

void QuerySession::begin_pairs() {
  stage_ = Stage::kPairs;
  checked_.clear();
  to_check_.clear();
  if (postings_ && query_.mode != QueryMode::kSemantic)
    to_check_ = postings_->uncertain(std::max(query_.candidates(), query_.k), kMostUncertain,
                                     scope_.chunks.get());
  reader_.begin(to_check_, false);
  reader_.take_away();
}

void QuerySession::finish_pairs() {
  if (!to_check_.empty()) {
    TermCounter counter(terms_);
    for (const std::uint64_t id : to_check_)
      if (const Passage* passage = reader_.find(id)) {
        count_passage(*passage, collection_.layout(), counter);
        postings_->take_pairs(id, counter);
      }
    by_words_ = postings_->rank(depth(), scope_.chunks.get());
    by_words_.chunks_with.resize(word_terms_.size());
  }
  fuse_rankings();
  if (!must_check()) return begin_sifting();
  // Those that are nearest by meaning need not hold it.
  if (postings_ && query_.mode == QueryMode::kSemantic)
    fused_ = fuse(meaning_ids(), postings_->rank(depth(), scope_.chunks.get()).ids);
  stage_ = Stage::kCheck;
  check_next();
}

void QuerySession::add_pairs() {
  // Where something is looked up they have been counted; a host that ranks gives no scores.
  if (terms_.pairs().empty() || terms_.is_lookup() || by_words_.chunks == 0) return;
  const std::vector<double> weights = terms_.weigh(by_words_.chunks_with, by_words_.chunks);
  const ChunkLayout& layout = collection_.layout();
  TermCounter counter(terms_);
  for (std::size_t i = 0; i < by_words_.ids.size(); ++i) {
    const std::uint64_t id = by_words_.ids[i];
    const bool is_candidate =
        std::find(candidates_.begin(), candidates_.end(), id) != candidates_.end();
    const Passage* passage = is_candidate ? reader_.find(id) : nullptr;
    const std::optional<ChunkNumber> chunk = layout.number_of(id);
    if (passage == nullptr || !chunk) continue;
    count_passage(*passage, layout, counter);
    const auto bytes =
        static_cast<double>(layout.counted_bytes(layout.document_of(*chunk), *chunk));
    const double damping = ChunkCounts::damping_of(bytes, by_words_.mean_bytes);
    by_words_.scores[i] += static_cast<float>(score_pairs(terms_, counter, weights, damping));
    counter.clear();
  }
}

bool QuerySession::must_check() const {
  if (query_.words == WordSource::kNone) return !test_.empty();
  return postings_ && !is_sure_ && (test_.by_text() & ~given_up_) != 0;
}

void QuerySession::check_next() {
  to_check_.clear();
  for (; next_ < fused_.size() && to_check_.size() < kCheckedAtOnce; ++next_)
    to_check_.push_back(fused_[next_].id);
  reader_.begin(to_check_, false);
  reader_.take_away();
}

void QuerySession::take_checked() {
  PassageTest test(question_);
  const ChunkLayout& layout = collection_.layout();
  for (const std::uint64_t id : to_check_) {
    const Passage* passage = reader_.find(id);
    has_unknown_ = has_unknown_ || passage == nullptr;
    if (passage == nullptr) continue;
    const Held held = test.find(*passage, layout);
    // What is known now; a title is told once for its document, which is enough here.
    if (const std::optional<ChunkNumber> chunk = layout.number_of(id)) held_[*chunk] = held;
    if (test_.is_met(held, given_up_)) checked_.insert(id);
  }
  const bool is_enough = checked_.size() >= 2 * query_.candidates() + query_.k;
  if (is_enough || next_ == fused_.size() || next_ >= kMostChecked) return finish_checking();
  check_next();
}

void QuerySession::finish_checking() {
  // What chunks may still hold, those that were not read included.
  Held possible = 0;
  for (const ChunkLayout::Document& document : collection_.layout().documents())
    for (ChunkNumber chunk = document.first_chunk;
         scope_.holds(document) && chunk < document.end_chunk(); ++chunk)
      possible |= held_[chunk];
  const Held missing = test_.required() & ~(possible | given_up_);
  if (missing != 0 && may_claim()) {
    given_up_ |= missing;
    return begin();
  }
  next_ = 0;
  WordRanking left;
  for (std::size_t i = 0; i < by_words_.ids.size(); ++i) {
    if (!checked_.contains(by_words_.ids[i])) continue;
    left.ids.push_back(by_words_.ids[i]);
    left.scores.push_back(by_words_.scores[i]);
  }
  by_words_.ids = std::move(left.ids);
  by_words_.scores = std::move(left.scores);
  if (!checked_.empty()) return rank_checked();
  fused_.clear();
  begin_sifting();
}

// Ranks what was found to hold what is required, and nothing else.
void QuerySession::rank_checked() {
  const ChunkLayout& layout = collection_.layout();
  auto chunks = std::make_shared<std::vector<bool>>(layout.chunk_count());
  for (const std::uint64_t id : checked_)
    if (const std::optional<ChunkNumber> chunk = layout.number_of(id)) (*chunks)[*chunk] = true;
  scope_.chunks = std::move(chunks);
  if (meaning_) meaning_->begin(query_, scope_);
  is_checked_ = true;
  stage_ = Stage::kRank;
}

}  // namespace gossamer
