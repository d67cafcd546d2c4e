#include "store/segment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "index_fixture.h"
#include "store/walk.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

std::vector<SourceRecord> sources_of(int count) {
  std::vector<SourceRecord> sources;
  for (int i = 0; i < count; ++i) sources.push_back(file_of(i));
  std::sort(sources.begin(), sources.end(),
            [](const SourceRecord& a, const SourceRecord& b) { return name_of(a) < name_of(b); });
  return sources;
}

Bytes segment_of(const std::vector<SourceRecord>& sources, const Codec& codec = kRuns) {
  SegmentWriter writer(codec);
  for (const SourceRecord& source : sources) writer.add(source);
  FileImage image;
  writer.finish(image);
  Bytes file;
  for (const ByteView part : image.finish()) file.insert(file.end(), part.begin(), part.end());
  return file;
}

}  // namespace

TEST_CASE("every source of a segment is found by its name and by its number") {
  const std::vector<SourceRecord> sources = sources_of(5000);
  const Bytes file = segment_of(sources);

  const SegmentView view(Container::parse(file), Origin::kOther, kRuns);

  CHECK(view.counts() == Counts{5000, 5000, 15000});
  CHECK(view.group_count() == 8);
  for (std::size_t number = 0; number < sources.size(); number += 7) {
    const auto found = view.find(name_of(sources[number]));
    REQUIRE(found);
    expect_equal(found->group->rows.source(found->row), sources[number]);
    CHECK(found->group->before.sources + found->row == number);
    CHECK(view.source(number).row == found->row);
    CHECK(view.group_of_chunk(3 * number + 2) == found->group);
  }
}

TEST_CASE("what is not in a segment is not found") {
  const Bytes file = segment_of(sources_of(50));
  const SegmentView view(Container::parse(file), Origin::kOther, kRuns);

  CHECK(!view.find({"", false}));
  CHECK(!view.find({"/home/ada/notes/1.md", false}));  // a text of that id
  CHECK(!view.find({"/home/ada/notes/1.m", true}));
  CHECK(!view.find({"zzz", true}));
  CHECK(!SegmentView(Container::parse(segment_of({})), Origin::kOther, kRuns).find({"a", true}));
}

TEST_CASE("a lookup reads one group of a segment") {
  std::vector<Bytes> shelf;  // what is packed lies there
  int unpacked = 0;
  const Codec counting{[&](ByteView bytes) {
                         shelf.emplace_back(bytes.begin(), bytes.end());
                         return Bytes{static_cast<std::uint8_t>(shelf.size() - 1)};
                       },
                       [&](ByteView packed, std::span<std::uint8_t> bytes) {
                         ++unpacked;
                         std::copy_n(shelf[packed[0]].begin(), bytes.size(), bytes.begin());
                         return true;
                       }};
  const Bytes file = segment_of(sources_of(5000), counting);
  const SegmentView view(Container::parse(file), Origin::kOther, counting);
  unpacked = 0;

  view.find(name_of(file_of(1)));
  const int one = unpacked;
  view.find(name_of(file_of(1)));

  CHECK(one == 1);
  CHECK(unpacked == one);
  for (std::size_t i = 0; i < view.group_count(); ++i) view.read_apart(i);
  CHECK(unpacked == 1 + 8);
}

TEST_CASE("a segment lets groups go that nobody holds") {
  const Bytes file = segment_of(sources_of(30000));
  const SegmentView view(Container::parse(file), Origin::kOwn, kRuns);
  REQUIRE(view.group_count() > 20);
  const std::weak_ptr<const Group> first = view.group(0);
  const std::shared_ptr<const Group> second = view.group(1);

  for (std::size_t number = 0; number < view.group_count(); ++number) view.group(number);

  CHECK(first.expired());
  CHECK(view.group(1) == second);
}

TEST_CASE("sources out of order are refused") {
  SegmentWriter writer(kRuns);
  writer.add(file_of(2));

  CHECK(reason_of([&] { writer.add(file_of(1)); }) == "invalid argument");
  CHECK(reason_of([&] { writer.add(file_of(2)); }) == "invalid argument");
}

TEST_CASE("a byte that changed anywhere in a segment is noticed") {
  const Bytes whole = segment_of(sources_of(40));
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    Bytes file = whole;
    file[at] ^= 0x10;
    const std::string reason = reason_of([&] {
      const SegmentView view(Container::parse(file), Origin::kOther, kRuns);
      for (std::size_t i = 0; i < view.group_count(); ++i) view.read_apart(i);
      // Bytes between sections mean nothing.
      CHECK(view.counts() == Counts{40, 40, 120});
    });
    CHECK(reason != "too large");
  }
}

TEST_CASE("a walk goes through the live sources of all segments in the order of their names") {
  const std::vector<SourceRecord> all = sources_of(300);
  std::vector<SourceRecord> parts[3];
  for (std::size_t i = 0; i < all.size(); ++i) parts[i % 7 % 3].push_back(all[i]);
  parts[2].insert(parts[2].begin(), parts[0].begin(), parts[0].begin() + 5);  // in place of these
  std::sort(parts[2].begin(), parts[2].end(),
            [](const SourceRecord& a, const SourceRecord& b) { return name_of(a) < name_of(b); });
  Gaps gone, none;
  gone.add(0, 5);
  const Bytes files[] = {segment_of(parts[0]), segment_of(parts[1]), segment_of(parts[2])};
  std::vector<std::unique_ptr<SegmentView>> views;
  for (const Bytes& file : files)
    views.push_back(std::make_unique<SegmentView>(Container::parse(file), Origin::kOwn, kRuns));
  const std::vector<LiveSegment> segments = {
      {views[0].get(), &gone}, {views[1].get(), &none}, {views[2].get(), &none}};

  SourceWalk walk(segments);

  for (const SourceRecord& expected : all) {
    const auto stop = walk.next();
    REQUIRE(stop);
    expect_equal(stop->group->rows.source(stop->row), expected);
  }
  CHECK(!walk.next());
  const std::vector<LiveSegment> twice = {{views[0].get(), &none}, {views[2].get(), &none}};
  SourceWalk wrong(twice);
  CHECK(reason_of([&] {
          while (wrong.next()) {
          }
        }) == "damaged");
}

TEST_CASE("the groups of a stranger's segment have one budget, however small each is") {
  std::vector<SourceRecord> sources;
  for (int i = 0; i < 3; ++i) {
    SourceRecord source = file_of(i);
    DocumentRecord& document = source.documents[0];
    document.first_chunk = 10'000 * i;
    document.places.assign(2'200'000, {0, 0});  // which take no bytes
    document.chunks.assign(2048, {{{0, 300}, {}}, 0});
    sources.push_back(source);
  }
  const Bytes file = segment_of(sources);
  const SegmentGroups groups(Container::parse(file), Origin::kOther, kRuns);

  std::uint64_t budget = groups.budget();

  CHECK(groups.group_count() == 3);
  CHECK(groups.read_apart(0, &budget)->sources.size() == 1);
  CHECK(reason_of([&] {
          groups.read_apart(1, &budget);
          groups.read_apart(2, &budget);
        }) == "damaged");
}
