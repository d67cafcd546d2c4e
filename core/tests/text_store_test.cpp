#include "store/text_store.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "index_fixture.h"
#include "query_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// Blocks of one letter, whose number is kept.
struct Letters {
  explicit Letters(const std::string& text, std::size_t block_bytes = 10) {
    BlockWriter writer(block_bytes, codec);
    writer.add(view_of(text));
    FileImage image;
    writer.finish(image, kPlainCodecs.columns);
    for (const ByteView part : image.finish()) file.insert(file.end(), part.begin(), part.end());
    view = std::make_shared<const BlockView>(Container::parse(file), Origin::kOwn,
                                             kPlainCodecs.columns, codec);
  }

  std::atomic<int> unpacked{0};
  TextCodec codec{[](ByteView text, ByteView) { return Bytes{text[0]}; },
                  [this](ByteView packed, ByteView, std::span<std::uint8_t> out) {
                    ++unpacked;
                    std::fill(out.begin(), out.end(), packed[0]);
                    return packed.size() == 1;
                  },
                  nullptr};
  Bytes file;
  std::shared_ptr<const BlockView> view;
};

std::string letters(int blocks) {
  std::string text;
  for (int i = 0; i < blocks; ++i) text += std::string(10, static_cast<char>('a' + i));
  return text;
}

std::string read(const TextStore& store, std::uint64_t number, std::uint64_t start,
                 std::uint64_t end) {
  const Bytes bytes = store.read(number, start, end);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("every part of the texts of several files is read, in any order") {
  const Letters one(letters(5)), other(letters(3));
  TextStore store;
  store.add(3, one.view);
  store.add(7, other.view);

  CHECK(store.sizes() == std::map<std::uint64_t, std::uint64_t>{{3, 50}, {7, 30}});
  for (std::uint64_t start = 0; start <= 50; start += 3)
    for (std::uint64_t end = start; end <= 50; ++end)
      CHECK(read(store, 3, start, end) == letters(5).substr(start, end - start));
  CHECK(read(store, 7, 25, 30) == "ccccc");
}

TEST_CASE("what is not there is damage") {
  const Letters one(letters(2));
  TextStore store;
  store.add(3, one.view);

  CHECK(reason_of([&] { store.read(4, 0, 1); }) == "damaged");
  CHECK(reason_of([&] { store.read(3, 0, 21); }) == "damaged");
  CHECK(reason_of([&] { store.read(3, 21, 21); }) == "damaged");
  CHECK(reason_of([&] { store.read(3, 5, 4); }) == "damaged");
  CHECK(reason_of([&] { store.read(3, 0, ~std::uint64_t{0}); }) == "damaged");
  CHECK(store.read(3, 20, 20).empty());
  CHECK(one.unpacked == 0);
}

TEST_CASE("blocks that were read last are not unpacked again") {
  constexpr std::uint64_t kBlock = 1 << 23;
  const Letters one(std::string(10 * kBlock, 'a'), kBlock);
  TextStore store;
  store.add(3, one.view);

  for (int i = 0; i < 5; ++i) read(store, 3, 12, 18);
  CHECK(one.unpacked == 1);
  for (std::uint64_t block = 0; block < 8; ++block)
    read(store, 3, block * kBlock, block * kBlock + 1);
  CHECK(one.unpacked == 8);
  read(store, 3, 0, 1);
  read(store, 3, 9 * kBlock, 9 * kBlock + 1);  // in place of the second, which was used first
  CHECK(one.unpacked == 9);
  read(store, 3, 0, 1);
  CHECK(one.unpacked == 9);
  read(store, 3, kBlock, kBlock + 1);
  CHECK(one.unpacked == 10);
}

TEST_CASE("a file that takes the place of another is read from then on") {
  const Letters one("aaaaaaaaaa"), other("bbbbbbbbbb");
  TextStore store;
  store.add(3, one.view);
  CHECK(read(store, 3, 0, 2) == "aa");

  store.add(3, other.view);

  CHECK(read(store, 3, 0, 2) == "bb");
}

TEST_CASE("threads read at the same time") {
  const Letters one(letters(26));
  TextStore store;
  store.add(3, one.view);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      Random random(seed);
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t start = random.below(250), end = start + random.below(260 - start);
        if (read(store, 3, start, end) != letters(26).substr(start, end - start)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();

  CHECK(wrong == 0);
}
