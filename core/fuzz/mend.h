#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "storage/format.h"

namespace gossamer::fuzz {

template <class T>
T load(const Bytes& file, std::size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(value));
  return value;
}

template <class T>
void store(Bytes& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(value));
}

struct Section {
  std::size_t entry;  // where the table speaks of it
  std::uint32_t kind;
  std::size_t offset;
  std::size_t length;
};

// Makes the header of a container right, and gives the sections that lie within the file.
inline std::vector<Section> mend_header(Bytes& file) {
  if (file.size() < kHeaderBytes) file.resize(kHeaderBytes);
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  store(file, 8, kFormatVersion);
  const std::size_t room = std::min((file.size() - kHeaderBytes) / kEntryBytes, kMaxSections);
  const auto count = std::min(load<std::uint32_t>(file, 12), static_cast<std::uint32_t>(room));
  store(file, 12, count);
  store<std::uint64_t>(file, 16, file.size());
  std::vector<Section> sections;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kHeaderBytes + i * kEntryBytes;
    const auto offset = load<std::uint64_t>(file, entry + 8);
    const auto length = load<std::uint64_t>(file, entry + 16);
    if (offset > file.size() || length > file.size() - offset) continue;
    sections.push_back({entry, load<std::uint32_t>(file, entry), static_cast<std::size_t>(offset),
                        static_cast<std::size_t>(length)});
  }
  return sections;
}

// Makes all checksums right, so that what is wrong must be found by its meaning.
inline void mend_checksums(Bytes& file, const std::vector<Section>& sections) {
  for (const Section& section : sections)
    store(file, section.entry + 4, crc32c(ByteView(file).subspan(section.offset, section.length)));
  const std::size_t count = load<std::uint32_t>(file, 12);
  store(file, 24, crc32c(ByteView(file).subspan(kHeaderBytes, count * kEntryBytes)));
  store(file, 28, crc32c(ByteView(file).first(28)));
}

}  // namespace gossamer::fuzz
