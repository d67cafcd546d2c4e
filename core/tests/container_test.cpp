#include "storage/container.h"

#include <doctest/doctest.h>

#include "base/crc32c.h"
#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

Bytes joined(const std::vector<ByteView>& parts) {
  Bytes file;
  for (const ByteView part : parts) file.insert(file.end(), part.begin(), part.end());
  return file;
}

Bytes three_sections() {
  FileImage image;
  image.add(SectionKind::kMeta, {1, 2, 3});
  image.add(SectionKind::kIds, {});
  image.add(SectionKind::kCodes, Bytes(200, 9));
  return joined(image.finish());
}

template <class T>
void store(Bytes& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(value));
}

// Gives header and table the right checksums again, so that only what they say can be refused.
Bytes resealed(Bytes file) {
  std::uint32_t count = 0;
  std::memcpy(&count, file.data() + 12, sizeof(count));
  store(file, 24, crc32c(ByteView(file).subspan(kHeaderBytes, count * kEntryBytes)));
  store(file, 28, crc32c(ByteView(file).first(28)));
  return file;
}

std::string parse(const Bytes& file) {
  return reason_of([&] { Container::parse(file); });
}

// One index with every kind of section.
Bytes whole_file(Keep keep, GraphKind graph) {
  const World world(30, 4, Metric::kInnerProduct);
  IndexOptions options = small_options(world, keep, graph);
  options.keep_source = keep == Keep::kAll && graph == GraphKind::kSlim;
  BuildRun run;
  run.calibration_queries = 10;
  const auto index = Index::build(options, world.codebook, world.vectors.data(), world.count(),
                                  nullptr, nullptr, 0, run, nullptr);
  index->remove(Ids{3, 8});
  add_to(*index, Model(world), Ids{1000}, world.vector(3));
  return saved(*index);
}

// Opens, and reads all that is not read on opening.
std::string read_all(const Bytes& file) {
  return reason_of([&] { Index::open(file, nullptr)->verify(); });
}

}  // namespace

TEST_CASE("sections come back as they were written, each at a multiple of 64 bytes") {
  const Bytes file = three_sections();

  const Container container = Container::parse(file);

  CHECK(Bytes(container.required(SectionKind::kMeta).begin(),
              container.required(SectionKind::kMeta).end()) == Bytes{1, 2, 3});
  CHECK(container.verified(SectionKind::kCodes).size() == 200);
  CHECK((container.bytes(SectionKind::kCodes).data() - file.data()) % 64 == 0);
  CHECK(container.has(SectionKind::kIds));
  CHECK(container.verified(SectionKind::kIds).empty());
  CHECK_FALSE(container.has(SectionKind::kGraph));
  CHECK(container.bytes(SectionKind::kGraph).empty());
  CHECK(reason_of([&] { container.required(SectionKind::kGraph); }) == "damaged");
}

TEST_CASE("sections of the product are passed over, and checked like others") {
  FileImage image;
  image.add(static_cast<SectionKind>(kFirstProductKind), {4, 5});
  image.add(SectionKind::kMeta, {1, 2, 3});
  image.add(static_cast<SectionKind>(kLastProductKind), {});
  Bytes file = joined(image.finish());

  const Container container = Container::parse(file);

  CHECK(container.required(SectionKind::kMeta).size() == 3);
  CHECK(container.verified(static_cast<SectionKind>(kFirstProductKind)).size() == 2);
  CHECK(container.has(static_cast<SectionKind>(kLastProductKind)));
  container.verify_all();
  file[static_cast<std::size_t>(container.entries()[0].offset)] = 9;
  CHECK(reason_of([&] { Container::parse(file).verify_all(); }) == "damaged");
}

TEST_CASE("every truncation of a file is refused when it is opened") {
  const Bytes file = whole_file(Keep::kAll, GraphKind::kNone);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<long>(size));
    CHECK(reason_of([&] { Index::open(cut, nullptr); }) == "truncated");
  }
}

TEST_CASE("a file that is too long, of another kind or of another version is refused") {
  Bytes longer = three_sections();
  longer.push_back(0);
  Bytes other = three_sections();
  other[3] = 'X';
  Bytes newer = three_sections();
  newer[8] = 2;

  CHECK(parse(longer) == "damaged");
  CHECK(parse(other) == "not gossamer");
  CHECK(parse(Bytes{'P', 'K', 3, 4}) == "not gossamer");
  CHECK(parse(newer) == "unknown version");
  CHECK(parse({}) == "truncated");
}

TEST_CASE("a flipped bit of header, table or meta is found when the file is opened") {
  const Bytes file = whole_file(Keep::kNone, GraphKind::kFull);
  const ByteView section = Container::parse(file).bytes(SectionKind::kMeta);
  const auto meta = static_cast<std::size_t>(section.data() - file.data());
  const std::size_t table_end = kHeaderBytes + file[12] * kEntryBytes;
  for (std::size_t at = 0; at < meta + section.size(); ++at) {
    if ((at >= 32 && at < kHeaderBytes) || (at >= table_end && at < meta)) continue;  // unused
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes flipped = file;
      flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ (1u << bit));
      const std::string expected = at < 8    ? "not gossamer"
                                   : at < 12 ? "unknown version"
                                             : "damaged";
      CHECK(reason_of([&] { Index::open(flipped, nullptr); }) == expected);
    }
  }
}

TEST_CASE("a flipped bit of any section is found by verifying, or before") {
  for (const auto& [keep, graph] :
       {std::pair(Keep::kAll, GraphKind::kNone), std::pair(Keep::kHot, GraphKind::kNone)}) {
    const Bytes file = whole_file(keep, graph);
    const Container container = Container::parse(file);
    for (const SectionKind kind : {SectionKind::kMeta, SectionKind::kCodebook, SectionKind::kCodes,
                                   SectionKind::kVectors, SectionKind::kHotNodes, SectionKind::kIds,
                                   SectionKind::kDeleted, SectionKind::kCalibration}) {
      const ByteView section = container.bytes(kind);
      const auto start =
          section.empty() ? 0 : static_cast<std::size_t>(section.data() - file.data());
      for (std::size_t i = 0; i < section.size(); i += 1 + section.size() / 50) {
        Bytes flipped = file;
        flipped[start + i] = static_cast<std::uint8_t>(flipped[start + i] ^ 4u);
        CHECK(read_all(flipped) == "damaged");
      }
    }
  }
}

TEST_CASE("damage that opening does not meet is found by the first search, change or save") {
  const World world(30, 4, Metric::kInnerProduct);
  const IndexOptions options = small_options(world, Keep::kAll, GraphKind::kFull);
  const Bytes file = saved(*build_small(world, options));
  const auto damaged = [&](SectionKind kind) {
    Bytes flipped = file;
    const ByteView section = Container::parse(file).bytes(kind);
    flipped[static_cast<std::size_t>(section.data() - file.data())] ^= 1;
    return flipped;
  };
  const Bytes codes = damaged(SectionKind::kCodes);
  const Bytes graph = damaged(SectionKind::kGraph);
  const Bytes ids = damaged(SectionKind::kIds);
  const Bytes vectors = damaged(SectionKind::kVectors);
  const auto search = [&](const Bytes& bytes, Strategy strategy) {
    const auto index = Index::open(bytes, nullptr);
    return reason_of([&] { SearchBatch(*index, world.query(0), 1, request_of(3, strategy)); });
  };

  CHECK(search(codes, Strategy::kScan) == "damaged");
  CHECK(search(graph, Strategy::kBestFirst) == "damaged");
  CHECK(search(graph, Strategy::kScan) == "none");
  CHECK(search(ids, Strategy::kExact) == "damaged");
  CHECK(reason_of([&] { saved(*Index::open(vectors, nullptr)); }) == "damaged");
  CHECK(reason_of([&] { Index::open(vectors, nullptr)->add(Ids{99}, world.vector(0), nullptr); }) ==
        "damaged");
}

TEST_CASE("a table that cannot be is refused though its checksum is right") {
  const std::size_t second = kHeaderBytes + kEntryBytes;
  Bytes twice = three_sections();
  store<std::uint32_t>(twice, second, 1);
  Bytes unknown = three_sections();
  store<std::uint32_t>(unknown, second, 99);
  Bytes outside = three_sections();
  store<std::uint64_t>(outside, second + 8, 1 << 20);
  Bytes crooked = three_sections();
  store<std::uint64_t>(crooked, second + 8, 65);
  Bytes endless = three_sections();
  store<std::uint64_t>(endless, second + 16, ~std::uint64_t{0});
  Bytes crowded = three_sections();
  store<std::uint32_t>(crowded, 12, 65);
  store(crowded, 28, crc32c(ByteView(crowded).first(28)));

  CHECK(parse(resealed(twice)) == "damaged");
  CHECK(parse(resealed(unknown)) == "unknown version");
  CHECK(parse(resealed(outside)) == "damaged");
  CHECK(parse(resealed(crooked)) == "damaged");
  CHECK(parse(resealed(endless)) == "damaged");
  CHECK(parse(crowded) == "damaged");
}
