// The words of an index, counted by a page: see core/words.ts.

#include "exports.h"
#include "lexical/postings.h"

namespace gossamer::wasm {

GOSSAMER_EXPORT(counting_new) PostingsWriter* counting_new() { return new PostingsWriter(); }
GOSSAMER_EXPORT(counting_free) void counting_free(PostingsWriter* writer) { delete writer; }

GOSSAMER_EXPORT(counting_add)
void counting_add(PostingsWriter* writer, std::uint32_t chunk, const std::uint8_t* text,
                  std::size_t size) {
  writer->add(chunk, text_of(text, size));
}

GOSSAMER_EXPORT(counting_finish)
std::size_t counting_finish(const PostingsWriter* writer, std::uint32_t chunks) {
  given().bytes = writer->finish(chunks, {});
  given().first = given().bytes.data();
  return given().bytes.size();
}

}  // namespace gossamer::wasm
