#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "storage/format.h"

namespace gossamer {

// The sections of a file. Parsing reads the header and the table of sections only; a section's
// checksum is compared when verify() is called for it.
class Container {
 public:
  // Expects the whole file. Refuses with kNotGossamer, kUnknownVersion, kTruncated or kDamaged.
  static Container parse(ByteView file);
  // The same where only the start of a file of so many bytes is at hand: header and table, more
  // does no harm. Its sections count as absent until they are attached.
  static Container parse_head(ByteView head, std::uint64_t file_size);

  // Gives a section its bytes, which must outlive the container. Fails with kInvalidArgument if
  // the table lists no such section, with kTruncated or kDamaged if it has another length.
  void attach(SectionKind kind, ByteView bytes);

  // Whether the table lists a section, attached or not, and how long it is (0 if it does not).
  bool lists(SectionKind kind) const { return find(kind) != nullptr; }
  std::uint64_t length_of(SectionKind kind) const;
  // Whether the bytes of a section are at hand.
  bool has(SectionKind kind) const;
  // The bytes of a section, empty if there is none. Not verified.
  ByteView bytes(SectionKind kind) const;
  // The same after comparing its checksum (kDamaged).
  ByteView verified(SectionKind kind) const;
  // A section that must be there (kDamaged), verified.
  ByteView required(SectionKind kind) const;
  // Compares the checksum of every section that is at hand.
  void verify_all() const;

  struct Entry {
    SectionKind kind;
    std::uint32_t checksum;
    std::uint64_t offset;  // in the file
    std::uint64_t length;
    bool is_attached;
    ByteView bytes;  // empty unless it is attached
  };
  // What the table says, in the order of the file.
  std::span<const Entry> entries() const { return entries_; }

 private:
  static Entry parse_entry(ByteReader& in, std::uint64_t file_size);
  const Entry* find(SectionKind kind) const;
  static void verify(const Entry& entry);

  std::vector<Entry> entries_;
};

// A file to be written: its parts, in order, without gaps.
class FileImage {
 public:
  void add(SectionKind kind, Bytes bytes);
  // Bytes that are not copied: `owner` keeps them as they are, or they outlive the image.
  void add_view(SectionKind kind, ByteView bytes, std::shared_ptr<const void> owner = nullptr);
  // The same of bytes that lie in pieces.
  void add_pieces(SectionKind kind, std::vector<ByteView> pieces,
                  std::shared_ptr<const void> owner);
  // The parts of the file, of at least so many bytes; call once, after the last section.
  std::vector<ByteView> finish(std::size_t least = 0);

 private:
  std::deque<Bytes> owned_;  // a deque: views into its elements stay valid
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<std::pair<SectionKind, std::vector<ByteView>>> sections_;
};

// Names a section in messages.
const char* name_of(SectionKind kind);

}  // namespace gossamer
