#pragma once

#include <cstddef>

#include "store/table.h"

namespace gossamer {

// The tables of a catalogue: docs/format.md, catalogue. Columns are known by number; the counts of
// children stand behind the others.

// Sources: files, and texts that programs gave.
struct SourceColumns {
  enum : std::size_t {
    kRoot,  // a string; 0 for a text
    kKind,
    kStatus,
    kReason,
    kReaderVersion,
    kSize,
    kTime,
    kHash,
    kNames,      // bytes of the name
    kDocuments,  // how many
  };
  enum Children : std::size_t { kName, kDocument };
};

struct DocumentColumns {
  enum : std::size_t {
    kKind,
    kUnit,
    kLength,  // of the text; 0 where it is the file itself
    kSegment,
    kOffset,
    kTitleStart,
    kTitleLength,
    kFirstChunk,
    kKeys,
    kTitles,
    kMetadatas,
    kPlaces,
    kChunks,
  };
  enum Children : std::size_t { kKey, kTitle, kMetadata, kPlace, kChunk };
};

struct PlaceColumns {
  enum : std::size_t { kGap, kNumber };
};

struct ChunkColumns {
  enum : std::size_t {
    kGap,  // from the end of the chunk before
    kLength,
    kShared,  // headings that it has in common with the chunk before
    kCheck,
    kHeadings,
  };
  enum Children : std::size_t { kHeading };
};

struct HeadingColumns {
  enum : std::size_t { kBefore, kLength };
};

// Where the text of a document is, in place of the number of a segment.
inline constexpr std::int64_t kVerbatim = 0;                  // it is the file itself
inline constexpr std::int64_t kHere = 1;                      // among the texts of the segment
inline constexpr std::int64_t kAway = std::int64_t{1} << 31;  // the server has it
inline constexpr std::int64_t kMostStatus = 2;                // indexed, skipped, failed
inline constexpr std::int64_t kMostHeadings = 255;            // that a chunk stands under

const Schema& strings_schema();
const Schema& sources_schema();

}  // namespace gossamer
