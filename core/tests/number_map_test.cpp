#include "base/number_map.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "base/sort.h"

using namespace gossamer;

TEST_CASE("a map of numbers holds what a standard map holds, whatever is put in and taken out") {
  NumberMap map;
  std::map<std::uint64_t, std::uint64_t> reference;
  Random random(1);

  for (std::uint64_t step = 0; step < 20000; ++step) {
    // Some keys far apart, most of them close together.
    const std::uint64_t key = random.below(3) == 0 ? random.below(50) << 55 : random.below(500);
    switch (random.below(3)) {
      case 0:
        CHECK(map.insert(key, step) == reference.emplace(key, step).second);
        break;
      case 1:
        map.set(key, step);
        reference[key] = step;
        break;
      default:
        map.erase(key);
        reference.erase(key);
    }
    REQUIRE(map.size() == reference.size());
  }

  for (std::uint64_t key = 0; key < 500; ++key) CHECK(map.contains(key) == reference.contains(key));
  for (const auto& [key, value] : reference) {
    REQUIRE(map.contains(key));
    CHECK(*map.find(key) == value);
  }
}

TEST_CASE("an empty map of numbers finds nothing, also after it was cleared") {
  NumberMap map;
  map.erase(7);
  CHECK(!map.contains(0));

  map.insert(7, 1);
  map.clear();

  CHECK(map.empty());
  CHECK(!map.contains(7));
  CHECK(map.insert(7, 2));
}

TEST_CASE("sorting by gaps gives what the library gives") {
  Random random(1);
  for (const std::size_t count : {0u, 1u, 2u, 17u, 1000u, 5000u}) {
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t& value : values) value = random.below(2000);
    std::vector<std::uint64_t> expected = values;
    std::sort(expected.begin(), expected.end());

    sort_by_gaps(values.begin(), values.end());

    CHECK(values == expected);
  }
}

TEST_CASE("the number that stands for a free place is no key") {
  NumberMap map;
  map.insert(1, 2);

  CHECK_FALSE(map.contains(~std::uint64_t{0}));
}
