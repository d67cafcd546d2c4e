#include "lexical/postings.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace gossamer;

namespace {

std::map<std::uint32_t, std::uint32_t> find(const Bytes& bytes, const std::string& term) {
  const std::size_t head = PostingsView::head_bytes(bytes, bytes.size());
  const PostingsView words(ByteView(bytes).first(head), bytes.size());
  std::map<std::uint32_t, std::uint32_t> found;
  const auto block = words.block_of(term);
  if (!block) return found;
  const auto [at, length] = words.block(*block);
  const auto place = words.find(*block, ByteView(bytes).subspan(at, length), term);
  if (!place) return found;
  const ByteView list = ByteView(bytes).subspan(place->range.at, place->range.length);
  for (const auto& [chunk, count] : words.read(*place, list)) found[chunk] = count;
  return found;
}

}  // namespace

TEST_CASE("words of many chunks are found, however often they stand there") {
  PostingsWriter writer;
  for (std::uint32_t chunk = 500; chunk-- > 0;) {
    std::string text = "tea w" + std::to_string(chunk);
    for (std::uint32_t i = 0; i < chunk % 3; ++i) text += " leaf";
    writer.add(chunk, text);
  }
  writer.add(7, "tea tea");

  const Bytes bytes = writer.finish(500, {});

  CHECK(find(bytes, "tea").size() == 500);
  CHECK(find(bytes, "tea").at(7) == 3);
  CHECK(find(bytes, "leaf").size() == 333);
  CHECK(find(bytes, "leaf").at(2) == 2);
  CHECK(find(bytes, "w499") == std::map<std::uint32_t, std::uint32_t>{{499, 1}});
  CHECK(find(bytes, "w500").empty());
  CHECK(find(bytes, "").empty());
}

TEST_CASE("chunks get other numbers, and each must have one") {
  PostingsWriter writer;
  writer.add(0, "tea");
  writer.add(2, "tea");
  const std::vector<std::uint32_t> numbers{1, 9, 0};

  CHECK(find(writer.finish(2, numbers), "tea") ==
        std::map<std::uint32_t, std::uint32_t>{{0, 1}, {1, 1}});
  CHECK_THROWS_AS(writer.finish(1, numbers), Error);
  CHECK_THROWS_AS(writer.finish(9, std::span(numbers).first(2)), Error);
}

TEST_CASE("no words are words too, and damage is refused") {
  CHECK(find(PostingsWriter().finish(0, {}), "tea").empty());
  PostingsWriter writer;
  writer.add(0, "cat dog kelp");
  const Bytes bytes = writer.finish(1, {});
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 12 && at < 20) continue;  // the numbers of chunks and terms have no checksum
    Bytes hurt = bytes;
    hurt[at] ^= 0x55;
    bool is_refused = false;
    try {
      for (const char* term : {"cat", "dog", "kelp"}) find(hurt, term);
    } catch (const Error&) {
      is_refused = true;
    }
    CHECK_MESSAGE(is_refused, at);
  }
}
