#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "lexical/words.h"

namespace gossamer {

// The words of all chunks as postings: which chunks hold a term, and how often; docs/format.md,
// words. A reader fetches the heads, the blocks that may hold the terms of a question, and their
// postings: a few kilobytes of many megabytes.

// Takes the texts of chunks in, in any order and in pieces, and gives their words as bytes. Holds
// twelve bytes for each word of each piece meanwhile.
class PostingsWriter {
 public:
  // Counts the words of a chunk, or of a part of it.
  void add(std::uint32_t chunk, std::string_view text);
  // The words of so many chunks. `numbers` say what each is called from now on, unless there are
  // none; kInvalidArgument for one that is not below their number.
  Bytes finish(std::uint32_t chunks, std::span<const std::uint32_t> numbers) const;

 private:
  struct Entry {
    std::uint32_t term;
    std::uint32_t chunk;
    std::uint32_t count;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  std::unordered_map<std::string, std::uint32_t> terms_;
  std::vector<Entry> entries_;
};

// Where postings lie in a section of so many bytes, of which the first are at hand. Bytes may be a
// stranger's.
class PostingsView {
 public:
  static constexpr std::size_t kHeaderBytes = 40;
  // How many bytes must be at hand, by the first 40 of them; kNotGossamer, kUnknownVersion,
  // kTruncated or kDamaged if these are something else.
  static std::size_t head_bytes(ByteView start, std::uint64_t size);

  PostingsView(ByteView head, std::uint64_t size);

  std::uint32_t chunks() const { return chunks_; }
  // What questions to these terms are.
  Side side() const { return side_; }

  struct Range {
    std::uint64_t at;
    std::uint64_t length;
  };
  // The block that holds a term if any does.
  std::optional<std::size_t> block_of(std::string_view term) const;
  Range block(std::size_t number) const;

  // The postings of a term.
  struct Place {
    Range range;
    std::uint64_t chunks;
    std::uint32_t checksum;
  };
  // Nothing if the block, whose bytes these are, does not hold it.
  std::optional<Place> find(std::size_t block, ByteView bytes, std::string_view term) const;

  struct Posting {
    std::uint32_t chunk;
    std::uint32_t count;
  };
  // By rising chunks.
  std::vector<Posting> read(const Place& place, ByteView bytes) const;

 private:
  struct Head {
    std::uint64_t at;  // from the first block on
    std::uint32_t checksum;
    std::uint64_t postings_at;  // of its first term, from the first postings on
    std::string first;
  };
  std::size_t terms_in(std::size_t block) const;

  Side side_;
  std::uint32_t chunks_ = 0;
  std::uint32_t terms_ = 0;
  std::uint64_t blocks_at_ = 0;
  std::uint64_t postings_at_ = 0;
  std::uint64_t size_ = 0;
  std::vector<Head> heads_;
};

}  // namespace gossamer
