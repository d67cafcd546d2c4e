// Any bytes: an Error or an index that can be searched, changed and saved; never a crash, a hang
// or more memory than the bytes account for.
//
// Checksums would stop nearly every change, so the first byte says what follows it: a file as it
// is (0), a file whose checksums are made right (1), or changes to a file that was just saved (2
// and 3), which are four bytes each: two for the place, one for the value, one for the width.
// What begins like a file is taken as one.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codes/codebook_bytes.h"
#include "fuzz/input.h"
#include "fuzz/mend.h"
#include "index/model_pack.h"
#include "tests/index_fixture.h"

using namespace gossamer;
using namespace gossamer::fuzz;
using namespace gossamer::testing;

namespace {

// Searches and updates of what claims to be larger than this take too long to be tried.
constexpr std::size_t kMostNumbers = 1 << 20;
constexpr std::size_t kMostRounds = 32;

std::string last_error;

std::vector<Bytes> make_files() {
  std::vector<Bytes> files;
  const World world(40, 4, Metric::kInnerProduct);
  BuildRun run;
  run.calibration_queries = 16;
  for (const Keep keep : kKeeps) {
    for (const GraphKind graph : kGraphs) {
      IndexOptions options = small_options(world, keep, graph);
      options.keep_source = graph == GraphKind::kSlim && keep == Keep::kAll;
      const auto index = Index::build(options, world.codebook, world.vectors.data(), world.count(),
                                      nullptr, nullptr, 0, run, nullptr);
      index->remove(Ids{2, 3, 30});
      files.push_back(saved(*index));
    }
  }
  return files;
}

// The codebook's own hash, and the one that the index knows it by.
void mend_codebook(Bytes& file, const std::vector<Section>& sections) {
  constexpr std::size_t kFingerprintOffset = 24;
  std::uint64_t hash = 0;
  for (const Section& section : sections) {
    if (section.kind != static_cast<std::uint32_t>(SectionKind::kCodebook)) continue;
    if (section.length < sizeof(hash)) return;
    const std::size_t end = section.length - sizeof(hash);
    hash = fnv1a(ByteView(file).subspan(section.offset, end));
    store(file, section.offset + end, hash);
  }
  for (const Section& section : sections) {
    if (section.kind != static_cast<std::uint32_t>(SectionKind::kMeta)) continue;
    if (section.length < kFingerprintOffset + sizeof(hash)) continue;
    if (hash != 0) store(file, section.offset + kFingerprintOffset, hash);
  }
}

// Makes all that checks the whole right, so that what is wrong must be found by its meaning.
void mend(Bytes& file) {
  const std::vector<Section> sections = mend_header(file);
  mend_codebook(file, sections);
  mend_checksums(file, sections);
}

Bytes changed_file(ByteView changes) {
  static const std::vector<Bytes> files = make_files();
  if (changes.empty()) return files.front();
  Bytes file = files[changes[0] % files.size()];
  for (std::size_t i = 1; i + 4 <= changes.size(); i += 4) {
    const std::size_t at = static_cast<std::size_t>(changes[i] | changes[i + 1] << 8) % file.size();
    const std::size_t width = std::min<std::size_t>(1 + changes[i + 3] % 8, file.size() - at);
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), width, changes[i + 2]);
  }
  return file;
}

Bytes file_of(ByteView input) {
  const bool is_file =
      input.size() >= kMagic.size() && std::memcmp(input.data(), kMagic.data(), kMagic.size()) == 0;
  if (is_file || input.empty()) return Bytes(input.begin(), input.end());
  const unsigned mode = input[0] % 4;
  const ByteView rest = input.subspan(1);
  Bytes file = mode >= 2 ? changed_file(rest) : Bytes(rest.begin(), rest.end());
  if (mode > 0) mend(file);
  return file;
}

// Runs an action that may be refused, but by an Error only.
template <class Action>
bool try_to(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    last_error = error.what();
    return false;
  }
  return true;
}

void search(const Index& index, Strategy strategy) {
  const std::vector<float> query(index.options().dim, 0.0f);
  SearchRequest request;
  request.k = 5;
  request.strategy = strategy;
  SearchBatch found(index, query.data(), 1, request);
  for (std::size_t round = 0; round < kMostRounds && !found.wanted().empty(); ++round) {
    const std::size_t numbers = found.wanted().size() * index.options().dim;
    if (numbers > kMostNumbers) return;
    const std::size_t count = found.wanted().size();
    const auto missing = std::make_unique<bool[]>(count);
    for (std::size_t i = 0; i < count; ++i) missing[i] = found.wanted()[i] % 5 == 0;
    found.supply(std::vector<float>(numbers, 0.0f), {missing.get(), count});
  }
  if (!found.wanted().empty()) return;
  require(found.nearest(0).size() <= 5, "a search gives no more hits than asked for");
}

void update(Index& index) {
  const std::vector<float> vector(index.options().dim, 0.5f);
  const Ids ids = index.ids();
  if (!ids.empty()) {
    try_to([&] { index.remember(Ids{ids[0]}, vector.data()); });
    try_to([&] { index.remove(Ids{ids[ids.size() / 2]}); });
  }
  try_to([&] {
    if (!ids.empty()) index.add_codes(Ids{kMaxId - 1}, index.codes_of(Ids{ids[0]}));
  });
  const Ids fresh{kMaxId};
  if (!try_to([&] { index.add(fresh, vector.data(), nullptr); })) {
    try_to([&] { index.begin_add(fresh, vector.data())->finish(); });
  }
  try_to([&] { index.compact(1); });
}

void use(Index& index) {
  try_to([&] { index.stats(); });
  const bool is_sound = try_to([&] { index.verify(); });
  try_to([&] { index.contains(7); });
  if (index.count() * index.options().dim > kMostNumbers) return;
  try_to([&] { search(index, Strategy::kAuto); });
  for (const Strategy strategy : kStrategies) try_to([&] { search(index, strategy); });
  Bytes file;
  if (!try_to([&] { file = saved(index); })) {
    require(!is_sound, "what was verified can be saved", last_error);
    return;
  }
  require(try_to([&] { Index::open(file, nullptr)->verify(); }), "what was saved can be opened",
          last_error);
  update(index);
  for (const Strategy strategy : kStrategies) try_to([&] { search(index, strategy); });
  if (try_to([&] { file = saved(index); })) {
    require(try_to([&] { Index::open(file, nullptr)->verify(); }), "changes can be saved, opened",
            last_error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file = file_of({data, size});
  std::unique_ptr<Index> index;
  if (try_to([&] { index = Index::open(file, nullptr); })) use(*index);
  try_to([&] {
    const ModelPack pack = ModelPack::from_bytes(file);
    require(ModelPack::from_bytes(pack.to_bytes()).codebook->dim() == pack.codebook->dim(),
            "what was unpacked can be packed");
  });
  return 0;
}
