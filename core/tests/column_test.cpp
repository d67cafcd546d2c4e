#include "vectors/column.h"

#include <doctest/doctest.h>

using namespace gossamer;

TEST_CASE("a column over somebody's bytes reads them in place") {
  const Bytes bytes = {1, 2, 3, 4, 5, 6};

  const Column column(2, ByteView(bytes));

  CHECK(column.count() == 3);
  CHECK(column.share() == nullptr);
  CHECK(column.row(1) == bytes.data() + 2);
}

TEST_CASE("the first change makes a copy and leaves the bytes alone") {
  const Bytes bytes = {1, 2, 3, 4};
  const Bytes row = {9, 8};
  Column column(2, ByteView(bytes));

  column.set(0, row.data());

  CHECK(column.share() != nullptr);
  CHECK(Bytes(column.bytes().begin(), column.bytes().end()) == Bytes{9, 8, 3, 4});
  CHECK(bytes == Bytes{1, 2, 3, 4});
}

TEST_CASE("the row after the last is appended") {
  const Bytes row = {9, 8};
  Column column(2);

  for (NodeId node = 0; node < 100; ++node) column.set(node, row.data());

  CHECK(column.count() == 100);
  CHECK(column.row(99)[1] == 8);
}

TEST_CASE("rows without bytes have no count") { CHECK(Column(0).count() == 0); }

TEST_CASE("owned rows start at a cache line, many of them at a huge page") {
  for (const std::size_t size : {std::size_t{100}, std::size_t{5} << 20}) {
    const Column column(10, RowBytes(size));
    const auto address = reinterpret_cast<std::uintptr_t>(column.data());

    CHECK(address % (size < (std::size_t{4} << 20) ? 64 : std::size_t{2} << 20) == 0);
  }
}

TEST_CASE("rows that are taken come in the order given") {
  const Bytes bytes = {1, 2, 3, 4, 5, 6};
  const Column column(2, ByteView(bytes));

  const Column taken = column.take(std::vector<NodeId>{2, 0});

  CHECK(Bytes(taken.bytes().begin(), taken.bytes().end()) == Bytes{5, 6, 1, 2});
  CHECK(taken.share() != nullptr);
}
