// gossamer.wasm: opens an index and searches it.

#include <algorithm>

#include "index/model_pack.h"
#include "open_index.h"

namespace gossamer::wasm {
namespace {

std::optional<Bitmap> allowed_of(const Index& index, const double* ids, std::size_t count) {
  if (ids == nullptr) return std::nullopt;
  return index.allow_ids(to_ids(ids, count));
}

std::size_t give_hits(std::span<const SearchHit> hits) {
  Given& out = given();
  out.numbers.clear();
  out.floats.clear();
  for (const SearchHit& hit : hits) {
    out.numbers.push_back(to_number(hit.id));
    out.floats.push_back(hit.distance);
  }
  out.first = out.numbers.data();
  out.second = out.floats.data();
  return hits.size();
}

std::span<const bool> flags_of(const std::uint8_t* missing, std::size_t count) {
  return {reinterpret_cast<const bool*>(missing), missing == nullptr ? 0 : count};
}

}  // namespace

// Begins with the head of a file, whose bytes are taken over.
GOSSAMER_EXPORT(parts_new)
OpenIndex* parts_new(std::uint8_t* head, std::size_t size, double file_size) {
  auto opened = std::make_unique<OpenIndex>();
  opened->taken.emplace_back(head);
  opened->parts = Container::parse_head({head, size}, static_cast<std::uint64_t>(file_size));
  return opened.release();
}

// One section, whose bytes are taken over.
GOSSAMER_EXPORT(parts_attach)
void parts_attach(OpenIndex* opened, std::uint32_t kind, std::uint8_t* bytes, std::size_t size) {
  opened->taken.emplace_back(bytes);
  opened->parts->attach(static_cast<SectionKind>(kind), {bytes, size});
}

// `pack` may be null; `resident_bytes` is below 0 if vectors do not stay outside.
GOSSAMER_EXPORT(index_open)
void index_open(OpenIndex* opened, const std::uint8_t* pack, std::size_t pack_size,
                double resident_bytes) {
  ModelPack shared;
  if (pack != nullptr) shared = ModelPack::from_bytes({pack, pack_size});
  std::optional<std::size_t> budget;
  if (resident_bytes >= 0) budget = static_cast<std::size_t>(resident_bytes);
  opened->index = Index::open(std::move(*opened->parts), shared.codebook, budget);
  opened->parts.reset();
  if (!shared.calibration.empty() && opened->index->calibration().empty())
    opened->index->set_calibration(std::move(shared.calibration));
}

GOSSAMER_EXPORT(index_free) void index_free(OpenIndex* opened) { delete opened; }

// What an index is: see wasm_engine.ts for the order.
GOSSAMER_EXPORT(index_info) void index_info(const OpenIndex* opened) {
  const Index& index = *opened->index;
  const IndexOptions& options = index.options();
  const Space& space = index.space();
  const auto codebook = index.codebook();
  given().numbers = {static_cast<double>(options.dim),
                     static_cast<double>(options.metric),
                     static_cast<double>(space.scalar()),
                     static_cast<double>(options.keep),
                     static_cast<double>(options.graph),
                     static_cast<double>(index.count()),
                     static_cast<double>(index.node_count()),
                     static_cast<double>(space.row_bytes()),
                     codebook ? static_cast<double>(codebook->code_bytes()) : 0.0,
                     index.is_detached() ? 1.0 : 0.0};
  given().first = given().numbers.data();
}

// `effort` is null, or rerank, margin, beam, ratio, batch.
GOSSAMER_EXPORT(search_new)
SearchBatch* search_new(const OpenIndex* opened, const float* queries, std::size_t count,
                        std::size_t k, double recall, std::uint32_t strategy, const double* effort,
                        const double* allowed, std::size_t allowed_count) {
  SearchRequest request;
  request.k = k;
  request.recall = recall;
  request.strategy = static_cast<Strategy>(strategy);
  if (effort != nullptr) {
    request.effort = {static_cast<std::uint32_t>(effort[0]), static_cast<float>(effort[1]),
                      static_cast<std::uint32_t>(effort[2]), static_cast<float>(effort[3]),
                      static_cast<std::uint32_t>(effort[4])};
  }
  request.allowed = allowed_of(*opened->index, allowed, allowed_count);
  return new SearchBatch(*opened->index, queries, count, std::move(request));
}

GOSSAMER_EXPORT(search_free) void search_free(SearchBatch* search) { delete search; }

GOSSAMER_EXPORT(search_strategy) std::uint32_t search_strategy(const SearchBatch* search) {
  return static_cast<std::uint32_t>(search->strategy());
}

GOSSAMER_EXPORT(search_wanted) std::size_t search_wanted(const SearchBatch* search) {
  give_ids(search->wanted());
  return search->wanted().size();
}

// The nodes of wanted(): where their rows stand among all vectors.
GOSSAMER_EXPORT(search_wanted_nodes) std::size_t search_wanted_nodes(const SearchBatch* search) {
  given().first = search->wanted_nodes().data();
  return search->wanted_nodes().size();
}

GOSSAMER_EXPORT(search_supply)
void search_supply(SearchBatch* search, const float* vectors, std::size_t numbers,
                   const std::uint8_t* missing, std::size_t missing_count) {
  search->supply({vectors, numbers}, flags_of(missing, missing_count));
}

// The same with rows as the file keeps them, of those wanted nodes that are not in memory.
GOSSAMER_EXPORT(search_supply_rows)
void search_supply_rows(SearchBatch* search, const std::uint8_t* rows, std::size_t size,
                        const std::uint8_t* missing, std::size_t missing_count) {
  search->supply_rows({rows, size}, flags_of(missing, missing_count));
}

GOSSAMER_EXPORT(search_nearest)
std::size_t search_nearest(const SearchBatch* search, std::size_t query) {
  return give_hits(search->nearest(query));
}

GOSSAMER_EXPORT(search_counters) void search_counters(const SearchBatch* search) {
  const SearchCounters counters = search->counters();
  given().numbers = {
      static_cast<double>(counters.rounds), static_cast<double>(counters.vectors_asked),
      static_cast<double>(counters.distances), static_cast<double>(counters.codes_touched),
      static_cast<double>(counters.hops)};
  given().first = given().numbers.data();
}

GOSSAMER_EXPORT(index_ids) std::size_t index_ids(const OpenIndex* opened) {
  const std::vector<std::uint64_t> ids = opened->index->ids();
  give_ids(ids);
  return ids.size();
}

GOSSAMER_EXPORT(index_nodes_of)
std::size_t index_nodes_of(const OpenIndex* opened, const double* ids, std::size_t count) {
  given().words = opened->index->nodes_of(to_ids(ids, count));
  given().first = given().words.data();
  return count;
}

GOSSAMER_EXPORT(index_verify) void index_verify(const OpenIndex* opened) {
  opened->index->verify();
}

}  // namespace gossamer::wasm
