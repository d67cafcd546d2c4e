#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gossamer {

// The twin of docs/format.md.
inline constexpr std::array<char, 8> kMagic = {'G', 'O', 'S', 'S', 'A', 'M', 'E', 'R'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kEntryBytes = 32;
// Sections start at multiples of this, so that rows can be read in place.
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kMaxSections = 64;

enum class SectionKind : std::uint32_t {
  kMeta = 1,         // what the index is: dimension, metric, counts, parameters
  kCodebook = 2,     // absent where the codebook is shared
  kCodes = 3,        // one code a node
  kVectors = 4,      // kept rows
  kHotNodes = 5,     // the node of each kept row, in hot mode
  kGraph = 6,        // the graph that is searched
  kSourceGraph = 7,  // the unpruned graph that a slim graph follows
  kIds = 8,          // the id of each node; absent where ids are 0, 1, 2, ...
  kDeleted = 9,      // nodes that are deleted
  kCalibration = 10,
  kStrings = 48,  // of a segment: store/segment.h
  kDirectory = 49,
  kGroups = 50,
  kDictionaries = 51,  // of texts: store/blocks.h
  kBlockDirectory = 52,
  kBlocks = 53,
  kGone = 54,       // of older segments: store/gone.h
  kCodeStamp = 55,  // what made the codes: store/segment_file.h
};

// Kinds of sections that belong to the product around the engine (its catalogue, its texts, a
// model): the engine checks where they lie and passes over them.
inline constexpr std::uint32_t kFirstProductKind = 32;
inline constexpr std::uint32_t kLastProductKind = 63;

}  // namespace gossamer
