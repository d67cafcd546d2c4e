#include "search/calibration.h"

#include <doctest/doctest.h>

#include <limits>

#include "index_fixture.h"

using namespace gossamer;
using gossamer::testing::reason_of;

namespace {

Effort beam_of(std::uint32_t beam) {
  Effort effort;
  effort.beam = beam;
  return effort;
}

// Three recalls for each of two k, the larger of which needs twice the beam.
Calibration two_tables() {
  Calibration calibration;
  for (const std::uint32_t k : {1u, 100u}) {
    const std::uint32_t times = k == 1 ? 1 : 2;
    calibration.add({Strategy::kBestFirst,
                     k,
                     {{0.5f, beam_of(10 * times), 20},
                      {0.9f, beam_of(50 * times), 90},
                      {0.99f, beam_of(200 * times), 300}}});
  }
  return calibration;
}

std::uint32_t beam_for(const Calibration& calibration, std::size_t k, double recall) {
  return calibration.effort_for(Strategy::kBestFirst, k, recall, 1000)->beam;
}

}  // namespace

TEST_CASE("more recall never takes less effort, for any k") {
  const Calibration calibration = two_tables();
  for (const std::size_t k : {1, 7, 10, 100, 5000}) {
    std::uint32_t before = 0;
    for (double recall = 0.3; recall <= 1.0; recall += 0.01) {
      const std::uint32_t beam = beam_for(calibration, k, recall);
      CHECK(beam >= before);
      before = beam;
    }
  }
}

TEST_CASE("an effort between two that were measured lies between them") {
  const Calibration calibration = two_tables();

  CHECK(beam_for(calibration, 1, 0.9) == 50);
  CHECK(beam_for(calibration, 1, 0.7) == 30);
  CHECK(beam_for(calibration, 10, 0.9) == 75);
  CHECK(beam_for(calibration, 100, 0.7) == 60);
}

TEST_CASE("beyond what was measured the nearest measured effort serves") {
  const Calibration calibration = two_tables();

  CHECK(beam_for(calibration, 1, 0.1) == 10);
  CHECK(beam_for(calibration, 1, 1.0) == 200);
  CHECK(beam_for(calibration, 1000, 0.99) == 400);
  CHECK_FALSE(calibration.effort_for(Strategy::kScan, 10, 0.9, 1000).has_value());
}

TEST_CASE("tables come back from their bytes as they were") {
  const Calibration calibration = two_tables();

  const Bytes bytes = calibration.to_bytes();
  const Calibration again = Calibration::from_bytes(bytes);

  CHECK(again.to_bytes() == bytes);
  REQUIRE(again.tables().size() == 2);
  CHECK(again.tables()[1].k == 100);
  CHECK(again.tables()[1].entries[2].effort.beam == 400);
  CHECK(again.tables()[1].entries[2].recall == 0.99f);
  CHECK(again.tables()[0].entries[1].cost == 90);
}

TEST_CASE("the margin of a scan grows with the number of vectors, where tables say how much") {
  Calibration calibration = two_tables();
  calibration.add({Strategy::kScan, 10, {{0.9f, Effort{0, 4.0f}, 20}}});
  const auto margin = [&](std::size_t count) {
    return calibration.effort_for(Strategy::kScan, 10, 0.9, count)->margin;
  };
  CHECK(margin(1) == 4.0f);

  calibration.set_growth({1000, 0.5f});

  CHECK(margin(1000) == 4.0f);
  CHECK(margin(2718) == doctest::Approx(4.5).epsilon(1e-4));
  CHECK(margin(368) == doctest::Approx(3.5).epsilon(1e-3));
  CHECK(margin(0) == margin(1));
  CHECK(beam_for(calibration, 1, 0.9) == 50);
  const Calibration again = Calibration::from_bytes(calibration.to_bytes());
  REQUIRE(again.growth().has_value());
  CHECK(again.growth()->count == 1000);
  CHECK(again.growth()->margin == 0.5f);
}

TEST_CASE("a growth that is cut short or out of bounds is refused") {
  Calibration calibration = two_tables();
  calibration.set_growth({1000, 0.5f});
  const Bytes bytes = calibration.to_bytes();
  const auto with = [&](std::uint64_t count, float margin) {
    Calibration changed = two_tables();
    changed.set_growth({count, margin});
    return reason_of([&] { Calibration::from_bytes(changed.to_bytes()); });
  };

  for (std::size_t left = 1; left < 12; ++left) {
    CHECK(reason_of([&] {
            Calibration::from_bytes(ByteView(bytes).first(bytes.size() - 12 + left));
          }) == "truncated");
  }
  CHECK(with(0, 0.5f) == "damaged");
  CHECK(with(1, 9.0f) == "damaged");
  CHECK(with(1, std::numeric_limits<float>::quiet_NaN()) == "damaged");
}

TEST_CASE("bytes of tables that are cut short, too long or out of bounds are refused") {
  const Bytes bytes = two_tables().to_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(reason_of([&] { Calibration::from_bytes(ByteView(bytes).first(size)); }) == "truncated");
  }
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = bytes;
    changed[at] = value;
    return reason_of([&] { Calibration::from_bytes(changed); });
  };
  Bytes longer = bytes;
  longer.push_back(0);

  CHECK(reason_of([&] { Calibration::from_bytes(longer); }) == "truncated");
  CHECK(with(2, 1) == "damaged");      // 65,536 tables and more
  CHECK(with(4, 7) == "damaged");      // no such strategy
  CHECK(with(5, 0) == "damaged");      // k is 0
  CHECK(with(11, 1) == "damaged");     // 65,536 entries and more
  CHECK(with(16, 0x7f) == "damaged");  // a recall far above 1
}

TEST_CASE("of several curves the cheapest that reaches a recall is taken") {
  const std::vector<std::vector<Trial>> curves = {
      {{beam_of(10), 0.6, 100}, {beam_of(20), 0.8, 200}},
      {{beam_of(1000), 0.6, 50}, {beam_of(2000), 0.8, 500}, {beam_of(3000), 0.975, 900}},
  };

  const auto entries = choose_efforts(curves);

  REQUIRE(entries.size() >= 5);
  CHECK(entries.front().effort.beam == 1000);
  CHECK(entries[2].recall == 0.70f);
  CHECK(entries[2].effort.beam == 15);
  CHECK(entries.back().recall == 0.97f);
  CHECK(entries.back().effort.beam > 2900);
}

TEST_CASE("where no trial reaches even the lowest recall, the largest effort is kept") {
  const std::vector<std::vector<Trial>> curves = {{{beam_of(10), 0.1, 1}, {beam_of(20), 0.2, 2}}};

  const auto entries = choose_efforts(curves);

  REQUIRE(entries.size() == 1);
  CHECK(entries[0].effort.beam == 20);
  CHECK(choose_efforts({}).empty());
}
