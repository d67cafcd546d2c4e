#include "store/verify.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/sort.h"
#include "store/schema.h"

namespace gossamer {
namespace {

using Source = SourceColumns;
using Document = DocumentColumns;
using Chunk = ChunkColumns;
using Heading = HeadingColumns;

// Sums of as many of these as memory can hold stay below 2^63.
constexpr std::int64_t kMostLength = (std::int64_t{1} << 36) - 1;
constexpr std::int64_t kMost = (std::int64_t{1} << 62) - 1;

// The most bytes of what is held in memory as a whole.
struct Bounds {
  std::int64_t document;
  std::int64_t chunk;
  std::int64_t heading;
};
constexpr Bounds kOwn{kMostLength, kMostLength, kMostLength};
// No file is read that is larger, no model takes so much text, no heading of its own is so long.
constexpr Bounds kOthers{1 << 28, 1 << 20, 1 << 16};

[[noreturn]] void refuse(const std::string& why) {
  fail(Reason::kDamaged, "the catalogue has " + why);
}

void check(bool holds, const char* why) {
  if (!holds) refuse(why);
}

void check_within(std::int64_t value, std::int64_t least, std::int64_t most, const char* what) {
  if (value < least || value > most)
    refuse(std::to_string(value) + " as " + what + ", where " + std::to_string(least) + " to " +
           std::to_string(most) + " can be");
}

void check_within(const Table& table, std::size_t column, std::int64_t least, std::int64_t most,
                  const char* what) {
  for (const std::int64_t value : table.columns[column]) check_within(value, least, most, what);
}

void verify_ids(const Table& documents) {
  std::vector<SortKey> ids;  // first and end
  for (std::size_t row = 0; row < documents.size(); ++row) {
    const std::int64_t first = documents.columns[Document::kFirstChunk][row];
    ids.emplace_back(first, first + documents.columns[Document::kChunks][row]);
  }
  sort_values(ids.begin(), ids.end());
  for (std::size_t i = 1; i < ids.size(); ++i)
    check(ids[i - 1].second <= ids[i].first, "two chunks with the same id");
}

void verify_titles(const Table& documents, const Ints& lengths) {
  for (std::size_t row = 0; row < documents.size(); ++row) {
    const std::int64_t length = documents.columns[Document::kTitleLength][row];
    check(length == 0 || documents.columns[Document::kTitleStart][row] + length <= lengths[row],
          "a title that lies beyond its document");
  }
}

void verify_places(const Table& documents, const Ints& lengths) {
  const Ints starts = documents.starts(Document::kPlace);
  const Ints& gaps = documents.children[Document::kPlace].columns[PlaceColumns::kGap];
  for (std::size_t row = 0; row < documents.size(); ++row) {
    std::int64_t at = 0;
    for (std::int64_t i = starts[row]; i < starts[row + 1]; ++i) {
      at += gaps[static_cast<std::size_t>(i)];
      check(at <= lengths[row], "a place that lies beyond its document");
    }
  }
}

// The chunks of one document, and the headings that they stand under.
class ChunkCheck {
 public:
  ChunkCheck(const Table& documents, const Ints& lengths, std::int64_t most_headings)
      : documents_(documents),
        chunks_(documents.children[Document::kChunk]),
        lengths_(lengths),
        most_headings_(most_headings) {}

  void run() {
    const Ints firsts = documents_.starts(Document::kChunk);
    for (std::size_t row = 0; row < documents_.size(); ++row) {
      std::int64_t end = 0, depth = 0;
      for (std::int64_t i = firsts[row]; i < firsts[row + 1]; ++i) {
        const auto chunk = static_cast<std::size_t>(i);
        const std::int64_t start = end + chunks_.columns[Chunk::kGap][chunk];
        end = start + chunks_.columns[Chunk::kLength][chunk];
        check(start >= 0 && end <= lengths_[row], "a chunk that lies beyond its document");
        const std::int64_t shared = chunks_.columns[Chunk::kShared][chunk];
        check(shared <= depth, "a chunk that shares headings which the one before has not");
        depth = shared + chunks_.columns[Chunk::kHeadings][chunk];
        check(depth <= kMostHeadings, "a chunk under more headings than can be");
        together_.resize(static_cast<std::size_t>(shared));
        check_headings(chunk, start, lengths_[row]);
      }
    }
  }

 private:
  void check_headings(std::size_t chunk, std::int64_t start, std::int64_t length) {
    const Table& headings = chunks_.children[Chunk::kHeading];
    for (std::int64_t i = 0; i < chunks_.columns[Chunk::kHeadings][chunk]; ++i, ++heading_) {
      const std::int64_t end = start - headings.columns[Heading::kBefore][heading_];
      check(end >= headings.columns[Heading::kLength][heading_] && end <= length,
            "a heading that lies beyond its document");
      const std::int64_t before = together_.empty() ? 0 : together_.back();
      together_.push_back(before + headings.columns[Heading::kLength][heading_]);
      check(together_.back() <= most_headings_, "a chunk under longer headings than can be");
    }
  }

  const Table& documents_;
  const Table& chunks_;
  const Ints& lengths_;
  std::int64_t most_headings_;  // bytes that those of a chunk have together
  Ints together_;               // of the chunk under way, with each one more
  std::size_t heading_ = 0;
};

bool leads_out(std::string_view name) {
#ifdef _WIN32
  constexpr std::string_view kSeparators = "/\\";
#else
  constexpr std::string_view kSeparators = "/";
#endif
  if (name.find('\0') != std::string_view::npos) return true;
  if (!name.empty() && kSeparators.find(name[0]) != std::string_view::npos) return true;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of(kSeparators, at), name.size());
    if (name.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

// The beginning of a name of anything, fit for a message.
std::string shown(std::string_view name) {
  std::string text(name.substr(0, 100));
  for (char& letter : text)
    if (letter < ' ' || letter > '~') letter = '?';
  return text;
}

// Names of files lead nowhere but below their root; ids of texts may be anything.
void verify_names(const Table& sources) {
  const Ints starts = sources.starts(Source::kName);
  const Bytes& content = sources.children[Source::kName].content;
  for (std::size_t row = 0; row < sources.size(); ++row) {
    if (sources.columns[Source::kRoot][row] == 0) continue;
    const std::string_view name(reinterpret_cast<const char*>(content.data()) + starts[row],
                                static_cast<std::size_t>(starts[row + 1] - starts[row]));
    if (leads_out(name)) refuse("a file called '" + shown(name) + "', which is no path");
  }
}

void verify_columns(const Table& sources, std::int64_t last_string, const Bounds& bounds) {
  const Table& documents = sources.children[Source::kDocument];
  const Table& places = documents.children[Document::kPlace];
  const Table& chunks = documents.children[Document::kChunk];
  const Table& headings = chunks.children[Chunk::kHeading];
  check_within(sources, Source::kRoot, 0, last_string, "root of a source");
  check_within(sources, Source::kKind, 0, last_string, "kind of a source");
  check_within(sources, Source::kReason, 0, last_string, "reason of a source");
  check_within(sources, Source::kStatus, 0, kMostStatus, "status of a source");
  check_within(sources, Source::kSize, 0, kMost, "size of a source");
  check_within(documents, Document::kKind, 0, last_string, "kind of a document");
  check_within(documents, Document::kUnit, 0, last_string, "unit of a document");
  check_within(documents, Document::kChunks, 1, kMostLength, "number of chunks of a document");
  check_within(documents, Document::kFirstChunk, 0, kMost, "id of a chunk");
  check_within(documents, Document::kSegment, 0, kAway, "segment of a document");
  check_within(documents, Document::kOffset, 0, kMost, "offset of a document");
  check_within(documents, Document::kLength, 0, kMostLength, "length of a document");
  check_within(documents, Document::kTitleStart, 0, kMostLength, "start of a title");
  check_within(documents, Document::kTitleLength, 0, bounds.chunk, "length of a title");
  check_within(places, PlaceColumns::kGap, 0, kMostLength, "gap between places");
  check_within(places, PlaceColumns::kNumber, 0, kMost, "number of a place");
  check_within(chunks, Chunk::kGap, -kMostLength, kMostLength, "gap between chunks");
  check_within(chunks, Chunk::kLength, 1, bounds.chunk, "length of a chunk");
  check_within(chunks, Chunk::kShared, 0, kMostHeadings, "number of shared headings");
  check_within(chunks, Chunk::kHeadings, 0, kMostHeadings, "number of headings");
  check_within(headings, Heading::kBefore, -kMostLength, kMostLength, "distance of a heading");
  check_within(headings, Heading::kLength, 0, bounds.heading, "length of a heading");
}

}  // namespace

void verify_sources(const Table& sources, std::size_t string_count, Origin origin) {
  const Bounds& bounds = origin == Origin::kOwn ? kOwn : kOthers;
  const Table& documents = sources.children[Source::kDocument];
  verify_columns(sources, static_cast<std::int64_t>(string_count) - 1, bounds);
  const Ints lengths = text_lengths(sources);
  for (const std::int64_t length : lengths)
    check_within(length, 0, bounds.document, "length of a document");
  verify_ids(documents);
  verify_titles(documents, lengths);
  verify_places(documents, lengths);
  ChunkCheck(documents, lengths, bounds.chunk).run();
  verify_names(sources);
}

Ints text_lengths(const Table& sources) {
  const Table& documents = sources.children[Source::kDocument];
  Ints lengths;
  for (std::size_t row = 0; row < sources.size(); ++row)
    for (std::int64_t i = 0; i < sources.columns[Source::kDocuments][row]; ++i) {
      const std::size_t document = lengths.size();
      const bool is_file = documents.columns[Document::kSegment][document] == kVerbatim;
      lengths.push_back(is_file ? sources.columns[Source::kSize][row]
                                : documents.columns[Document::kLength][document]);
    }
  return lengths;
}

}  // namespace gossamer
