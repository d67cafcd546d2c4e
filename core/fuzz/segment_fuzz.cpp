// Any bytes as a segment, alone and with itself once more, as the segment of a single file, or as
// texts of version 1: opening, reading all of it and merging give an error or an answer, whatever
// the bytes say of themselves.
//
// The first byte says what they are, and whose. Seeds are real; their checksums are made right
// again, so that changed bytes come through.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "fuzz/mend.h"
#include "store/catalogue.h"
#include "store/merge.h"
#include "store/old_texts.h"

using namespace gossamer;

namespace {

// Columns are not packed: what is mutated is what is read.
const Codecs kPlain{{[](ByteView) { return Bytes(); },
                     [](ByteView packed, std::span<std::uint8_t> out) {
                       if (packed.size() != out.size()) return false;
                       std::copy(packed.begin(), packed.end(), out.begin());
                       return true;
                     }},
                    {[](ByteView, ByteView) { return Bytes(); },
                     [](ByteView packed, ByteView, std::span<std::uint8_t> out) {
                       if (packed.size() != out.size()) return false;
                       std::copy(packed.begin(), packed.end(), out.begin());
                       return true;
                     },
                     nullptr}};

// A segment of a few sources, with texts, codes and gone ones.
const Bytes& seed() {
  static const Bytes made = [] {
    SegmentImage image({2, 7}, 64, kPlain);
    for (int i = 0; i < 5; ++i) {
      SourceRecord source;
      source.name = std::string(1, static_cast<char>('a' + i));
      DocumentRecord document;
      document.segment = 1;
      document.length = 20;
      const Bytes text(20, static_cast<std::uint8_t>('0' + i));
      document.offset = static_cast<std::int64_t>(image.texts.add(text));
      document.first_chunk = 10 * i + 1;
      document.chunks = {{{{0, 5}, {}}, 1}, {{{5, 20}, {{0, 3}}}, 2}};
      source.documents = {document};
      image.add(source, Bytes(4));
    }
    image.gone.add(1, {1, 1, 1, 2, 2});
    FileImage file;
    image.finish(file);
    Bytes bytes;
    for (const ByteView part : file.finish()) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
  }();
  return made;
}

// The same as a single file has it: without ids and codes.
const Bytes& single_seed() {
  static const Bytes made = [] {
    const Container whole = Container::parse(seed());
    FileImage file;
    for (const Container::Entry& entry : whole.entries())
      if (entry.kind != SectionKind::kIds && entry.kind != SectionKind::kCodes &&
          entry.kind != SectionKind::kCodeStamp)
        file.add_view(entry.kind, entry.bytes);
    Bytes bytes;
    for (const ByteView part : file.finish()) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
  }();
  return made;
}

std::uint32_t crc32(ByteView bytes, std::uint32_t before = 0) {
  std::uint32_t sum = ~before;
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~sum;
}

// Three blocks of four letters, as version 1 kept them.
const Bytes& old_seed() {
  static const Bytes made = [] {
    ByteWriter out;
    for (const char letter : std::string("GSMTEXTS")) out.put(letter);
    for (const std::uint32_t value : {1u, 4u, 0u, 0u}) out.put(value);
    const Bytes block(4, 'a');
    for (int i = 0; i < 3; ++i) out.put_bytes(block);
    for (int i = 0; i < 3; ++i) {
      out.put<std::uint32_t>(4);
      out.put(crc32(block));
    }
    out.put<std::uint64_t>(12);
    out.put<std::uint32_t>(3);
    out.put<std::uint32_t>(0);
    return out.take();
  }();
  return made;
}

// Makes the checksum right, as far as the parts fit.
void mend_old(Bytes& file) {
  std::uint32_t dictionary, count;
  std::memcpy(&dictionary, file.data() + 20, 4);
  std::memcpy(&count, file.data() + file.size() - 8, 4);
  const std::uint64_t head = 24 + std::uint64_t{dictionary}, tail = 16 + 8 * std::uint64_t{count};
  if (head + tail > file.size()) return;
  const ByteView all(file);
  const std::uint32_t sum =
      crc32(all.last(tail).first(tail - 4), crc32(all.first(static_cast<std::size_t>(head))));
  std::memcpy(file.data() + file.size() - 4, &sum, 4);
}

void read_old(ByteView file) {
  const BlockView texts = read_old_texts(file, kPlain.texts);
  for (const Block& block : texts.blocks()) texts.unpack(block);
}

void read_all(const Catalogue& catalogue) {
  for (std::size_t row = 0; row < catalogue.counts().sources; ++row) {
    const Catalogue::Place place = catalogue.source(row);
    catalogue.find(place.group->rows.name(place.row));
    catalogue.documents_of(row);
  }
  for (std::size_t row = 0; row < catalogue.counts().documents; ++row) {
    const Catalogue::Place place = catalogue.document(row);
    place.group->rows.chunks(place.row);
    catalogue.source_of(row);
  }
  for (const std::uint64_t id : catalogue.ids()) catalogue.chunk(id);
  catalogue.codes();
  catalogue.list().give_content([](ByteView) {});
  SegmentImage image(catalogue.stamp(), 64, kPlain);
  std::vector<std::size_t> all(catalogue.parts().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  merge_segments(catalogue, all, catalogue.stamp(), nullptr, true, 1, image);
  FileImage file;
  image.finish(file);
  file.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::array<const Bytes*, 3> seeds{&seed(), &single_seed(), &old_seed()};
  const std::size_t kind = data[0] / 2 % seeds.size();
  // Changes to the seed: place and value, place and value, ...
  Bytes file = *seeds[kind];
  for (std::size_t i = 1; i + 2 < size; i += 3)
    file[(data[i] * 256u + data[i + 1]) % file.size()] ^= data[i + 2];
  const Origin origin = data[0] % 2 == 0 ? Origin::kOwn : Origin::kOther;
  try {
    if (kind == 2) {
      mend_old(file);
      read_old(file);
      return 0;
    }
    fuzz::mend_checksums(file, fuzz::mend_header(file));
    const auto older = std::make_shared<Segment>(1, ByteView(seed()), Origin::kOwn, kPlain);
    const auto newer = std::make_shared<Segment>(2, ByteView(file), origin, kPlain);
    read_all(Catalogue({newer}));
    read_all(Catalogue({older, newer}));
  } catch (const Error&) {
  }
  return 0;
}
