#include "store/old_texts.h"

#include <doctest/doctest.h>

#include <string>

#include "index_fixture.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const TextCodec kAsItIs{[](ByteView text, ByteView) { return Bytes(text.begin(), text.end()); },
                        [](ByteView packed, ByteView dictionary, std::span<std::uint8_t> text) {
                          if (packed.size() != text.size()) return false;
                          const std::uint8_t key = dictionary.empty() ? 0 : dictionary[0];
                          for (std::size_t i = 0; i < text.size(); ++i) text[i] = packed[i] ^ key;
                          return true;
                        },
                        nullptr};

// CRC-32 bit by bit.
std::uint32_t crc32(ByteView bytes) {
  std::uint32_t sum = ~0u;
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~sum;
}

// A file of blocks of four letters; with a dictionary, which is one letter, each is changed by it.
Bytes file_of(const std::string& text, std::uint8_t key = 0) {
  ByteWriter head, blocks, table;
  for (const char letter : std::string("GSMTEXTS")) head.put(letter);
  head.put<std::uint32_t>(1);
  head.put<std::uint32_t>(4);
  head.put<std::uint32_t>(key == 0 ? 0 : 1);
  head.put<std::uint32_t>(key == 0 ? 0 : 1);
  if (key != 0) head.put(key);
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += 4, ++count) {
    Bytes block;
    for (const char letter : text.substr(at, 4))
      block.push_back(static_cast<std::uint8_t>(letter) ^ key);
    table.put<std::uint32_t>(static_cast<std::uint32_t>(block.size()));
    table.put(crc32(block));
    blocks.put_bytes(block);
  }
  table.put<std::uint64_t>(text.size());
  table.put(count);
  Bytes file = head.take();
  const Bytes tail = table.take(), packed = blocks.take();
  Bytes summed = file;
  summed.insert(summed.end(), tail.begin(), tail.end());
  file.insert(file.end(), packed.begin(), packed.end());
  file.insert(file.end(), tail.begin(), tail.end());
  ByteWriter sum;
  sum.put(crc32(summed));
  const Bytes last = sum.take();
  file.insert(file.end(), last.begin(), last.end());
  return file;
}

}  // namespace

TEST_CASE("texts of version 1 are read, with a dictionary and without") {
  const std::string text = "what was written before there were segments";
  for (const std::uint8_t key : {std::uint8_t{0}, std::uint8_t{7}}) {
    const Bytes file = file_of(text, key);
    const BlockView view = read_old_texts(file, kAsItIs);
    const Bytes read = view.read(3, text.size());
    CHECK(std::string(read.begin(), read.end()) == text.substr(3));
  }
  CHECK(read_old_texts(file_of(""), kAsItIs).size() == 0);
}

TEST_CASE("where blocks of version 1 are is known without them") {
  const Bytes file = file_of("nine letters");
  const ByteView all(file);
  const std::uint64_t tail = old_tail_size(all.last(kOldTextsTrailer));
  const BlockView view =
      read_old_texts(all.first(kOldTextsHeader), all.last(tail), file.size(), kAsItIs);
  CHECK(view.blocks().size() == 3);
  CHECK(view.blocks()[2].at == 8);
}

TEST_CASE("texts of version 1 that are cut or changed anywhere are refused") {
  const Bytes file = file_of("a text of which every byte counts", 5);
  const auto read = [](ByteView bytes) {
    const BlockView view = read_old_texts(bytes, kAsItIs);
    for (const Block& block : view.blocks()) view.unpack(block);
  };
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK(reason_of([&] { read(ByteView(file).first(size)); }) != "none");
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes changed = file;
    changed[at] ^= 0x40;
    CHECK(reason_of([&] { read(changed); }) != "none");
  }
}
