#include "store/old_texts.h"

#include <algorithm>
#include <array>

namespace gossamer {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic{'G', 'S', 'M', 'T', 'E', 'X', 'T', 'S'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMostBlockBytes = 1 << 20, kMostDictionaryBytes = 1 << 20;
constexpr std::size_t kRowBytes = 8;

// CRC-32 as zlib has it.
std::uint32_t crc32(ByteView bytes, std::uint32_t before) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 16> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 4; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t sum = ~before;
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    sum = (sum >> 4) ^ kTable[sum & 15];
    sum = (sum >> 4) ^ kTable[sum & 15];
  }
  return ~sum;
}

struct Header {
  std::uint32_t block_bytes, dictionary_bytes, packed_bytes;
};

Header read_header(ByteView head) {
  expect(head.size() >= kOldTextsHeader, Reason::kTruncated, "a file is too short to hold texts");
  expect(std::equal(kMagic.begin(), kMagic.end(), head.begin()), Reason::kNotGossamer,
         "a file holds no texts of an index");
  ByteReader in(head.subspan(kMagic.size()), "the texts");
  const auto version = in.get<std::uint32_t>();
  if (version != kVersion)
    fail(Reason::kUnknownVersion, "texts are of version " + std::to_string(version) +
                                      ", and this release reads " + std::to_string(kVersion) +
                                      "; use the release that wrote them, or a newer one");
  Header header{};
  header.block_bytes = in.get<std::uint32_t>();
  header.dictionary_bytes = in.get<std::uint32_t>();
  header.packed_bytes = in.get<std::uint32_t>();
  expect(header.block_bytes > 0 && header.block_bytes <= kMostBlockBytes &&
             header.dictionary_bytes <= kMostDictionaryBytes,
         Reason::kDamaged, "texts have parts that do not fit together");
  return header;
}

std::vector<Block> read_blocks(ByteView tail, const Header& header, std::uint64_t packed_size) {
  ByteReader trailer(tail.last(kOldTextsTrailer), "the texts");
  const auto length = trailer.get<std::uint64_t>();
  const std::size_t count = (tail.size() - kOldTextsTrailer) / kRowBytes;
  expect(count == length / header.block_bytes + (length % header.block_bytes != 0),
         Reason::kDamaged, "texts have parts that do not fit together");
  ByteReader table(tail.first(count * kRowBytes), "the texts");
  std::vector<Block> blocks;
  std::uint64_t start = 0, at = 0;
  for (std::size_t number = 0; number < count; ++number) {
    Block block{};
    block.start = start;
    block.size =
        static_cast<std::size_t>(std::min<std::uint64_t>(header.block_bytes, length - start));
    block.at = at;
    block.packed_size = table.get<std::uint32_t>();
    block.is_packed = true;
    block.checksum = table.get<std::uint32_t>();
    block.dictionary = header.dictionary_bytes > 0 ? 1 : 0;
    block.base = 0;
    start += block.size;
    at += block.packed_size;
    blocks.push_back(block);
  }
  expect(at == packed_size, Reason::kDamaged, "texts have blocks that do not fit their length");
  return blocks;
}

Bytes read_dictionary(ByteView packed, std::size_t size, const TextCodec& codec) {
  Bytes dictionary(size);
  if (size > 0)
    expect(codec.unpack(packed, {}, dictionary), Reason::kDamaged,
           "the dictionary of texts does not unpack");
  return dictionary;
}

BlockView read(ByteView head, ByteView tail, std::uint64_t packed_size, ByteView blocks,
               const TextCodec& codec) {
  const Header header = read_header(head);
  expect(head.size() == kOldTextsHeader + std::uint64_t{header.packed_bytes}, Reason::kDamaged,
         "texts have parts that do not fit together");
  ByteReader checksum(tail.last(4), "the texts");
  expect(crc32(tail.first(tail.size() - 4), crc32(head, 0)) == checksum.get<std::uint32_t>(),
         Reason::kDamaged, "the checksum of the texts does not fit");
  return {read_blocks(tail, header, packed_size), blocks,
          read_dictionary(head.subspan(kOldTextsHeader), header.dictionary_bytes, codec),
          [](ByteView bytes) { return crc32(bytes, 0); }, codec};
}

}  // namespace

std::uint64_t old_tail_size(ByteView trailer) {
  ByteReader in(trailer.subspan(8), "the texts");
  return kOldTextsTrailer + std::uint64_t{in.get<std::uint32_t>()} * kRowBytes;
}

BlockView read_old_texts(ByteView file, const TextCodec& codec) {
  expect(file.size() >= kOldTextsHeader + kOldTextsTrailer, Reason::kDamaged,
         "a file is too short to hold texts");
  const std::uint64_t head = kOldTextsHeader + std::uint64_t{read_header(file).packed_bytes};
  const std::uint64_t tail = old_tail_size(file.last(kOldTextsTrailer));
  expect(head + tail <= file.size(), Reason::kDamaged, "texts have parts that do not fit together");
  const ByteView blocks = file.subspan(head, file.size() - head - tail);
  return read(file.first(head), file.last(tail), blocks.size(), blocks, codec);
}

BlockView read_old_texts(ByteView head, ByteView tail, std::uint64_t file_size,
                         const TextCodec& codec) {
  expect(tail.size() >= kOldTextsTrailer &&
             tail.size() == old_tail_size(tail.last(kOldTextsTrailer)) &&
             head.size() + tail.size() <= file_size,
         Reason::kDamaged, "texts have parts that do not fit together");
  return read(head, tail, file_size - head.size() - tail.size(), {}, codec);
}

}  // namespace gossamer
