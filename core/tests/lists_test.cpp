#include "graph/lists.h"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace gossamer {
namespace {

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

bool holds(const PagedLists& lists, const std::vector<Bytes>& model) {
  if (lists.size() != model.size()) return false;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const ByteView got = lists.get(i);
    if (Bytes(got.begin(), got.end()) != model[i]) return false;
  }
  return true;
}

std::vector<NodeId> through_lists(NodeId self, const std::vector<NodeId>& list) {
  const PagedLists lists(
      1, [&](std::size_t, std::uint8_t* out) { return encode_list(self, list, out); });
  std::array<NodeId, kMaxListLength> out;
  const std::size_t count = lists.decode(0, self, out.data());
  CHECK(lists.length(0) == list.size());
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST_CASE("lists of extreme ids are decoded as they were encoded") {
  const NodeId last = kNoNode - 1;
  std::vector<NodeId> far_apart;
  for (NodeId i = 0; i < kMaxListLength; ++i) far_apart.push_back(i * 16'000'000);

  CHECK(through_lists(5, {}).empty());
  CHECK(through_lists(last, {0, 1, last - 1}) == std::vector<NodeId>{0, 1, last - 1});
  CHECK(through_lists(0, {last}) == std::vector<NodeId>{last});
  CHECK(through_lists(77, far_apart) == far_apart);
}

TEST_CASE("lists with gaps of every varint length are decoded as they were encoded") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<NodeId> list;
    std::uint64_t id = random.below(std::uint64_t{1} << random.below(30));
    for (std::size_t i = 0; i < 1 + random.below(kMaxListLength) && id < kNoNode; ++i) {
      list.push_back(static_cast<NodeId>(id));
      id += 1 + random.below(std::uint64_t{1} << random.below(29));
    }

    CHECK(through_lists(static_cast<NodeId>(random.next()), list) == list);
  }
}

TEST_CASE("any sequence of replaced strings leaves what was written last") {
  Random random(1);
  PagedLists lists;
  std::vector<Bytes> model;
  for (int step = 0; step < 30'000; ++step) {
    if (model.size() < 200 && random.below(20) == 0) {
      lists.append();
      model.emplace_back();
    }
    if (model.empty()) continue;
    const std::size_t index = random.below(model.size());
    const std::size_t largest = random.below(50) == 0 ? kMaxListBytes : 40;
    model[index] = random_bytes(random, random.below(largest + 1));
    lists.assign(index, model[index]);
    if (step % 1000 == 0) REQUIRE(holds(lists, model));
  }

  CHECK(holds(lists, model));
  lists.compact();
  CHECK(holds(lists, model));
}

TEST_CASE("settled lists take hardly more than packed ones and are the same") {
  Random random(3);
  PagedLists lists;
  std::vector<Bytes> model(4096);
  for (std::size_t i = 0; i < model.size(); ++i) lists.append();
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t index = random.below(model.size());
    model[index] = random_bytes(random, random.below(40));
    lists.assign(index, model[index]);
    if (step % 500 != 0) continue;
    lists.settle();
    PagedLists packed = lists;
    packed.compact();
    REQUIRE(lists.memory_bytes() <= packed.memory_bytes() + packed.memory_bytes() / 10);
  }

  CHECK(holds(lists, model));
}

TEST_CASE("strings as long as the length byte can say and longer are kept whole") {
  Random random(2);
  std::vector<Bytes> model;
  for (const std::size_t size : {253u, 254u, 255u, 256u, 257u, 1280u, 0u, 1u})
    model.push_back(random_bytes(random, size));
  const PagedLists lists(model.size(), [&](std::size_t index, std::uint8_t* out) {
    std::copy(model[index].begin(), model[index].end(), out);
    return model[index].size();
  });

  CHECK(holds(lists, model));
}

TEST_CASE("pages that keep growing do not leave their old rooms behind for good") {
  PagedLists lists;
  const std::size_t count = 4096;
  for (std::size_t i = 0; i < count; ++i) lists.append();
  for (std::size_t size = 1; size <= 40; ++size)
    for (std::size_t i = 0; i < count; ++i) lists.assign(i, Bytes(size, 7));

  CHECK(lists.memory_bytes() < 2 * 40 * count);
}

TEST_CASE("strings that shrink give their memory back") {
  PagedLists lists(4096, [](std::size_t, std::uint8_t* out) {
    std::fill_n(out, 200, std::uint8_t{1});
    return std::size_t{200};
  });
  for (std::size_t i = 0; i < lists.size(); ++i) lists.assign(i, Bytes(10, 2));

  CHECK(lists.memory_bytes() < 200'000);
}

TEST_CASE("packed lists cost little beside their bytes") {
  const std::size_t count = 32'000;
  const PagedLists lists(count, [](std::size_t, std::uint8_t* out) {
    std::fill_n(out, 16, std::uint8_t{1});
    return std::size_t{16};
  });

  CHECK(lists.memory_bytes() < count * 18);
}

}  // namespace
}  // namespace gossamer
