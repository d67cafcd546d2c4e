#include "base/bytes.h"

#include <doctest/doctest.h>

#include <limits>

#include "index_fixture.h"

using namespace gossamer;
using gossamer::testing::reason_of;

TEST_CASE("what was written is read back") {
  ByteWriter writer;
  writer.put<std::uint16_t>(513);
  writer.put(1.5f);
  const std::vector<std::int32_t> numbers = {-1, 7};
  writer.put_array(std::span<const std::int32_t>(numbers));
  const Bytes bytes = writer.take();

  ByteReader reader(bytes, "test");

  CHECK(bytes[0] == 1);
  CHECK(reader.get<std::uint16_t>() == 513);
  CHECK(reader.get<float>() == 1.5f);
  CHECK(reader.get_array<std::int32_t>(2) == numbers);
  CHECK(reader.remaining() == 0);
  reader.expect_end();
}

TEST_CASE("numbers of any size survive as varints") {
  const std::vector<std::uint64_t> values = {
      0, 1, 127, 128, 16383, 16384, 1ull << 32, std::numeric_limits<std::uint64_t>::max()};
  ByteWriter writer;
  for (const std::uint64_t value : values) writer.put_varint(value);
  const Bytes bytes = writer.take();

  ByteReader reader(bytes, "test");

  for (const std::uint64_t value : values) CHECK(reader.get_varint() == value);
  reader.expect_end();
}

TEST_CASE("reading past the end fails, whatever is read") {
  const Bytes bytes = {1, 2, 3};
  const auto read = [&](auto action) {
    ByteReader reader(bytes, "test");
    return reason_of([&] { action(reader); });
  };

  CHECK(read([](ByteReader& in) { in.get<std::uint32_t>(); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.take(4); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.take(~std::size_t{0}); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.get_array<std::uint16_t>(2); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.get_array<float>(~std::uint64_t{0}); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.get_array<float>(1ull << 62); }) == "truncated");
  CHECK(read([](ByteReader& in) { in.expect_end(); }) == "damaged");
}

TEST_CASE("a varint that is cut short or never ends is refused") {
  const Bytes cut = {0x80, 0x80};
  const Bytes endless(11, 0x80);

  CHECK(reason_of([&] { ByteReader(cut, "test").get_varint(); }) == "truncated");
  CHECK(reason_of([&] { ByteReader(endless, "test").get_varint(); }) == "damaged");
}

TEST_CASE("nothing can be read from nothing but an empty array") {
  ByteReader reader({}, "test");

  CHECK(reader.get_array<double>(0).empty());
  CHECK(reason_of([&] { reader.get<std::uint8_t>(); }) == "truncated");
}
