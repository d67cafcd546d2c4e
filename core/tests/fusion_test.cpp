#include "query/fusion.h"

#include <doctest/doctest.h>

using namespace gossamer;

namespace {

using Ids = std::vector<std::uint64_t>;

Ids ids_of(const std::vector<FusedChunk>& fused) {
  Ids ids;
  for (const FusedChunk& chunk : fused) ids.push_back(chunk.id);
  return ids;
}

}  // namespace

TEST_CASE("what both rankings hold goes before what one holds") {
  const auto fused = fuse(Ids{1, 2, 3}, Ids{4, 2, 5});

  CHECK(fused[0].id == 2);
  CHECK(fused[0].by_meaning == 2);
  CHECK(fused[0].by_words == 2);
}

TEST_CASE("one ranking keeps its order") {
  CHECK(ids_of(fuse(Ids{7, 3, 9}, {})) == Ids{7, 3, 9});
  CHECK(ids_of(fuse({}, Ids{7, 3, 9})) == Ids{7, 3, 9});
}

TEST_CASE("equals go by their best place and then by id") {
  CHECK(ids_of(fuse(Ids{8, 2}, Ids{2, 8})) == Ids{2, 8});
  CHECK(ids_of(fuse(Ids{5}, Ids{4})) == Ids{4, 5});
}

TEST_CASE("no rankings give no hits") { CHECK(fuse({}, {}).empty()); }
