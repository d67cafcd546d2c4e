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

  bool has(SectionKind kind) const { return find(kind) != nullptr; }
  // The bytes of a section, empty if there is none. Not verified.
  ByteView bytes(SectionKind kind) const;
  // The same after comparing its checksum (kDamaged).
  ByteView verified(SectionKind kind) const;
  // A section that must be there (kDamaged), verified.
  ByteView required(SectionKind kind) const;
  // Compares every checksum.
  void verify_all() const;

  struct Entry {
    SectionKind kind;
    std::uint32_t checksum;
    ByteView bytes;
  };
  // What the table says, in the order of the file.
  std::span<const Entry> entries() const { return entries_; }

 private:
  static Entry parse_entry(ByteReader& in, ByteView file);
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
  // The parts of the file; call once, after the last section.
  std::vector<ByteView> finish();

 private:
  std::deque<Bytes> owned_;  // a deque: views into its elements stay valid
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<std::pair<SectionKind, ByteView>> sections_;
};

// Names a section in messages.
const char* name_of(SectionKind kind);

}  // namespace gossamer
