#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "links/headings.h"
#include "query/collection.h"

namespace gossamer {

// A chunk with its text: what it says, and what was embedded.
struct Passage {
  ChunkFacts chunk;
  std::string title, body, embedded;
  std::int64_t first = 0, last = 0;         // lines (or pages, ...); 0 where nobody counted them
  std::vector<HeadingAbove> headings = {};  // that it begins under

  // The line (or page, ...) in which a byte of the body stands.
  std::int64_t number_at(std::size_t byte) const;
};

// Spans of the text of one document that are to be read.
struct TextNeed {
  std::shared_ptr<const DocumentFacts> document;
  std::vector<TextSpan> spans;
};

// What a server says of a chunk whose text it keeps.
struct AwayText {
  std::uint64_t id;
  std::string title, body, embedded;
  std::int64_t first, last;
};

// Reads chunks, never a wrong text: what stands where a chunk should is compared with the chunk's
// check, and a source whose text is something else is stale. The host reads; spans that are not
// there come as nothing.
class PassageReader {
 public:
  explicit PassageReader(const Collection& collection) : collection_(collection) {}

  const Collection& collection() const { return collection_; }

  // Begins to read chunks that were not read before; with_places: lines are counted too, for which
  // the text before a chunk is read.
  void begin(std::span<const std::uint64_t> ids, bool with_places);

  // What is to be supplied next, if anything: texts that are here, and chunks that a server has.
  std::span<const TextNeed> texts() const { return texts_; }
  const std::vector<std::uint64_t>& away() const { return away_; }
  bool is_over() const { return texts_.empty() && away_.empty(); }
  // Gives these up: they count as not read.
  std::vector<std::uint64_t> take_away() { return std::exchange(away_, {}); }
  // All spans of texts(), in their order.
  void supply_texts(std::span<const std::optional<ByteView>> spans);
  // One for each of away(); nothing for a chunk that the server has not got. `is_answered`: whether
  // there is a server, and it said so.
  void supply_away(std::span<const std::optional<AwayText>> chunks, bool is_answered);

  // Null while a chunk was not read, and for one whose text is not what was indexed.
  const Passage* find(std::uint64_t id) const;
  // Whether a server has the text of a chunk, and did not answer.
  bool is_out_of_reach(std::uint64_t id) const { return unreachable_.contains(id); }
  // What is known of such a chunk: it has no text.
  const Passage& without_text(std::uint64_t id) const { return unreachable_.find(id)->second; }
  // Sources whose text was found to be something else.
  std::set<std::size_t>& stale() { return stale_; }
  const std::set<std::size_t>& stale() const { return stale_; }

 private:
  // A document that is being read.
  struct Reading {
    std::shared_ptr<const DocumentFacts> document;
    std::vector<ChunkFacts> chunks;  // whose text is wanted
    std::vector<ChunkFacts> places;  // whose lines are to be counted, by rising starts
    std::size_t placed = 0;          // how many of these are done
    std::size_t counted = 0;         // up to where in the text lines were counted
    std::int64_t lines = 0;          // before that
  };
  class Spans;

  void ask();
  void take(Reading& reading, Spans& spans);
  bool take_chunk(const ChunkFacts& chunk, const std::string* title, Spans& spans);
  void take_lines(Reading& reading, Spans& spans);
  // Goes on to chunks that begin where lines were counted up to.
  void place(Reading& reading);
  void keep(Passage passage);

  const Collection& collection_;
  std::map<std::size_t, std::shared_ptr<const DocumentFacts>> documents_;  // that were asked for
  std::map<std::uint64_t, Passage> passages_;
  std::map<std::uint64_t, Passage> unreachable_;
  std::set<std::size_t> stale_;
  std::vector<Reading> readings_;
  std::vector<TextNeed> texts_;  // one for each reading
  std::vector<std::uint64_t> away_;
};

// Up to so many bytes of text before and behind a passage: two spans.
TextNeed text_around(const Passage& passage, std::size_t margin);

}  // namespace gossamer
