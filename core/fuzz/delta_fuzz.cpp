// Any bytes as a delta: it is refused and the index stays as it was, or it is taken and leaves an
// index that can be searched, saved and opened; joined with others it does no harm either.
//
// The first byte chooses the index and what follows: a delta as it is (0), one whose frame is made
// right (1), changes to a delta that was just taken (2), which are three bytes each: two for the
// place and one for the value, or edges and nodes to be put into one (3), three bytes each as well.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "fuzz/input.h"
#include "index/delta.h"
#include "tests/index_fixture.h"

using namespace gossamer;
using namespace gossamer::fuzz;
using namespace gossamer::testing;

namespace {

constexpr std::size_t kStart = 90;
// Rows of what claims to be larger than this take too long to be tried.
constexpr std::size_t kMostBytes = 1 << 16;

// An index, and deltas that lead on from it.
struct Start {
  Bytes file;
  std::vector<Bytes> deltas;
};

Start make_start(Keep keep, GraphKind graph) {
  const World world(600, 4, Metric::kInnerProduct);
  IndexOptions options = small_options(world, keep, graph);
  options.keep_source = graph == GraphKind::kSlim;
  BuildRun run;
  run.calibration_queries = 0;
  const auto index = Index::build(options, world.codebook, world.vectors.data(), kStart, nullptr,
                                  nullptr, 0, run, nullptr);
  const Model model(world);
  Start start{saved(*index, true, false), {}};
  index->track();
  for (std::uint64_t batch = 0; batch < 3; ++batch) {
    Ids gone;
    for (std::uint64_t id = 25 * batch; id < 25 * batch + 25; ++id) gone.push_back(id);
    index->remove(gone);
    add_to(*index, model, Ids{100 + 3 * batch, 101 + 3 * batch, 102 + 3 * batch},
           world.vector(kStart + 3 * batch));
    start.deltas.push_back(index->take_delta());
  }
  return start;
}

const Start& choose_start(unsigned choice) {
  static const std::vector<Start> starts = {
      make_start(Keep::kAll, GraphKind::kSlim), make_start(Keep::kAll, GraphKind::kFull),
      make_start(Keep::kNone, GraphKind::kHub), make_start(Keep::kNone, GraphKind::kNone)};
  return starts[choice % starts.size()];
}

// Makes all that checks the whole right, so that what is wrong must be found by its meaning.
void mend(Bytes& delta) {
  constexpr std::size_t kFrame = 12;  // magic and version
  static constexpr std::uint8_t kBegin[kFrame] = {'G', 'S', 'M', 'D', 'E', 'L',
                                                  'T', 'A', 1,   0,   0,   0};
  delta.resize(std::max(delta.size(), kFrame + sizeof(std::uint32_t)));
  std::copy(std::begin(kBegin), std::end(kBegin), delta.begin());
  const std::size_t end = delta.size() - sizeof(std::uint32_t);
  const std::uint32_t checksum = crc32c(ByteView(delta).first(end));
  std::memcpy(delta.data() + end, &checksum, sizeof(checksum));
}

Bytes changed(Bytes delta, ByteView changes) {
  for (; changes.size() >= 3; changes = changes.subspan(3)) {
    const std::size_t place = (changes[0] | std::size_t{changes[1]} << 8) % delta.size();
    delta[place] = changes[2];
  }
  mend(delta);
  return delta;
}

void toggle(std::vector<Edge>& edges, Edge edge) {
  const auto place = std::lower_bound(edges.begin(), edges.end(), edge);
  if (place != edges.end() && *place == edge) {
    edges.erase(place);
  } else {
    edges.insert(place, edge);
  }
}

// A true delta with other edges, levels and ids, as whoever can make checksums right would send it.
Bytes with_edges(const Bytes& taken, ByteView changes) {
  IndexDelta delta = unpack_index_delta(taken);
  GraphDelta& graph = delta.graph;
  for (; changes.size() >= 3; changes = changes.subspan(3)) {
    const auto from = static_cast<NodeId>(changes[1] % delta.node_count);
    const auto to = static_cast<NodeId>(changes[2] % delta.node_count);
    const unsigned what = changes[0] % 8;
    if (what == 0 && !graph.levels.empty())
      graph.levels[from % graph.levels.size()] = changes[2] % 4;
    if (what == 1) graph.entry = from;
    if (what == 2 && !delta.slots.empty()) delta.slots[from % delta.slots.size()].id = changes[2];
    if (what < 3 || from == to) continue;
    graph.layers.resize(std::max<std::size_t>(graph.layers.size(), 2));
    GraphDelta::Layer& layer = graph.layers[what % 2];
    const bool is_old = !graph.is_fresh(from) && !graph.is_fresh(to);
    toggle(what < 5 && is_old ? layer.removed : layer.added, {from, to});
  }
  return pack_delta(delta);
}

Bytes make_delta(const Start& start, unsigned choice, ByteView rest) {
  switch (choice % 4) {
    case 0:
      return {rest.begin(), rest.end()};
    case 1: {
      Bytes delta(rest.begin(), rest.end());
      mend(delta);
      return delta;
    }
    case 2:
      return changed(start.deltas[choice / 4 % 3], rest);
    default:
      return with_edges(start.deltas[choice / 4 % 3], rest);
  }
}

void check_index(const Index& index) {
  const Bytes file = saved(index);
  const auto opened = Index::open(file, nullptr);
  opened->verify();
  require(saved(*opened) == file, "an index is saved as it was opened");
  require(opened->ids() == index.ids(), "ids survive a file");
  for (const std::uint64_t id : index.ids()) require(index.contains(id), "an id can be found");
  const std::vector<float> query(index.options().dim, 0.5f);
  if (index.options().keep != Keep::kAll) return;
  SearchBatch search(index, query.data(), 1, request_of(5, Strategy::kBestFirst));
  require(search.wanted().empty(), "kept vectors are not asked for");
  search.nearest(0);
}

void try_delta(const Bytes& file, const Bytes& delta) {
  const auto index = Index::open(file, nullptr);
  if (reason_of([&] { index->apply_delta(delta); }) != "none") {
    require(saved(*index) == file, "a delta that is refused changes nothing");
    return;
  }
  check_index(*index);
}

void join_with(const Start& start, const Bytes& delta) {
  if (reason_of([&] { unpack_index_delta(delta); }) != "none") return;
  for (const Bytes& other : start.deltas) {
    for (const auto& pair : {std::vector<ByteView>{delta, other}, {other, delta}}) {
      Bytes joined;
      if (reason_of([&] { joined = join_packed_deltas(pair); }) != "none") continue;
      require(reason_of([&] { unpack_index_delta(joined); }) == "none",
              "what was joined is a delta");
      try_delta(start.file, joined);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > kMostBytes) return 0;
  const Start& start = choose_start(data[0] / 16);
  const Bytes delta = make_delta(start, data[0], ByteView(data, size).subspan(1));
  try_delta(start.file, delta);
  join_with(start, delta);
  return 0;
}
