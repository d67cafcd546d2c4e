#include "base/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "index_fixture.h"

using namespace gossamer;
using gossamer::testing::reason_of;

TEST_CASE("every item is worked on once, by a worker that exists") {
  for (const unsigned threads : {0u, 1u, 3u, 16u}) {
    for (const std::size_t block : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> times(100);
      std::atomic<bool> is_known = true;

      parallel_for(times.size(), threads, block, [&](std::size_t item, unsigned worker) {
        ++times[item];
        if (worker >= std::max(threads, 1u)) is_known = false;
      });

      for (const std::atomic<int>& time : times) CHECK(time == 1);
      CHECK(is_known);
    }
  }
}

TEST_CASE("one thread works in order") {
  std::vector<std::size_t> order;

  parallel_for(5, 1, 2, [&](std::size_t item, unsigned) { order.push_back(item); });

  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("no items are no work") {
  parallel_for(0, 4, 1, [](std::size_t, unsigned) { FAIL("there was nothing to do"); });
}

TEST_CASE("a failure stops the rest and is thrown again where the work was started") {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<std::size_t> done = 0;

    const std::string reason = reason_of([&] {
      parallel_for(1'000'000, threads, 1, [&](std::size_t item, unsigned) {
        if (item == 10) fail(Reason::kCancelled, "enough");
        ++done;
      });
    });

    CHECK(reason == "cancelled");
    CHECK(done < 1'000'000);
  }
}

TEST_CASE("no number of threads means as many as there are") {
  CHECK(resolve_threads(0) >= 1);
  CHECK(resolve_threads(3) == 3);
}
