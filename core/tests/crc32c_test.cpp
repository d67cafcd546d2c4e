#include "base/crc32c.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace gossamer;

namespace {

// RFC 3720, section B.4.
Bytes counting(std::uint8_t first, int step) {
  Bytes bytes(32);
  int value = first;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(value);
    value += step;
  }
  return bytes;
}

}  // namespace

TEST_CASE("checksums are those that the standard gives") {
  const Bytes digits = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};

  CHECK(crc32c({}) == 0);
  CHECK(crc32c(digits) == 0xe3069283u);
  CHECK(crc32c(Bytes(32, 0)) == 0x8a9136aau);
  CHECK(crc32c(Bytes(32, 0xff)) == 0x62a8ab43u);
  CHECK(crc32c(counting(0, 1)) == 0x46dd794eu);
  CHECK(crc32c(counting(31, -1)) == 0x113fdb5cu);
}

TEST_CASE("the instruction and the tables agree at every length and alignment") {
  Random random(1);
  Bytes bytes(300);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  for (std::size_t start = 0; start < 9; ++start) {
    for (std::size_t length = 0; length <= bytes.size() - start; ++length) {
      const ByteView part = ByteView(bytes).subspan(start, length);
      REQUIRE(crc32c(part) == crc32c_by_table(part));
    }
  }
}
