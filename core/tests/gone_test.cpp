#include "store/gone.h"

#include <doctest/doctest.h>

#include <vector>

#include "index_fixture.h"
#include "store/gaps.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

GoneSource gone_source(std::size_t number) {
  return {number, 2 * number, 2, 5 * number, number % 3};
}

std::vector<std::size_t> numbers_of(const GoneSources& gone, std::uint64_t segment) {
  std::vector<std::size_t> numbers;
  for (const GoneSource& one : gone.of(segment)) {
    CHECK(one.first_document == 2 * one.source);
    CHECK(one.chunks == one.source % 3);
    numbers.push_back(one.source);
  }
  return numbers;
}

}  // namespace

TEST_CASE("sources that are gone are read as they were written, and joined with others") {
  GoneSources newer, older;
  for (const std::size_t number : {5, 1, 5}) newer.add(7, gone_source(number));
  older.add(7, gone_source(2));
  older.add(3, gone_source(0));
  older.add(4, gone_source(9));
  const std::vector<std::uint64_t> kept = {3, 7};
  newer.add_all(older, kept);

  const GoneSources gone = GoneSources::read(newer.pack(kRuns), Origin::kOther, kRuns);

  CHECK(numbers_of(gone, 7) == std::vector<std::size_t>{1, 2, 5});
  CHECK(numbers_of(gone, 3) == std::vector<std::size_t>{0});
  CHECK(gone.of(4).empty());
  CHECK(GoneSources::read(GoneSources().pack(kRuns), Origin::kOther, kRuns).empty());
}

TEST_CASE("changed bytes give a set or an error") {
  GoneSources gone;
  for (std::size_t i = 0; i < 50; ++i) gone.add(1 + i % 3, gone_source(7 * i));
  const Bytes whole = gone.pack(kRuns);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x81;
    reason_of([&] { GoneSources::read(bytes, Origin::kOther, kRuns); });
  }
}

TEST_CASE("what is left counts without the gaps, and back") {
  Gaps gaps;
  gaps.add(0, 2);
  gaps.add(5, 1);
  gaps.add(6, 3);
  gaps.add(12, 0);
  const std::vector<std::size_t> left = {2, 3, 4, 9, 10, 11};

  CHECK(gaps.removed() == 6);
  CHECK(gaps.end() == 9);
  for (std::size_t i = 0; i < left.size(); ++i) {
    CHECK(gaps.row_of(i) == left[i]);
    CHECK(gaps.left_of(left[i]) == i);
    CHECK(!gaps.has(left[i]));
  }
  for (const std::size_t row : {0, 1, 5, 6, 7, 8}) CHECK(gaps.has(row));
  CHECK(gaps.between(12) == std::vector<std::pair<std::size_t, std::size_t>>{{2, 5}, {9, 12}});
  CHECK(Gaps().row_of(7) == 7);
  CHECK(reason_of([&] { gaps.add(8, 1); }) == "damaged");
}
