#include "text/decimal.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/random.h"

using namespace gossamer;

namespace {

void check_as_library(const std::string& written) {
  const double expected = std::strtod(written.c_str(), nullptr);
  if (std::bit_cast<std::uint64_t>(read_decimal(written)) != std::bit_cast<std::uint64_t>(expected))
    FAIL(written);
}

std::string random_digits(Random& random, std::uint64_t most) {
  std::string digits;
  for (std::uint64_t i = random.below(most) + 1; i > 0; --i)
    digits.push_back(static_cast<char>('0' + random.below(10)));
  return digits;
}

}  // namespace

TEST_CASE("a number that is written is the nearest double, to even where two are as near") {
  for (const char* written : {"0",
                              "-0",
                              "1",
                              "9.5",
                              ".5",
                              "5.",
                              "+7",
                              "0.1",
                              "1e22",
                              "1e23",
                              "8.5e-5",
                              "1e308",
                              "1e309",
                              "-1e400",
                              "1e-320",
                              "4.9e-324",
                              "2.4703282292062327e-324",
                              "2.4703282292062328e-324",
                              "2.2250738585072011e-308",
                              "2.2250738585072014e-308",
                              "1.7976931348623157e308",
                              "1.7976931348623159e308",
                              "9007199254740993",
                              "9007199254740992.99999999999999999999",
                              "9007199254740993.00000000000000000001",
                              "123456789012345678901234567890",
                              "1e-99999999999",
                              "1e99999999999",
                              "0e99999999999",
                              "00000.000001",
                              "1E+2",
                              "1e-0"})
    check_as_library(written);
  // Half-way between two doubles, and a digit that is not nothing far behind.
  const std::string half = "9007199254740993." + std::string(900, '0');
  check_as_library(half);
  check_as_library(half + "1");
}

TEST_CASE("numbers at random are what the library reads") {
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string written = random_digits(random, i % 50 == 0 ? 900 : 25);
    if (random.below(2) == 0) written += "." + random_digits(random, 25);
    if (random.below(2) == 0)
      written += "e" + std::to_string(static_cast<int>(random.below(700)) - 350);
    check_as_library(written);
  }
}

TEST_CASE("numbers next to each other stay apart") {
  Random random(4);
  for (int i = 0; i < 5'000; ++i) {
    const double value = std::abs(std::bit_cast<double>(random.next()));
    if (!std::isfinite(value)) continue;
    std::string written(32, '\0');
    written.resize(
        static_cast<std::size_t>(std::snprintf(written.data(), written.size(), "%.17g", value)));
    CHECK(read_decimal(written) == value);
  }
}
