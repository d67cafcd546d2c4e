#include "query/words.h"

#include <algorithm>
#include <numeric>

#include "base/append.h"
#include "base/sort.h"
#include "store/schema.h"

namespace gossamer {
namespace {

// Texts are read in pieces of about this size, so that large ones are shared between threads.
constexpr std::uint64_t kPieceBytes = 1 << 20;
// Beyond such a gap the next chunk is read on its own.
constexpr std::uint64_t kGapBytes = 1 << 16;
// No chunk is as long as this; spans of a damaged index may be, or say the same again and again.
constexpr std::uint64_t kLongestPiece = 1 << 26;

WordRanking ranking_of(const ChunkCounts& counts, const ChunkLayout& layout, std::size_t best,
                       const std::vector<bool>* among) {
  WordRanking ranking;
  for (const ScoredChunk& chunk : counts.top(best, among)) {
    ranking.ids.push_back(layout.id_of(chunk.chunk));
    ranking.scores.push_back(chunk.score);
  }
  ranking.chunks = counts.chunks();
  ranking.mean_bytes = counts.mean_bytes();
  const auto terms = counts.chunks_with().first(counts.query().terms().size());
  ranking.chunks_with.assign(terms.begin(), terms.end());
  return ranking;
}

// A title stands near some chunks of its document, and is that of all.
void spread_titles(std::vector<Held>& held, const RequirementTest& test,
                   const ChunkLayout& layout) {
  if (test.titles() == 0) return;
  for (const ChunkLayout::Document& document : layout.documents()) {
    Held titles = 0;
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      titles |= held[chunk] & test.titles();
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      held[chunk] |= titles;
  }
}

}  // namespace

// One thread's part of a pass.
struct WordPass::Worker {
  explicit Worker(const LexicalQuery& query) : counter(query), counts(query) {}

  TermCounter counter;
  ChunkCounts counts;
};

// A worker for as long as one call needs it; what it remembers of words serves the next one.
class WordPass::Lease {
 public:
  explicit Lease(WordPass& pass) : pass_(pass) {
    const std::lock_guard lock(pass.mutex_);
    if (pass.idle_.empty()) {
      pass.workers_.push_back(std::make_unique<Worker>(pass.query_));
      pass.idle_.reserve(pass.workers_.size());
      worker_ = pass.workers_.back().get();
    } else {
      worker_ = pass.idle_.back();
      pass.idle_.pop_back();
    }
  }
  ~Lease() {
    const std::lock_guard lock(pass_.mutex_);
    pass_.idle_.push_back(worker_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Worker& operator*() const { return *worker_; }

 private:
  WordPass& pass_;
  Worker* worker_;
};

WordPass::WordPass(const LexicalQuery& query, const ChunkLayout& layout, const Scope& scope,
                   const RequirementTest* test)
    : query_(query), layout_(layout), scope_(scope), test_(test) {
  if (test) held_.resize(layout.chunk_count());
  if (query.terms().empty()) return;
  for (std::uint32_t place = 0; place < layout.text_order().size(); ++place)
    if (scope.holds(layout.documents()[layout.text_order()[place]])) cut(place);
  is_begun_.resize(pieces_.size());
  left_ = pieces_.size();
}

WordPass::~WordPass() = default;

std::string_view WordPass::path_of(const WordPiece& piece) const {
  return layout_.path_of(layout_.documents()[layout_.text_order()[piece.first]]);
}

// Puts the chunks of a document into pieces.
void WordPass::cut(std::uint32_t place) {
  const ChunkLayout::Document& document = layout_.documents()[layout_.text_order()[place]];
  const std::uint64_t offset = document.segment == kVerbatim ? 0 : document.offset;
  for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk) {
    const TextSpan title = layout_.title_near(document, chunk), own = layout_.span(chunk);
    std::uint64_t begin = own.start, end = own.end;
    if (!title.empty()) {
      begin = std::min<std::uint64_t>(begin, title.start);
      end = std::max<std::uint64_t>(end, title.end);
    }
    if (extend(place, chunk, offset + begin, offset + end)) continue;
    const auto number = static_cast<std::uint32_t>(pieces_.size());
    load_ = std::min(end - begin, kLongestPiece);
    pieces_.push_back({document.segment, offset + begin, offset + begin + load_, place, place,
                       chunk, chunk + 1, number});
  }
}

// Adds a chunk to the last piece, if that is near enough and not too long.
bool WordPass::extend(std::uint32_t place, ChunkNumber chunk, std::uint64_t begin,
                      std::uint64_t end) {
  if (pieces_.empty()) return false;
  WordPiece& piece = pieces_.back();
  const std::uint32_t segment = layout_.documents()[layout_.text_order()[place]].segment;
  if (piece.segment != segment || (segment == kVerbatim && piece.last != place)) return false;
  const std::uint64_t first = std::min(piece.begin, begin), last = std::max(piece.end, end);
  if (begin > piece.end + kGapBytes || last - first > kPieceBytes ||
      load_ + (end - begin) > kLongestPiece)
    return false;
  load_ += end - begin;
  piece.begin = first;
  piece.end = last;
  piece.last = place;
  piece.end_chunk = chunk + 1;
  return true;
}

const WordPiece& WordPass::begin(std::uint32_t number, std::size_t size) {
  const std::lock_guard lock(mutex_);
  expect(number < pieces_.size() && size <= pieces_[number].end - pieces_[number].begin,
         Reason::kInvalidArgument, "these bytes are no piece of the texts");
  expect(!is_begun_[number], Reason::kWrongState, "this piece was counted before");
  is_begun_[number] = true;
  return pieces_[number];
}

void WordPass::count(const WordPiece& given, std::string_view bytes) {
  const WordPiece& piece = begin(given.number, bytes.size());
  const Lease worker(*this);
  bytes_read_ += bytes.size();
  bool is_whole = true;
  for (std::uint32_t place = piece.first; place <= piece.last; ++place) {
    const ChunkLayout::Document& document = layout_.documents()[layout_.text_order()[place]];
    if (!scope_.holds(document)) continue;
    const ChunkNumber first = place == piece.first ? piece.first_chunk : document.first_chunk;
    const ChunkNumber end = place == piece.last ? piece.end_chunk : document.end_chunk();
    is_whole = count_document(document, piece, bytes, first, end, *worker) && is_whole;
  }
  --left_;
  if (is_whole || piece.segment != kVerbatim) return;
  const std::size_t source = layout_.documents()[layout_.text_order()[piece.first]].source;
  const std::lock_guard lock(mutex_);
  unreadable_.push_back(source);
}

bool WordPass::count_document(const ChunkLayout::Document& document, const WordPiece& piece,
                              std::string_view bytes, ChunkNumber first, ChunkNumber end,
                              Worker& worker) {
  const std::uint64_t offset = document.segment == kVerbatim ? 0 : document.offset;
  bool is_whole = true;
  for (ChunkNumber chunk = first; chunk < end; ++chunk) {
    if (scope_.excludes(document, chunk)) continue;
    bool is_there = true;
    std::string_view title, body;
    const auto count = [&](TextSpan span, std::string_view& text) {
      if (span.empty() || !is_there) return;
      const std::uint64_t start = offset + span.start - piece.begin;
      const std::size_t size = span.end - span.start;
      is_there = start <= bytes.size() && size <= bytes.size() - start;
      if (!is_there) return;
      text = bytes.substr(static_cast<std::size_t>(start), size);
      worker.counter.add(text);
    };
    count(layout_.title_near(document, chunk), title);
    count(layout_.span(chunk), body);
    if (is_there && test_ != nullptr)
      held_[chunk] = test_->find(worker.counter.found(), title, body);
    if (is_there)
      worker.counts.add(chunk, title.size() + body.size(), worker.counter);
    else
      worker.counter.clear();
    is_whole = is_whole && is_there;
  }
  return is_whole;
}

std::vector<Held> WordPass::held() const {
  std::vector<Held> held = held_;
  if (test_) spread_titles(held, *test_, layout_);
  return held;
}

WordRanking WordPass::rank(std::size_t best, const std::vector<bool>* among) const {
  ChunkCounts all(query_);
  for (const auto& worker : workers_) all.add(worker->counts);
  return ranking_of(all, layout_, best, among);
}

void count_document(const ChunkLayout& layout, std::uint64_t first_id, std::string_view text,
                    PostingsWriter& words) {
  const std::optional<ChunkNumber> first = layout.number_of(first_id);
  expect(first.has_value(), Reason::kUnknownId, "there is no such document");
  const ChunkLayout::Document& document = layout.document_of(*first);
  for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
    for (const TextSpan span : {layout.title_near(document, chunk), layout.span(chunk)}) {
      expect(span.end <= text.size(), Reason::kInvalidArgument,
             "a chunk lies beyond the end of its text");
      if (!span.empty()) words.add(chunk, words_of(text, span));
    }
}

PostingsPass::PostingsPass(const LexicalQuery& query, const PostingsView& postings,
                           const ChunkLayout& layout, const Scope& scope)
    : query_(query), postings_(postings), layout_(layout), scope_(scope) {
  if (postings.chunks() != layout.chunk_count())
    fail(Reason::kDamaged, "the index has " + std::to_string(layout.chunk_count()) +
                               " chunks, its words are of " + std::to_string(postings.chunks()) +
                               "; export it again");
  for (const std::string& term : query.terms())
    if (const auto block = postings.block_of(term)) blocks_.push_back(*block);
  sort_values(blocks_.begin(), blocks_.end());
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  for (const std::size_t block : blocks_) ranges_.push_back(postings.block(block));
}

void PostingsPass::supply(std::span<const ByteView> bytes) {
  expect(!ranges_.empty(), Reason::kWrongState, "no postings were asked for");
  expect(bytes.size() == ranges_.size(), Reason::kInvalidArgument,
         "expected the bytes of each range of words that was asked for");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    expect(bytes[i].size() == ranges_[i].length, Reason::kTruncated,
           "the words of the index end before they should");
  if (places_.empty())
    find_postings(bytes);
  else
    read_postings(bytes);
}

void PostingsPass::find_postings(std::span<const ByteView> blocks) {
  std::vector<std::pair<TermId, PostingsView::Place>> places;
  std::vector<PostingsView::Range> ranges;
  for (std::size_t term = 0; term < query_.terms().size(); ++term) {
    const auto block = postings_.block_of(query_.terms()[term]);
    if (!block) continue;
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), *block) - blocks_.begin();
    const auto place =
        postings_.find(*block, blocks[static_cast<std::size_t>(at)], query_.terms()[term]);
    if (!place) continue;
    places.emplace_back(static_cast<TermId>(term), *place);
    ranges.push_back(place->range);
  }
  places_ = std::move(places);
  ranges_ = std::move(ranges);
}

// Puts what was found of each term in the order of chunks: a question may have many terms.
void PostingsPass::read_postings(std::span<const ByteView> bytes) {
  std::vector<std::vector<PostingsView::Posting>> lists;
  std::vector<std::size_t> ends(layout_.chunk_count() + 1);
  std::size_t total = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    lists.push_back(postings_.read(places_[i].second, bytes[i]));
    for (const PostingsView::Posting& posting : lists.back()) ++ends[posting.chunk + 1];
    total += lists.back().size();
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  found_.resize(total);
  for (std::size_t i = 0; i < places_.size(); ++i)
    for (const PostingsView::Posting& posting : lists[i])
      found_[ends[posting.chunk]++] = {places_[i].first, posting.count};
  ends_ = std::move(ends);
  ranges_.clear();
}

ChunkCounts PostingsPass::counts() const {
  ChunkCounts counts(query_);
  for (const ChunkLayout::Document& document : layout_.documents()) {
    if (!scope_.holds(document)) continue;
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      // How rare words are does not depend on what else is required.
      if (!scope_.leaves_out(document, chunk))
        counts.add(chunk, layout_.counted_bytes(document, chunk), terms_of(chunk));
  }
  return counts;
}

WordRanking PostingsPass::rank(std::size_t best, const std::vector<bool>* among) const {
  return ranking_of(counts(), layout_, best, among);
}

std::vector<Held> PostingsPass::held(const RequirementTest& test) const {
  std::vector<Held> held;
  std::vector<TermId> terms;
  for (ChunkNumber chunk = 0; chunk < layout_.chunk_count(); ++chunk) {
    terms.clear();
    for (const ChunkCounts::TermCount& one : terms_of(chunk)) terms.push_back(one.term);
    held.push_back(test.find_terms(terms));
  }
  spread_titles(held, test, layout_);
  return held;
}

std::vector<std::uint64_t> PostingsPass::uncertain(std::size_t best, std::size_t most,
                                                   const std::vector<bool>* among) const {
  std::vector<std::uint64_t> ids;
  if (query_.pairs().empty() || !query_.is_lookup()) return ids;
  for (const ChunkNumber chunk : counts().uncertain(best, most, among))
    if (!counted_.contains(chunk)) ids.push_back(layout_.id_of(chunk));
  return ids;
}

void PostingsPass::take_pairs(std::uint64_t id, TermCounter& counter) {
  if (const std::optional<ChunkNumber> chunk = layout_.number_of(id)) {
    std::vector<ChunkCounts::TermCount> counted;
    append(counted, terms_of(*chunk));
    for (const TermId term : counter.found())
      if (term >= query_.terms().size()) counted.push_back({term, counter.count(term)});
    if (counted_.insert(*chunk, counts_of_.size())) counts_of_.push_back(std::move(counted));
  }
  counter.clear();
}

std::span<const ChunkCounts::TermCount> PostingsPass::terms_of(ChunkNumber chunk) const {
  if (const std::uint64_t* counted = counted_.find(chunk)) return counts_of_[*counted];
  if (found_.empty()) return {};
  const std::size_t first = chunk == 0 ? 0 : ends_[chunk - 1];
  return std::span(found_).subspan(first, ends_[chunk] - first);
}

}  // namespace gossamer
