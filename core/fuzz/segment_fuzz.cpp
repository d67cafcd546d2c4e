// Any bytes as a segment, alone and with itself once more: opening, reading all of it and merging
// give an error or an answer, whatever the bytes say of themselves.
//
// The first byte says whose bytes they are. A seed is a real segment; the checksums of its sections
// are made right again, so that changed bytes come through.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "fuzz/mend.h"
#include "store/catalogue.h"
#include "store/merge.h"

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
  // Changes to the seed: place and value, place and value, ...
  Bytes file = seed();
  for (std::size_t i = 1; i + 2 < size; i += 3)
    file[(data[i] * 256u + data[i + 1]) % file.size()] ^= data[i + 2];
  fuzz::mend_checksums(file, fuzz::mend_header(file));
  const Origin origin = data[0] % 2 == 0 ? Origin::kOwn : Origin::kOther;
  try {
    const auto older = std::make_shared<Segment>(1, ByteView(seed()), Origin::kOwn, kPlain);
    const auto newer = std::make_shared<Segment>(2, ByteView(file), origin, kPlain);
    read_all(Catalogue({newer}));
    read_all(Catalogue({older, newer}));
  } catch (const Error&) {
  }
  return 0;
}
