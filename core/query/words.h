#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/number_map.h"
#include "lexical/bm25.h"
#include "lexical/query.h"
#include "query/requirements.h"
#include "query/scope.h"

namespace gossamer {

// Bytes that a pass reads as one: of the text of a segment, or of the file of a document.
struct WordPiece {
  std::uint32_t segment;  // kVerbatim for a file
  std::uint64_t begin, end;
  std::uint32_t first, last;  // documents, by their places in the order of texts
  ChunkNumber first_chunk;    // of the first document
  ChunkNumber end_chunk;      // behind the last one, of the last document
  std::uint32_t number;       // of the piece
};

// Chunks that hold words of the question, best first.
struct WordRanking {
  std::vector<std::uint64_t> ids;
  std::vector<float> scores;  // of these, by BM25; by their places where the host ranked
  std::vector<std::uint64_t> chunks_with;  // how many hold each term
  std::uint64_t chunks = 0;                // that were counted
  double mean_bytes = 1;                   // of these
};

// One pass over all texts that counts what a question asks for, and ranks chunks by BM25. The texts
// are read by the host, in any order and in any number of threads.
class WordPass {
 public:
  // All outlive the pass. With a test it is also found out what each chunk holds of what is
  // required.
  WordPass(const LexicalQuery& query, const ChunkLayout& layout, const Scope& scope,
           const RequirementTest* test = nullptr);
  ~WordPass();

  // What is to be read; nothing where the question has no words. What may not be found is not read.
  std::span<const WordPiece> pieces() const { return pieces_; }
  // Counts a piece, whose bytes are given as far as they could be read. kWrongState for one that
  // was counted before, kInvalidArgument for what is none or longer.
  void count(const WordPiece& piece, std::string_view bytes);
  bool is_counted() const { return left_ == 0; }
  // By number of chunk; nothing without a test. A title that the text of a document holds counts
  // for all its chunks.
  std::vector<Held> held() const;
  // The best of the chunks that were counted; of those `among` them, if it is given.
  WordRanking rank(std::size_t best, const std::vector<bool>* among = nullptr) const;

  // The file that a piece is of.
  std::string_view path_of(const WordPiece& piece) const;
  // Sources whose files were missing or too short.
  const std::vector<std::size_t>& unreadable_sources() const { return unreadable_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Worker;
  class Lease;

  void cut(std::uint32_t place);
  const WordPiece& begin(std::uint32_t number, std::size_t size);
  bool extend(std::uint32_t place, ChunkNumber chunk, std::uint64_t begin, std::uint64_t end);
  bool count_document(const ChunkLayout::Document& document, const WordPiece& piece,
                      std::string_view bytes, ChunkNumber first, ChunkNumber end, Worker& worker);

  const LexicalQuery& query_;
  const ChunkLayout& layout_;
  const Scope& scope_;
  const RequirementTest* test_;
  std::vector<Held> held_;  // each chunk is written by one thread
  std::vector<WordPiece> pieces_;
  std::uint64_t load_ = 0;      // what the chunks of the last piece have together
  std::vector<bool> is_begun_;  // by piece
  std::atomic<std::size_t> left_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::vector<std::size_t> unreadable_;
};

// Counts the words of a document's chunks, by their numbers; the document is known by its first
// chunk (kUnknownId).
void count_document(const ChunkLayout& layout, std::uint64_t first_id, std::string_view text,
                    PostingsWriter& words);

// The same ranking from postings of every chunk, without reading any text: two rounds of ranges.
class PostingsPass {
 public:
  PostingsPass(const LexicalQuery& query, const PostingsView& postings, const ChunkLayout& layout,
               const Scope& scope);

  // Ranges of the words to supply next, in this order; empty once all are there.
  std::span<const PostingsView::Range> ranges() const { return ranges_; }
  void supply(std::span<const ByteView> bytes);
  // By number of chunk what each may hold of what is required.
  std::vector<Held> held(const RequirementTest& test) const;
  WordRanking rank(std::size_t best, const std::vector<bool>* among = nullptr) const;
  // Postings do not say which words stand side by side. Ids of the chunks whose texts must be
  // counted to know the `best`, at most so many; the ranking goes by what is known.
  std::vector<std::uint64_t> uncertain(std::size_t best, std::size_t most,
                                       const std::vector<bool>* among = nullptr) const;
  // The pairs that a counter of the query has found in the text of a chunk; clears the counter.
  void take_pairs(std::uint64_t id, TermCounter& counter);

 private:
  ChunkCounts counts() const;
  void find_postings(std::span<const ByteView> blocks);
  void read_postings(std::span<const ByteView> bytes);
  std::span<const ChunkCounts::TermCount> terms_of(ChunkNumber chunk) const;

  const LexicalQuery& query_;
  const PostingsView& postings_;
  const ChunkLayout& layout_;
  const Scope& scope_;
  std::vector<PostingsView::Range> ranges_;
  std::vector<std::size_t> blocks_;  // whose bytes are wanted
  std::vector<std::pair<TermId, PostingsView::Place>> places_;
  std::vector<ChunkCounts::TermCount> found_;  // chunk after chunk, by rising terms
  std::vector<std::size_t> ends_;              // of each chunk's
  // Of chunks whose texts were counted, by number: terms and pairs.
  NumberMap counted_;
  std::vector<std::vector<ChunkCounts::TermCount>> counts_of_;
};

}  // namespace gossamer
