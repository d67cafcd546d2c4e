#include "storage/container.h"

#include <algorithm>
#include <string>

#include "base/crc32c.h"
#include "base/error.h"

namespace gossamer {

namespace {

constexpr std::size_t kChecksumOffset = 28;  // of the header's own checksum

std::size_t align(std::size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// Says why bytes without our magic are refused.
void check_magic(ByteView file) {
  const std::size_t common = std::min(file.size(), kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(common),
                  file.begin(), [](char a, std::uint8_t b) { return a == static_cast<char>(b); })) {
    fail(Reason::kNotGossamer, "this is not a Gossamer index: it does not start with GOSSAMER");
  }
  if (file.size() < kHeaderBytes) {
    fail(Reason::kTruncated, "the file has " + std::to_string(file.size()) +
                                 " bytes, fewer than a header; copy or build it again");
  }
}

}  // namespace

const char* name_of(SectionKind kind) {
  switch (kind) {
    case SectionKind::kMeta:
      return "meta";
    case SectionKind::kCodebook:
      return "codebook";
    case SectionKind::kCodes:
      return "codes";
    case SectionKind::kVectors:
      return "vectors";
    case SectionKind::kHotNodes:
      return "hot nodes";
    case SectionKind::kGraph:
      return "graph";
    case SectionKind::kSourceGraph:
      return "source graph";
    case SectionKind::kIds:
      return "ids";
    case SectionKind::kDeleted:
      return "deleted";
    case SectionKind::kCalibration:
      return "calibration";
    case SectionKind::kStrings:
      return "strings";
    case SectionKind::kDirectory:
      return "directory";
    case SectionKind::kGroups:
      return "groups";
    case SectionKind::kDictionaries:
      return "dictionaries";
    case SectionKind::kBlockDirectory:
      return "directory of blocks";
    case SectionKind::kCodeStamp:
      return "code stamp";
    case SectionKind::kGone:
      return "gone";
    case SectionKind::kBlocks:
      return "blocks";
  }
  return "of the product";
}

Container Container::parse(ByteView file) {
  Container container = parse_head(file, file.size());
  for (Entry& entry : container.entries_) {
    entry.bytes = file.subspan(static_cast<std::size_t>(entry.offset),
                               static_cast<std::size_t>(entry.length));
    entry.is_attached = true;
  }
  return container;
}

Container Container::parse_head(ByteView head, std::uint64_t file_size) {
  check_magic(head);
  ByteReader in(head.subspan(kMagic.size()), "header");
  const auto version = in.get<std::uint32_t>();
  const auto section_count = in.get<std::uint32_t>();
  const auto file_bytes = in.get<std::uint64_t>();
  const auto table_checksum = in.get<std::uint32_t>();
  const auto header_checksum = in.get<std::uint32_t>();
  if (version != kFormatVersion) {
    fail(Reason::kUnknownVersion, "the file has format version " + std::to_string(version) +
                                      ", this release reads version " +
                                      std::to_string(kFormatVersion) + "; upgrade, or build again");
  }
  expect(crc32c(head.first(kChecksumOffset)) == header_checksum, Reason::kDamaged,
         "the header does not match its checksum: the file is damaged; copy or build it again");
  if (file_bytes != file_size) {
    fail(file_bytes > file_size ? Reason::kTruncated : Reason::kDamaged,
         "the file should have " + std::to_string(file_bytes) + " bytes and has " +
             std::to_string(file_size) + "; copy or build it again");
  }
  expect(section_count <= kMaxSections && kHeaderBytes + section_count * kEntryBytes <= file_size,
         Reason::kDamaged, "the table of sections does not fit the file");
  expect(kHeaderBytes + section_count * kEntryBytes <= head.size(), Reason::kTruncated,
         "the start of the file ends before its table of sections does");
  const ByteView table = head.subspan(kHeaderBytes, section_count * kEntryBytes);
  expect(crc32c(table) == table_checksum, Reason::kDamaged,
         "the table of sections does not match its checksum; copy or build the file again");
  Container container;
  ByteReader entries(table, "table of sections");
  for (std::uint32_t i = 0; i < section_count; ++i) {
    const Entry entry = parse_entry(entries, file_size);
    expect(!container.lists(entry.kind), Reason::kDamaged, "a section appears twice");
    container.entries_.push_back(entry);
  }
  return container;
}

Container::Entry Container::parse_entry(ByteReader& in, std::uint64_t file_size) {
  const auto kind = in.get<std::uint32_t>();
  const auto checksum = in.get<std::uint32_t>();
  const auto offset = in.get<std::uint64_t>();
  const auto length = in.get<std::uint64_t>();
  in.get<std::uint64_t>();  // reserved
  const bool is_ours = kind >= static_cast<std::uint32_t>(SectionKind::kMeta) &&
                       kind <= static_cast<std::uint32_t>(SectionKind::kCalibration);
  if (!is_ours && (kind < kFirstProductKind || kind > kLastProductKind)) {
    fail(Reason::kUnknownVersion,
         "section kind " + std::to_string(kind) + " is unknown to this release; upgrade");
  }
  expect(offset % kAlignment == 0 && offset <= file_size && length <= file_size - offset,
         Reason::kDamaged, "a section lies outside the file");
  return {static_cast<SectionKind>(kind), checksum, offset, length, false, {}};
}

void Container::attach(SectionKind kind, ByteView bytes) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& listed) { return listed.kind == kind; });
  if (entry == entries_.end()) {
    fail(Reason::kInvalidArgument,
         std::string("the file has no section '") + name_of(kind) + "' to attach bytes to");
  }
  if (bytes.size() != entry->length) {
    fail(bytes.size() < entry->length ? Reason::kTruncated : Reason::kDamaged,
         std::string("the section '") + name_of(kind) + "' should have " +
             std::to_string(entry->length) + " bytes and has " + std::to_string(bytes.size()) +
             "; copy or build the file again");
  }
  entry->bytes = bytes;
  entry->is_attached = true;
}

const Container::Entry* Container::find(SectionKind kind) const {
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

std::uint64_t Container::length_of(SectionKind kind) const {
  const Entry* entry = find(kind);
  return entry == nullptr ? 0 : entry->length;
}

bool Container::has(SectionKind kind) const {
  const Entry* entry = find(kind);
  return entry != nullptr && entry->is_attached;
}

ByteView Container::bytes(SectionKind kind) const {
  const Entry* entry = find(kind);
  return entry == nullptr ? ByteView() : entry->bytes;
}

void Container::verify(const Entry& entry) {
  if (entry.is_attached && crc32c(entry.bytes) != entry.checksum) {
    fail(Reason::kDamaged, std::string("the section '") + name_of(entry.kind) +
                               "' does not match its checksum; copy or build the file again");
  }
}

ByteView Container::verified(SectionKind kind) const {
  const Entry* entry = find(kind);
  if (entry == nullptr) return {};
  verify(*entry);
  return entry->bytes;
}

ByteView Container::required(SectionKind kind) const {
  if (!has(kind)) {
    fail(Reason::kDamaged, std::string("the section '") + name_of(kind) + "' is missing");
  }
  return verified(kind);
}

void Container::verify_all() const {
  for (const Entry& entry : entries_) verify(entry);
}

void FileImage::add(SectionKind kind, Bytes bytes) {
  owned_.push_back(std::move(bytes));
  add_view(kind, owned_.back());
}

void FileImage::add_view(SectionKind kind, ByteView bytes, std::shared_ptr<const void> owner) {
  add_pieces(kind, {bytes}, std::move(owner));
}

void FileImage::add_pieces(SectionKind kind, std::vector<ByteView> pieces,
                           std::shared_ptr<const void> owner) {
  sections_.emplace_back(kind, std::move(pieces));
  owners_.push_back(std::move(owner));
}

std::vector<ByteView> FileImage::finish(std::size_t least) {
  static constexpr std::array<std::uint8_t, kAlignment> kPadding{};
  ByteWriter table;
  std::vector<ByteView> parts;
  std::size_t end = kHeaderBytes + sections_.size() * kEntryBytes;
  for (const auto& [kind, pieces] : sections_) {
    const std::size_t offset = align(end);
    if (offset > end) parts.push_back(ByteView(kPadding).first(offset - end));
    end = offset;
    std::uint32_t checksum = 0;
    for (const ByteView piece : pieces) {
      checksum = crc32c(piece, checksum);
      end += piece.size();
      parts.push_back(piece);
    }
    table.put(static_cast<std::uint32_t>(kind));
    table.put(checksum);
    table.put<std::uint64_t>(offset);
    table.put<std::uint64_t>(end - offset);
    table.put<std::uint64_t>(0);
  }
  if (end < least) {
    owned_.emplace_back(least - end);
    parts.push_back(owned_.back());
    end = least;
  }
  const Bytes entries = table.take();
  ByteWriter header;
  header.put_array(std::span<const char>(kMagic));
  header.put<std::uint32_t>(kFormatVersion);
  header.put(static_cast<std::uint32_t>(sections_.size()));
  header.put<std::uint64_t>(end);
  header.put(crc32c(entries));
  Bytes start = header.take();
  const std::uint32_t checksum = crc32c(start);
  ByteWriter whole;
  whole.put_bytes(start);
  whole.put(checksum);
  whole.put_bytes(ByteView(kPadding).first(kHeaderBytes - start.size() - sizeof(checksum)));
  whole.put_bytes(entries);
  owned_.push_back(whole.take());
  parts.insert(parts.begin(), owned_.back());
  return parts;
}

}  // namespace gossamer
