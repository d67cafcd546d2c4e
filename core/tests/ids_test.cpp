#include "storage/ids.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using gossamer::testing::Ids;
using gossamer::testing::reason_of;

namespace {

constexpr std::uint64_t kWide = std::uint64_t{1} << 40;

Ids all_of(const IdMap& map) {
  Ids ids;
  for (NodeId node = 0; node < map.size(); ++node) ids.push_back(map.id(node));
  return ids;
}

IdMap round_trip(const IdMap& map) { return IdMap::from_bytes(map.to_bytes(), map.size()); }

}  // namespace

TEST_CASE("ids in the order of nodes take no memory, whichever way they are given") {
  const IdMap identity = IdMap::identity(3);
  const IdMap listed(Ids{0, 1, 2});

  CHECK(identity.is_identity());
  CHECK(listed.is_identity());
  CHECK(listed.memory_bytes() == 0);
  CHECK(all_of(listed) == Ids{0, 1, 2});
  CHECK(listed.find(2) == NodeId{2});
  CHECK_FALSE(listed.find(3).has_value());
  CHECK_FALSE(listed.find(kWide).has_value());
}

TEST_CASE("narrow ids take four bytes and wide ones eight") {
  CHECK(IdMap(Ids{7, 0xffffffffu}).memory_bytes() == 8);
  CHECK(IdMap(Ids{7, 0x100000000u}).memory_bytes() == 16);
}

TEST_CASE("ids are found by their node and nodes by their id") {
  for (const Ids& ids : {Ids{5, 3, 9}, Ids{5, kWide, kMaxId}}) {
    IdMap map(ids);
    map.prepare_lookup(Bitmap(3));

    CHECK(all_of(map) == ids);
    for (NodeId node = 0; node < 3; ++node) CHECK(map.find(ids[node]) == node);
    CHECK_FALSE(map.find(0).has_value());
  }
}

TEST_CASE("an id that breaks the pattern, or is wide, leaves the others as they were") {
  IdMap map = IdMap::identity(2);
  map.set(2, 2);
  CHECK(map.is_identity());

  map.set(3, 10);
  map.set(4, kWide);
  map.set(5, 11);

  CHECK(all_of(map) == Ids{0, 1, 2, 10, kWide, 11});
  map.prepare_lookup(Bitmap(6));
  CHECK(map.find(kWide) == NodeId{4});
  CHECK(map.find(1) == NodeId{1});
}

TEST_CASE("a released id can be given to another node, and its node another id") {
  IdMap map(Ids{8, 6, 7});
  map.prepare_lookup(Bitmap(3));

  map.release(1);
  CHECK_FALSE(map.find(6).has_value());
  map.set(3, 6);
  map.set(1, 100);

  CHECK(map.find(6) == NodeId{3});
  CHECK(map.find(100) == NodeId{1});
  CHECK(all_of(map) == Ids{8, 100, 7, 6});
}

TEST_CASE("the id of a deleted node does not stand in the way of another's") {
  IdMap map(Ids{8, 6, 8});
  Bitmap deleted(3);
  deleted.insert(0);

  map.prepare_lookup(deleted);

  CHECK(map.find(8) == NodeId{2});
}

TEST_CASE("two live nodes with one id are refused") {
  IdMap map(Ids{8, 6, 8});

  CHECK(reason_of([&] { map.check_unique(); }) == "duplicate id");
  CHECK(reason_of([&] { map.prepare_lookup(Bitmap(3)); }) == "duplicate id");
  CHECK(reason_of([&] { IdMap(Ids{4, kWide, kWide}).check_unique(); }) == "duplicate id");
  CHECK(reason_of([&] { IdMap(Ids{4, kWide, 5}).check_unique(); }) == "none");
}

TEST_CASE("ids come back from as few bits as the largest needs") {
  for (const Ids& ids :
       {Ids{1, 0}, Ids{5, 3, 9, 0, 1, 2, 15}, Ids{kWide, 1}, Ids{~std::uint64_t{0} >> 1}}) {
    CHECK(all_of(round_trip(IdMap(ids))) == ids);
  }
  CHECK(IdMap(Ids{7, 6, 5, 4, 3, 2, 1, 0}).to_bytes().size() == 1 + 3);
}

TEST_CASE("ids that grow with gaps take a few bytes for each gap, and come back") {
  Ids ids;
  for (std::uint64_t id = 0; id < 100'000; ++id) {
    if (id % 1000 < 950) ids.push_back(id);
  }
  const IdMap map(ids);

  CHECK(map.to_bytes().size() < 400);
  CHECK(all_of(round_trip(map)) == ids);
}

TEST_CASE("runs may go back and reach the last id there is") {
  for (const Ids& ids : {Ids{50, 51, 52, 53, 0, 1, 2, 3},
                         Ids{kMaxId - 3, kMaxId - 2, kMaxId - 1, kMaxId, 0, 1, 2, 3, 4, 5, 6, 7}}) {
    const Bytes bytes = IdMap(ids).to_bytes();

    CHECK(bytes[0] == 0);
    CHECK(all_of(IdMap::from_bytes(bytes, ids.size())) == ids);
  }
}

TEST_CASE("the first id of an empty map may be wide") {
  IdMap map;

  map.set(0, kWide);
  map.set(1, 5);

  CHECK(all_of(map) == Ids{kWide, 5});
}

TEST_CASE("runs that are cut short, too long or out of range are refused") {
  const auto read = [](const Bytes& bytes) {
    return reason_of([&] { IdMap::from_bytes(bytes, 3); });
  };

  CHECK(read({0, 3, 20}) == "none");
  CHECK(read({0}) == "truncated");
  CHECK(read({0, 2, 20}) == "truncated");
  CHECK(read({0, 2, 20, 1}) == "truncated");
  CHECK(read({0, 4, 20}) == "damaged");
  CHECK(read({0, 0, 20, 3, 20}) == "damaged");
  CHECK(read({0, 3, 20, 1}) == "damaged");
  CHECK(read({0, 3, 1}) == "damaged");  // begins at -1
  // Begins at the last id, and goes on.
  CHECK(read({0, 3, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}) == "damaged");
}

TEST_CASE("bytes of ids with a wrong length or width are refused") {
  Bytes bytes = IdMap(Ids{7, 6, 5}).to_bytes();

  CHECK(reason_of([&] { IdMap::from_bytes({}, 3); }) == "truncated");
  CHECK(reason_of([&] { IdMap::from_bytes(bytes, 30); }) == "damaged");
  CHECK(reason_of([&] { IdMap::from_bytes(bytes, 1); }) == "damaged");
  bytes[0] = 65;
  CHECK(reason_of([&] { IdMap::from_bytes(bytes, 3); }) == "damaged");
}
