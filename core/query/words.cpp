#include "query/words.h"

#include <algorithm>

#include "store/schema.h"

namespace gossamer {
namespace {

// Texts are read in pieces of about this size, so that large ones are shared between threads.
constexpr std::uint64_t kPieceBytes = 1 << 20;
// Beyond such a gap the next chunk is read on its own.
constexpr std::uint64_t kGapBytes = 1 << 16;
// No chunk is as long as this; spans of a damaged index may be.
constexpr std::uint64_t kLongestPiece = 1 << 26;

WordRanking ranking_of(const ChunkCounts& counts, const ChunkLayout& layout, std::size_t best) {
  WordRanking ranking;
  for (const ScoredChunk& chunk : counts.top(best))
    ranking.ids.push_back(layout.id_of(chunk.chunk));
  ranking.chunks_with.assign(counts.chunks_with().begin(), counts.chunks_with().end());
  return ranking;
}

}  // namespace

// One thread's part of a pass.
struct WordPass::Worker {
  explicit Worker(const LexicalQuery& query) : counter(query), counts(query.terms().size()) {}

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

WordPass::WordPass(const LexicalQuery& query, const ChunkLayout& layout, const Scope& scope)
    : query_(query), layout_(layout), scope_(scope) {
  if (query.terms().empty()) return;
  for (std::uint32_t place = 0; place < layout.text_order().size(); ++place)
    if (scope.holds(layout.documents()[layout.text_order()[place]])) cut(place);
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
    pieces_.push_back({document.segment, offset + begin,
                       offset + std::min(end, begin + kLongestPiece), place, place, chunk,
                       chunk + 1});
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
  if (begin > piece.end + kGapBytes || last - first > kPieceBytes) return false;
  piece.begin = first;
  piece.end = last;
  piece.last = place;
  piece.end_chunk = chunk + 1;
  return true;
}

void WordPass::count(const WordPiece& piece, std::string_view bytes) {
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
    std::uint64_t length = 0;
    bool is_there = true;
    for (const TextSpan span : {layout_.title_near(document, chunk), layout_.span(chunk)}) {
      if (span.empty()) continue;
      const std::uint64_t start = offset + span.start - piece.begin;
      const std::size_t size = span.end - span.start;
      is_there = is_there && start <= bytes.size() && size <= bytes.size() - start;
      if (!is_there) break;
      worker.counter.add(bytes.substr(static_cast<std::size_t>(start), size));
      length += size;
    }
    if (is_there)
      worker.counts.add(chunk, length, worker.counter);
    else
      worker.counter.clear();
    is_whole = is_whole && is_there;
  }
  return is_whole;
}

WordRanking WordPass::rank(std::size_t best) const {
  ChunkCounts all(query_.terms().size());
  for (const auto& worker : workers_) all.add(worker->counts);
  return ranking_of(all, layout_, best);
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
    : query_(query),
      postings_(postings),
      layout_(layout),
      scope_(scope),
      found_(query.terms().size()) {
  if (postings.chunks() != layout.chunk_count())
    fail(Reason::kDamaged, "the index has " + std::to_string(layout.chunk_count()) +
                               " chunks, its words are of " + std::to_string(postings.chunks()) +
                               "; export it again");
  for (const std::string& term : query.terms())
    if (const auto block = postings.block_of(term)) blocks_.push_back(*block);
  std::sort(blocks_.begin(), blocks_.end());
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  for (const std::size_t block : blocks_) ranges_.push_back(postings.block(block));
}

void PostingsPass::supply(std::span<const ByteView> bytes) {
  expect(bytes.size() == ranges_.size(), Reason::kInvalidArgument,
         "expected the bytes of each range of words that was asked for");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    expect(bytes[i].size() == ranges_[i].length, Reason::kTruncated,
           "the words of the index end before they should");
  ranges_.clear();
  if (places_.empty())
    find_postings(bytes);
  else
    read_postings(bytes);
}

void PostingsPass::find_postings(std::span<const ByteView> blocks) {
  for (std::size_t term = 0; term < query_.terms().size(); ++term) {
    const auto block = postings_.block_of(query_.terms()[term]);
    if (!block) continue;
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), *block) - blocks_.begin();
    const auto place =
        postings_.find(*block, blocks[static_cast<std::size_t>(at)], query_.terms()[term]);
    if (!place) continue;
    places_.emplace_back(static_cast<TermId>(term), *place);
    ranges_.push_back(place->range);
  }
}

void PostingsPass::read_postings(std::span<const ByteView> bytes) {
  for (std::size_t i = 0; i < places_.size(); ++i)
    found_[places_[i].first] = postings_.read(places_[i].second, bytes[i]);
}

WordRanking PostingsPass::rank(std::size_t best) const {
  ChunkCounts counts(query_.terms().size());
  std::vector<std::size_t> next(found_.size(), 0);
  std::vector<ChunkCounts::TermCount> terms;
  std::uint64_t chunks = 0, bytes = 0;
  for (const ChunkLayout::Document& document : layout_.documents()) {
    if (!scope_.holds(document)) continue;
    for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk) {
      const std::uint64_t length = layout_.counted_bytes(document, chunk);
      terms.clear();
      for (std::size_t term = 0; term < found_.size(); ++term) {
        std::size_t& at = next[term];
        while (at < found_[term].size() && found_[term][at].chunk < chunk) ++at;
        if (at < found_[term].size() && found_[term][at].chunk == chunk)
          terms.push_back({static_cast<TermId>(term), found_[term][at].count});
      }
      if (!terms.empty()) {
        counts.add(chunk, length, terms);
      } else {
        ++chunks;
        bytes += length;
      }
    }
  }
  counts.add_others(chunks, bytes);
  return ranking_of(counts, layout_, best);
}

}  // namespace gossamer
