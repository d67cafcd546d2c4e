// The words of all chunks, counted for a single file: see core/words.ts.

#include <memory>

#include "exports.h"
#include "lexical/postings.h"
#include "query/words.h"

namespace gossamer::wasm {
namespace {

struct Counting {
  explicit Counting(const SourceList& list)
      : catalogue({std::make_shared<const Segment>(list)}), layout(catalogue, Roots({})) {}

  Catalogue catalogue;
  ChunkLayout layout;
  PostingsWriter words;
};

}  // namespace

GOSSAMER_EXPORT(counting_new) Counting* counting_new(const SourceList* list) {
  return new Counting(*list);
}

GOSSAMER_EXPORT(counting_free) void counting_free(Counting* counting) { delete counting; }

// Counts a document, which is known by its first chunk.
GOSSAMER_EXPORT(counting_add)
void counting_add(Counting* counting, double first_chunk, const std::uint8_t* text,
                  std::size_t size) {
  count_document(counting->layout, static_cast<std::uint64_t>(first_chunk), text_of(text, size),
                 counting->words);
}

GOSSAMER_EXPORT(counting_finish) std::size_t counting_finish(const Counting* counting) {
  Bytes& bytes = given().bytes;
  bytes = counting->words.finish(static_cast<std::uint32_t>(counting->layout.chunk_count()), {});
  given().first = bytes.data();
  return bytes.size();
}

}  // namespace gossamer::wasm
