// The words of an index, read by ranges: see core/words.ts.

#include "exports.h"
#include "lexical/postings.h"

namespace gossamer::wasm {

namespace {

std::size_t give_numbers(std::vector<double> numbers) {
  given().numbers = std::move(numbers);
  given().first = given().numbers.data();
  return given().numbers.size();
}

PostingsView::Range to_range(double at, double length) {
  return {static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(length)};
}

}  // namespace

GOSSAMER_EXPORT(words_head_bytes)
std::size_t words_head_bytes(const std::uint8_t* start, std::size_t start_size, double size) {
  return PostingsView::head_bytes({start, start_size}, static_cast<std::uint64_t>(size));
}

GOSSAMER_EXPORT(words_open)
PostingsView* words_open(const std::uint8_t* head, std::size_t head_size, double size) {
  return new PostingsView({head, head_size}, static_cast<std::uint64_t>(size));
}

GOSSAMER_EXPORT(words_free) void words_free(PostingsView* words) { delete words; }

GOSSAMER_EXPORT(words_chunks) std::size_t words_chunks(const PostingsView* words) {
  return words->chunks();
}

// The number of the block that may hold a term, where it begins and how long it is; or nothing.
GOSSAMER_EXPORT(words_block)
std::size_t words_block(const PostingsView* words, const std::uint8_t* term, std::size_t size) {
  const auto block = words->block_of(text_of(term, size));
  if (!block) return 0;
  const auto [at, length] = words->block(*block);
  return give_numbers(
      {static_cast<double>(*block), static_cast<double>(at), static_cast<double>(length)});
}

// Where the postings of a term, which stands behind the block, begin, how long they are, how many
// chunks they name, and their checksum; or nothing.
GOSSAMER_EXPORT(words_find)
std::size_t words_find(const PostingsView* words, std::size_t number, const std::uint8_t* block,
                       std::size_t size, std::size_t term_size) {
  const auto place = words->find(number, {block, size}, text_of(block + size, term_size));
  if (!place) return 0;
  return give_numbers({static_cast<double>(place->range.at),
                       static_cast<double>(place->range.length), static_cast<double>(place->chunks),
                       static_cast<double>(place->checksum)});
}

// All chunks, and then how often each holds the term.
GOSSAMER_EXPORT(words_read)
std::size_t words_read(const PostingsView* words, double at, double length, double chunks,
                       double checksum, const std::uint8_t* bytes, std::size_t size) {
  const PostingsView::Place place{to_range(at, length), static_cast<std::uint64_t>(chunks),
                                  static_cast<std::uint32_t>(checksum)};
  const std::vector<PostingsView::Posting> postings = words->read(place, {bytes, size});
  std::vector<std::uint32_t>& out = given().words;
  out.clear();
  for (const auto& posting : postings) out.push_back(posting.chunk);
  for (const auto& posting : postings) out.push_back(posting.count);
  given().first = out.data();
  return postings.size();
}

}  // namespace gossamer::wasm
