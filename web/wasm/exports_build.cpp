// What gossamer-build.wasm does besides: makes indexes and changes them.

#include "index/model_pack.h"
#include "open_index.h"

namespace gossamer::wasm {
namespace {

// Enough to measure what each recall costs within a few seconds.
constexpr std::size_t kCalibrationQueries = 200;

OpenIndex* hold(std::unique_ptr<Index> index) {
  auto opened = std::make_unique<OpenIndex>();
  opened->index = std::move(index);
  return opened.release();
}

}  // namespace

GOSSAMER_EXPORT(index_create)
OpenIndex* index_create(const std::uint8_t* pack, std::size_t size) {
  ModelPack shared = ModelPack::from_bytes({pack, size});
  return hold(Index::create(shared.codebook, std::move(shared.calibration)));
}

// `options` are dim, metric, scalar, keep, graph, max_degree, effort; `ids` and `pack` may be null.
GOSSAMER_EXPORT(index_build)
OpenIndex* index_build(const float* vectors, std::size_t count, const double* ids,
                       const double* options, const std::uint8_t* pack, std::size_t pack_size) {
  IndexOptions wanted;
  wanted.dim = static_cast<std::size_t>(options[0]);
  wanted.metric = static_cast<Metric>(options[1]);
  wanted.scalar = static_cast<Scalar>(options[2]);
  wanted.keep = static_cast<Keep>(options[3]);
  wanted.graph = static_cast<GraphKind>(options[4]);
  if (options[5] > 0) wanted.build.max_degree = static_cast<std::uint32_t>(options[5]);
  if (options[6] > 0) wanted.build.effort = static_cast<std::uint32_t>(options[6]);
  ModelPack shared;
  if (pack != nullptr) shared = ModelPack::from_bytes({pack, pack_size});
  // What was measured with the model holds for codes alone, and need not be measured again.
  const bool is_codes_alone = wanted.keep == Keep::kNone && wanted.graph == GraphKind::kNone;
  const bool is_calibrated = is_codes_alone && !shared.calibration.empty();
  BuildRun run;
  run.calibration_queries = is_calibrated ? 0 : kCalibrationQueries;
  std::vector<std::uint64_t> own_ids;
  if (ids != nullptr) own_ids = to_ids(ids, count);
  auto index = Index::build(wanted, shared.codebook, vectors, count,
                            ids == nullptr ? nullptr : own_ids.data(), nullptr, 0, run, nullptr);
  if (is_calibrated) index->set_calibration(std::move(shared.calibration));
  return hold(std::move(index));
}

GOSSAMER_EXPORT(index_add)
void index_add(OpenIndex* opened, const double* ids, std::size_t count, const float* vectors) {
  opened->index->add(to_ids(ids, count), vectors, nullptr);
}

GOSSAMER_EXPORT(index_add_codes)
void index_add_codes(OpenIndex* opened, const double* ids, std::size_t count,
                     const std::uint8_t* codes, std::size_t size) {
  opened->index->add_codes(to_ids(ids, count), {codes, size});
}

GOSSAMER_EXPORT(index_codes_of)
std::size_t index_codes_of(const OpenIndex* opened, const double* ids, std::size_t count) {
  given().bytes = opened->index->codes_of(to_ids(ids, count));
  given().first = given().bytes.data();
  return given().bytes.size();
}

GOSSAMER_EXPORT(index_remove)
void index_remove(OpenIndex* opened, const double* ids, std::size_t count) {
  opened->index->remove(to_ids(ids, count));
}

// Nothing is left of what was removed.
GOSSAMER_EXPORT(index_compact)
void index_compact(OpenIndex* opened) { opened->index->compact(1); }

GOSSAMER_EXPORT(index_apply_delta)
void index_apply_delta(OpenIndex* opened, const std::uint8_t* delta, std::size_t size) {
  opened->index->apply_delta({delta, size});
}

// The parts of the file: their number; addresses and sizes by turns. They last until the next save.
GOSSAMER_EXPORT(index_save)
std::size_t index_save(const OpenIndex* opened, bool codebook, bool calibration) {
  static std::unique_ptr<FileImage> image;
  image = std::make_unique<FileImage>();
  std::vector<std::uint32_t>& words = given().words;
  words.clear();
  for (const ByteView part : opened->index->save(*image, {codebook, calibration, true})) {
    words.push_back(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(part.data())));
    words.push_back(static_cast<std::uint32_t>(part.size()));
  }
  given().first = words.data();
  return words.size() / 2;
}

}  // namespace gossamer::wasm
