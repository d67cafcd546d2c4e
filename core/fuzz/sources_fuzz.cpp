// Any bytes as a catalogue in one piece, or as the words of an index: an error or an answer, never
// a crash or more memory than the bytes account for.
//
// The first byte says which, and whose bytes they are. What follows are changes to one that was
// just written: place and value, place and value, ...

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/error.h"
#include "lexical/postings.h"
#include "store/source_list.h"
#include "store/source_rows.h"

using namespace gossamer;

namespace {

// Columns are not packed: what is mutated is what is read.
const Codec kPlain{[](ByteView) { return Bytes(); },
                   [](ByteView, std::span<std::uint8_t>) { return false; }};

Bytes catalogue_seed() {
  Strings strings;
  Table sources(sources_schema());
  for (int i = 0; i < 4; ++i) {
    SourceRecord source;
    source.root = i % 2 == 0 ? "" : "/r";
    source.name = std::string(1, static_cast<char>('d' - i));
    source.size = 20;
    DocumentRecord document;
    document.kind = "text";
    document.segment = i % 2 == 0 ? kAway : kVerbatim;
    document.length = 20;
    document.places = {{3, 1}, {9, 2}};
    document.first_chunk = 10 * i + 1;
    document.chunks = {{{{0, 5}, {}}, 1}, {{{5, 20}, {{0, 3}}}, 2}};
    source.documents = {document};
    append_source(source, strings, sources);
  }
  return SourceList(std::move(strings), std::move(sources)).pack(kPlain);
}

Bytes words_seed() {
  PostingsWriter writer;
  for (std::uint32_t chunk = 0; chunk < 40; ++chunk)
    writer.add(chunk, "tea and water " + std::string(1 + chunk % 26, 'q') + " w" +
                          std::to_string(chunk * 7) + " w" + std::to_string(chunk * 11));
  return writer.finish(40, {});
}

void read_catalogue(ByteView bytes, Origin origin) {
  const SourceList list = SourceList::read(bytes, origin, kPlain);
  const SourceList ordered = list.take(list.order());
  ordered.join(list).put_texts_away().give_content([](ByteView) {});
  const SourceRows rows(ordered.sources(), ordered.strings());
  for (std::size_t row = 0; row < rows.size(); ++row) rows.source(row);
  const std::vector<std::string> names(list.strings().size());
  list.rename_roots(names).pack(kPlain);
}

void read_words(const Bytes& bytes) {
  const std::size_t head = PostingsView::head_bytes(bytes, bytes.size());
  const PostingsView words(ByteView(bytes).first(std::min(head, bytes.size())), bytes.size());
  for (const char* term : {"tea", "qqq", "w77", "", "zz"}) {
    const auto block = words.block_of(term);
    if (!block) continue;
    const auto [at, length] = words.block(*block);
    const ByteView block_bytes = ByteView(bytes).subspan(at, length);
    const auto place = words.find(*block, block_bytes, term);
    if (place) words.read(*place, ByteView(bytes).subspan(place->range.at, place->range.length));
  }
}

// Makes the checksum of the heads right, so that what is wrong must be found by its meaning.
void mend_words(Bytes& bytes) {
  std::uint32_t heads = 0;
  std::memcpy(&heads, bytes.data() + 32, sizeof(heads));
  if (heads > bytes.size() - PostingsView::kHeaderBytes) return;
  const std::uint32_t checksum = crc32c(ByteView(bytes).subspan(PostingsView::kHeaderBytes, heads));
  std::memcpy(bytes.data() + 36, &checksum, sizeof(checksum));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Bytes catalogue = catalogue_seed(), words = words_seed();
  if (size == 0) return 0;
  const bool is_catalogue = data[0] % 2 == 0;
  Bytes bytes = is_catalogue ? catalogue : words;
  for (std::size_t i = 1; i + 2 < size; i += 3)
    bytes[(data[i] * 256u + data[i + 1]) % bytes.size()] ^= data[i + 2];
  if (data[0] % 8 >= 6) bytes.resize(bytes.size() * data[size - 1] / 256);
  try {
    if (is_catalogue) {
      read_catalogue(bytes, data[0] % 4 == 0 ? Origin::kOwn : Origin::kOther);
    } else {
      if (data[0] % 4 == 1 && bytes.size() > PostingsView::kHeaderBytes) mend_words(bytes);
      read_words(bytes);
    }
  } catch (const Error&) {
  }
  return 0;
}
