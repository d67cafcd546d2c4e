// How each thing is shown once: copies of a passage are one hit, and the hits of one document leave
// room for those of others.

#include <algorithm>

#include "base/append.h"
#include "query/session.h"

namespace gossamer {
namespace {

// How many chunks are read, at most, to tell which of the best are copies, and how far down a
// ranking others are looked for where all above are copies.
constexpr std::size_t kMostSifted = 4096, kDeepest = 1 << 14;
// How many copies of a passage are named.
constexpr std::size_t kMostNamed = 100;

}  // namespace

void QuerySession::begin_sifting() {
  stage_ = Stage::kSift;
  candidates_.clear();
  if (!query_.reranks_best()) return begin_measuring();
  sift_next();
}

// How far down a ranking candidates stand: what is left out makes room for as many.
std::uint32_t QuerySession::reach_of(std::uint32_t FusedChunk::* rank) const {
  const std::size_t least = query_.candidates();
  std::uint32_t reach = 0;
  for (std::size_t room = least; reach < room;) {
    reach = static_cast<std::uint32_t>(room);
    room = least;
    for (const FusedChunk& chunk : left_out_) room += chunk.*rank > 0 && chunk.*rank <= reach;
  }
  return reach;
}

void QuerySession::sift_next() {
  const std::uint32_t by_meaning = reach_of(&FusedChunk::by_meaning),
                      by_words = reach_of(&FusedChunk::by_words);
  to_sift_.clear();
  std::vector<std::uint64_t> ids;
  for (const FusedChunk& chunk : fused_) {
    const bool is_best = (chunk.by_meaning > 0 && chunk.by_meaning <= by_meaning) ||
                         (chunk.by_words > 0 && chunk.by_words <= by_words);
    if (!is_best || sifted_.size() == kMostSifted || !sifted_.insert(chunk.id).second) continue;
    to_sift_.push_back(chunk);
    ids.push_back(chunk.id);
  }
  if (to_sift_.empty()) return finish_sifting();
  if (!query_.is_distinct) return;
  reader_.begin(ids, false);
  reader_.take_away();  // what only a server has is not worth the way
}

void QuerySession::take_sifted() {
  for (const FusedChunk& chunk : to_sift_) {
    if (is_copy(chunk.id) || is_stale(chunk.id))
      left_out_.push_back(chunk);
    else
      candidates_.push_back(chunk.id);
  }
  sift_next();
}

void QuerySession::finish_sifting() {
  std::set<std::uint64_t> left_out;
  for (const FusedChunk& chunk : left_out_) left_out.insert(chunk.id);
  std::erase_if(fused_, [&](const FusedChunk& chunk) { return left_out.contains(chunk.id); });
  begin_measuring();
}

// Whether a passage that was read says what one before it says.
bool QuerySession::is_copy(std::uint64_t id) {
  const Passage* passage = query_.is_distinct ? reader_.find(id) : nullptr;
  return passage != nullptr && copies_.add(id, passage->body) != id;
}

// The first of the ranking: among these a document leaves room for others.
std::size_t QuerySession::best_count() const {
  const std::size_t count = candidates_.empty() ? query_.candidates() : candidates_.size();
  return std::min(fused_.size(), std::max(count, query_.k));
}

void QuerySession::read_next() {
  const std::size_t most = next_ < best_count() ? best_count() : fused_.size();
  const std::size_t end = std::min(most, next_ + query_.k);
  batch_.assign(fused_.begin() + static_cast<std::ptrdiff_t>(next_),
                fused_.begin() + static_cast<std::ptrdiff_t>(end));
  next_ = end;
  std::vector<std::uint64_t> ids;
  for (const FusedChunk& chunk : batch_) ids.push_back(chunk.id);
  reader_.begin(ids, true);
}

// Takes the best until k of them are there, leaving out those whose text has changed.
void QuerySession::take_hits() {
  WordCoverage coverage(terms_, word_terms_, by_words_.chunks_with, chunk_count());
  const Showing showing = showing_of_hits();
  for (const FusedChunk& chunk : batch_)
    if (hits_.size() < query_.k) take_hit(chunk, coverage, showing);
  if (hits_.size() == query_.k || next_ >= best_count()) fill_up();
  if (hits_.size() == query_.k) return begin_places();
  if (next_ < fused_.size()) return read_next();
  look_deeper();
}

void QuerySession::take_hit(const FusedChunk& chunk, WordCoverage& coverage,
                            const Showing& showing) {
  const Passage* passage = reader_.find(chunk.id);
  if ((passage == nullptr && !reader_.is_out_of_reach(chunk.id)) || is_copy(chunk.id)) return;
  Hit hit{passage ? *passage : reader_.without_text(chunk.id), chunk,
          meaning_ ? meaning_->distance_of(chunk.id) : std::nullopt,
          meaning_ && passage ? meaning_->likeness_of(chunk.id) : nullptr};
  hit.snippet = snippet_of(hit, showing);
  if (is_repeated(hit)) return;
  // A chunk that is itself the question is not answered.
  if (query_.excluded.empty()) find_grounds(hit, coverage);
  (leaves_room(hit) ? held_back_ : hits_).push_back(std::move(hit));
}

bool QuerySession::is_repeated(const Hit& hit) {
  std::vector<std::uint64_t> ids;
  for (const Hit& other : hits_) ids.push_back(other.rank.id);
  if (!query_.is_distinct || !copies_.fold(hit.rank.id, hit.snippet->text, ids)) return false;
  repeated_.insert(hit.rank.id);
  return true;
}

// Documents that hold the same are one in this.
bool QuerySession::leaves_room(const Hit& hit) {
  if (query_.per_file == 0 || next_ > best_count()) return false;
  std::size_t most = 0;
  for (const std::size_t row : rows_of(hit)) most = std::max(most, hits_of_[row]++);
  return most >= query_.per_file;
}

std::set<std::size_t> QuerySession::rows_of(const Hit& hit) const {
  std::set<std::size_t> rows{hit.row()};
  for (const std::uint64_t id : copies_to_name(hit))
    rows.insert(collection_.catalogue().chunk(id).document_row);
  return rows;
}

// Where the best give no more, further hits of the same documents are better than those below; and
// than those of others that are weak.
void QuerySession::fill_up() {
  const auto is_weak = [this](const Hit& hit) {
    return strength_of(hit.probability) == "weak" || is_below(hit);
  };
  std::vector<Hit> left;
  for (Hit& hit : held_back_) {
    const auto weak = std::find_if(hits_.rbegin(), hits_.rend(), is_weak);
    const bool is_full = hits_.size() == query_.k;
    if (is_full && (is_weak(hit) || weak == hits_.rend())) {
      left.push_back(std::move(hit));
      continue;
    }
    if (is_repeated(hit)) continue;
    if (is_full) hits_.erase(std::next(weak).base());
    const auto behind = std::find_if(hits_.begin(), hits_.end(),
                                     [&](const Hit& other) { return hit.rank < other.rank; });
    hits_.insert(behind, std::move(hit));
  }
  held_back_ = std::move(left);
}

// What was found to be stale, or a copy, leaves its place to others.
void QuerySession::look_deeper() {
  const bool is_cut = by_words_.ids.size() >= depth() || (meaning_ && meaning_->is_cut());
  const bool has_copies = copies_.count() > 0 && is_cut && depth() < kDeepest;
  const bool is_stale = reader_.stale() != scope_.stale;
  if (!is_stale && !has_copies) return begin_places();
  if (is_stale) pass_.reset();
  // Where that happens again, more is read each time: all the sources of a large index may be
  // stale.
  const bool is_all = depth() >= chunk_count();
  if (has_copies || (!scope_.stale.empty() && !is_all)) {
    scope_.spare += query_.k + scope_.spare;
    scope_.depth *= 4;
  }
  scope_.stale = reader_.stale();
  begin();
}

bool QuerySession::is_below(const Hit& hit) const {
  return hit.probability && *hit.probability < query_.min_score;
}

std::span<const std::uint64_t> QuerySession::copies_to_name(const Hit& hit) const {
  const std::span<const std::uint64_t> ids = copies_.copies_of(hit.rank.id);
  return ids.first(std::min(ids.size(), kMostNamed));
}

// Where else a hit stands is to be cited too.
void QuerySession::begin_places() {
  stage_ = Stage::kPlaces;
  // What is shown once has no lead on itself.
  std::erase_if(fused_, [this](const FusedChunk& one) { return repeated_.contains(one.id); });
  for (Hit& hit : hits_)
    if (query_.excluded.empty()) compare(hit);
  std::erase_if(hits_, [this](const Hit& hit) { return is_below(hit); });
  std::vector<std::uint64_t> ids;
  for (const Hit& hit : hits_) append(ids, copies_to_name(hit));
  reader_.begin(ids, true);
  reader_.take_away();
}

void QuerySession::finish_places() {
  for (Hit& hit : hits_) {
    for (const std::uint64_t id : copies_to_name(hit))
      if (const Passage* passage = reader_.find(id))
        hit.also.push_back({*passage, {id, 0, 0, 0}, std::nullopt});
    const std::size_t copies = copies_.copies_of(hit.rank.id).size();
    hit.copies = hit.also.size() + copies - std::min(copies, kMostNamed);
    // The first hit of a document tells of all that were held back, of its copies too.
    const auto is_of_it = [rows = rows_of(hit)](const Hit& more) {
      return rows.contains(more.row());
    };
    for (Hit& more : held_back_)
      if (is_of_it(more)) hit.more.push_back(more);
    std::erase_if(held_back_, is_of_it);
  }
  stage_ = Stage::kOver;
}

}  // namespace gossamer
