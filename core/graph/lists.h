#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/types.h"

namespace gossamer {

// The most neighbors one list holds, and the most bytes it takes encoded.
inline constexpr std::size_t kMaxListLength = 256;
inline constexpr std::size_t kMaxListBytes = kMaxListLength * 5;

// Encodes a sorted list without duplicates: the first id by its distance from `self`, then the
// gaps. `out` needs kMaxListBytes; gives the number of bytes written.
std::size_t encode_list(NodeId self, std::span<const NodeId> sorted, std::uint8_t* out);

// Byte strings of at most kMaxListBytes, numbered from 0, any of which can be replaced. Thirty-two
// of them share a page, whose room is found by one directory entry; a string costs one length byte
// beside its bytes. A page that outgrows its room moves, and rooms left behind are used again.
// Reading from several threads is safe while nobody writes.
class PagedLists {
 public:
  // Fills a string of kMaxListBytes room and gives its length.
  using Fill = std::function<std::size_t(std::size_t index, std::uint8_t* out)>;

  PagedLists() = default;
  // `count` strings, asked for in order and packed without slack.
  PagedLists(std::size_t count, const Fill& fill);

  std::size_t size() const { return size_; }
  // Appends an empty string.
  void append();
  // Replaces a string; only its own page is written.
  void assign(std::size_t index, ByteView bytes);
  ByteView get(std::size_t index) const;
  // Decodes what encode_list() wrote; `out` needs room for kMaxListLength. Gives the number.
  std::size_t decode(std::size_t index, NodeId self, NodeId* out) const;
  // How many neighbors a list written by encode_list() has.
  std::size_t length(std::size_t index) const;
  void prefetch(std::size_t index) const;
  // Packs all pages anew, without slack and without rooms left behind.
  void compact();
  // The same once slack is worth it: for the end of an update, when nothing grows soon.
  void settle();
  std::size_t memory_bytes() const;

 private:
  // The end of one page's strings is not stored: their lengths add up to it.
  struct Page {
    std::uint32_t offset = 0;      // in units, over all chunks
    std::uint16_t room = 0;        // in units
    std::uint16_t long_count = 0;  // strings whose length does not fit the length byte
  };

  struct Room {
    std::uint32_t offset;
    std::uint16_t units;
  };

  static constexpr std::size_t kPageSize = 32;
  static constexpr std::size_t kUnit = 8;
  static constexpr std::size_t kChunkUnits = std::size_t{1} << 15;
  static constexpr std::size_t kMaxChunks = (std::uint64_t{1} << 32) / kChunkUnits;
  static constexpr std::size_t kPadding = 8;  // decoding reads whole words
  static constexpr std::uint8_t kLong = 255;  // the string starts with its length in two bytes

  const std::uint8_t* room_of(std::size_t page) const;
  std::uint8_t* room_of(std::size_t page);
  // The bytes of a page's first `count` strings.
  std::size_t bytes_before(std::size_t page, std::size_t count) const;
  std::size_t stored_bytes(std::size_t index, const std::uint8_t* from) const;
  std::uint8_t* write_length(std::size_t index, std::size_t size, std::uint8_t* start);
  void fill_page(std::size_t page, const Fill& fill, Bytes& scratch);
  void move_page(std::size_t page, std::size_t used, std::size_t wanted);
  Room allocate(std::size_t units);
  std::size_t arena_bytes() const;
  // Packs if more than one byte in `share` of what is used lies idle.
  void compact_beyond(std::size_t share, std::size_t least);

  std::vector<std::uint8_t> lengths_;  // whole pages
  std::vector<Page> pages_;
  std::vector<Bytes> chunks_;  // each full but the last, each with its padding
  std::map<std::uint16_t, std::vector<std::uint32_t>> free_;  // rooms left behind, by units
  std::size_t size_ = 0;
  std::size_t used_bytes_ = 0;
};

}  // namespace gossamer
