// Any sequence of changes and searches: after each the index holds and finds what a plain map of
// vectors does.
//
// The first byte chooses the index, every other one or more bytes an operation.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "fuzz/input.h"
#include "tests/index_fixture.h"

using namespace gossamer;
using namespace gossamer::fuzz;
using namespace gossamer::testing;

namespace {

constexpr std::size_t kMostOperations = 48;
constexpr std::size_t kStart = 96;  // enough that places are vacated when most are deleted
constexpr std::uint64_t kIds = 160;

struct Start {
  IndexOptions options;
  std::vector<float> vectors;
  Bytes file;
};

// Whole numbers, so that equal distances and equal vectors are common.
std::vector<float> coarse_vectors(std::size_t count, std::size_t dim, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> vectors(count * dim);
  for (float& value : vectors) value = static_cast<float>(random.below(5)) - 2.0f;
  return vectors;
}

Start make_start(Keep keep, GraphKind graph, Metric metric, bool with_source) {
  // More vectors than centroids: a codebook that knows its vectors by heart expects no errors.
  const World world(600, graph == GraphKind::kNone ? 4 : 7, metric);
  Start start{small_options(world, keep, graph), coarse_vectors(kStart, world.dim, 3), {}};
  start.options.keep_source = with_source;
  start.options.hot_budget = 12 * world.dim * sizeof(float);
  BuildRun run;
  run.calibration_queries = 0;
  const auto index = Index::build(start.options, world.codebook, start.vectors.data(), kStart,
                                  nullptr, nullptr, 0, run, nullptr);
  start.file = saved(*index);
  return start;
}

// Building takes far longer than a few operations: each index is built once and opened often.
const Start& choose_start(unsigned choice) {
  static std::map<unsigned, Start> starts;
  const Keep keep = kKeeps[choice % kKeeps.size()];
  const GraphKind graph = kGraphs[choice / 3 % kGraphs.size()];
  const auto metric = static_cast<Metric>(choice / 12 % 3);
  const bool with_source = graph == GraphKind::kSlim && keep == Keep::kAll && choice / 36 % 2 == 1;
  const unsigned key = choice % 36 + (with_source ? 36 : 0);
  if (!starts.contains(key)) starts.emplace(key, make_start(keep, graph, metric, with_source));
  return starts.at(key);
}

class Run {
 public:
  Run(const Start& start, Choices& input)
      : input_(input), model_(start.options.dim, start.options.metric), file_(start.file) {
    index_ = Index::open(file_, nullptr);
    for (std::size_t i = 0; i < kStart; ++i) model_.add(i, start.vectors.data() + i * dim());
  }

  void step() {
    switch (input_.below(12)) {
      case 0:
      case 1:
        return add(1 + input_.below(4));
      case 2:
        return add(1 + input_.below(80));
      case 3:
      case 4:
        return remove(1 + input_.below(4));
      case 5:
        return remove(1 + input_.below(kStart));
      case 6:
        return index_->compact(1);
      case 7:
        return reopen();
      case 8:
        return remember();
      case 9:
        return misuse();
      default:
        return search();
    }
  }

  void check() {
    require(index_->count() == model_.size(), "the index counts what it holds");
    Ids ids = index_->ids();
    std::sort(ids.begin(), ids.end());
    require(ids == model_.ids(), "the index holds the ids that were added and not deleted");
    const std::vector<float> query = coarse_vectors(1, dim(), input_.next());
    check_search(query, 8, Strategy::kExact, full_effort(), nullptr);
  }

 private:
  std::size_t dim() const { return index_->options().dim; }

  void add(std::size_t most) {
    Ids ids;
    std::uint64_t id = input_.below(kIds);
    for (std::size_t tries = 0; tries < kIds && ids.size() < most; ++tries) {
      if (!model_.contains(id)) ids.push_back(id);
      id = (id + 1) % kIds;
    }
    const std::vector<float> vectors = coarse_vectors(ids.size(), dim(), input_.next());
    add_to(*index_, model_, ids, vectors.data());
    for (std::size_t i = 0; i < ids.size(); ++i) model_.add(ids[i], vectors.data() + i * dim());
  }

  Ids some_ids(std::size_t most) {
    const Ids all = model_.ids();
    Ids some;
    const std::size_t first = all.empty() ? 0 : input_.below(all.size());
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
      some.push_back(all[(first + i) % all.size()]);
    }
    return some;
  }

  void remove(std::size_t most) {
    const Ids ids = some_ids(most);
    index_->remove(ids);
    for (const std::uint64_t id : ids) model_.remove(id);
  }

  void reopen() {
    const bool with_source = input_.below(2) == 0;
    Bytes file = saved(*index_, true, with_source);
    index_.reset();
    file_ = std::move(file);
    index_ = Index::open(file_, nullptr);
    index_->verify();
  }

  void remember() {
    const Ids ids = some_ids(1 + input_.below(16));
    index_->remember(ids, model_.vectors_of(ids).data());
  }

  // What must be refused, and must leave everything as it was.
  void misuse() {
    const std::vector<float> vectors = coarse_vectors(2, dim(), 1);
    const auto add = [&](const Ids& ids) {
      return reason_of([&] { add_to(*index_, model_, ids, vectors.data()); });
    };
    require(add({kIds, kIds}) == "duplicate id", "an id cannot be added twice");
    require(reason_of([&] { index_->remove(Ids{kIds}); }) == "unknown id",
            "what is not there cannot be deleted");
    if (model_.size() == 0) return;
    const std::uint64_t known = some_ids(1).front();
    require(add({kIds, known}) == "duplicate id", "an id in use cannot be added");
    SearchBatch search(*index_, vectors.data(), 1, request_of(3, Strategy::kExact));
    index_->remove(Ids{known});
    model_.remove(known);
    require(reason_of([&] { search.nearest(0); }) == "wrong state",
            "a search does not outlive a change");
  }

  void search() {
    const Strategy strategy = kStrategies[input_.below(kStrategies.size())];
    if (needs_graph(strategy) && index_->options().graph == GraphKind::kNone) return;
    Effort effort = full_effort();
    const bool is_full = input_.below(2) == 0;
    if (!is_full) effort = {static_cast<std::uint32_t>(input_.below(20)), 1.0f, 4, 0.2f, 8};
    const std::vector<float> query = coarse_vectors(1, dim(), input_.next());
    const std::size_t k = 1 + input_.below(20);
    const Ids allowed = some_ids(input_.below(kIds));
    const bool is_filtered = input_.below(2) == 0;
    check_search(query, k, strategy, effort, is_filtered ? &allowed : nullptr);
  }

  void check_search(const std::vector<float>& query, std::size_t k, Strategy strategy,
                    const Effort& effort, const Ids* allowed) {
    SearchRequest request = request_of(k, strategy, effort);
    if (allowed != nullptr) request.allowed = index_->allow_ids(*allowed);
    SearchBatch search(*index_, query.data(), 1, request);
    while (!search.wanted().empty()) {
      const Ids wanted = search.wanted();
      const std::vector<float> vectors = model_.vectors_of(wanted);
      // As a host does in hot mode: what was fetched may stay, and push others out.
      index_->remember(wanted, vectors.data());
      search.supply(vectors);
    }
    const std::vector<SearchHit> hits = search.nearest(0);
    const auto truth = model_.nearest(query.data(), k, allowed);
    require(hits.size() == truth.size(), "a search gives k hits, or all that match");
    check_hits(query, hits, allowed);
    // A walk finds what the graph leads to; only what looks at everything must find the nearest.
    if (needs_graph(strategy) || effort.margin < full_effort().margin) return;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      require(is_near(hits[i].distance, truth[i].first), "an exact search finds the nearest");
    }
  }

  void check_hits(const std::vector<float>& query, const std::vector<SearchHit>& hits,
                  const Ids* allowed) {
    std::map<std::uint64_t, float> distances;
    for (const auto& [distance, id] : model_.nearest(query.data(), model_.size(), allowed)) {
      distances[id] = distance;
    }
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      require(distances.contains(hits[i].id), "a hit is neither deleted nor forbidden");
      require(seen.insert(hits[i].id).second, "no hit comes twice");
      require(is_near(hits[i].distance, distances.at(hits[i].id)), "a hit has its exact distance");
      require(i == 0 || hits[i - 1].distance <= hits[i].distance, "hits come nearest first");
    }
  }

  // Normalising twice may change the last bit.
  static bool is_near(float a, float b) { return std::fabs(a - b) < 1e-4f; }

  Choices& input_;
  Model model_;
  Bytes file_;
  std::unique_ptr<Index> index_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices input(data, size);
  Run run(choose_start(input.next()), input);
  for (std::size_t i = 0; i < kMostOperations && !input.empty(); ++i) {
    run.step();
    run.check();
  }
  return 0;
}
