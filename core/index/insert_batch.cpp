#include "index/insert_batch.h"

#include <algorithm>
#include <array>
#include <string>

#include "codes/estimate.h"
#include "graph/select.h"
#include "search/layered_walk.h"

namespace gossamer {

namespace {

// Candidates whose exact vectors are worth asking for: neighbors are selected among them.
constexpr std::size_t kLookedAt = 32;

}  // namespace

InsertBatch::InsertBatch(Index& index, std::span<const std::uint64_t> ids, const float* vectors)
    : index_(index),
      ids_(ids.begin(), ids.end()),
      vectors_(vectors, vectors + ids.size() * index.space_.dim()),
      planned_(ids.size()) {
  index.check_vectors(vectors, ids.size());
  expect(index.options_.graph == GraphKind::kNone || !index.kept_.has_all(), Reason::kWrongState,
         "all vectors are kept, so nothing needs to be asked for; use add");
  const WriteLock<SharedMutex> lock(index.mutex_);
  index.prepare_update();
  index.check_new_ids(ids_);
  version_ = index.version_;
  if (index.options_.graph == GraphKind::kNone) return;
  WalkScratch scratch;
  for (std::size_t i = 0; i < ids_.size(); ++i) plan(i, scratch);
  std::sort(wanted_nodes_.begin(), wanted_nodes_.end());
  wanted_nodes_.erase(std::unique(wanted_nodes_.begin(), wanted_nodes_.end()), wanted_nodes_.end());
  for (const NodeId node : wanted_nodes_) wanted_.push_back(index.ids_.id(node));
}

void InsertBatch::plan(std::size_t item, WalkScratch& scratch) {
  const float* vector = vectors_.data() + item * index_.space_.dim();
  const Estimator estimator(*index_.codebook_, vector);
  LayeredWalk walk(index_.graph_, index_.options_.build.effort, 0, kNoNode, scratch);
  const auto measure = [&](NodeId node, float& distance) {
    distance = estimator.estimate(index_.codes_.row(node));
    return true;
  };
  walk.resume(measure, [](NodeId) {}, [](const Candidate&) {});
  std::vector<Candidate>& candidates = planned_[item].candidates;
  for (const Candidate& candidate : walk.nearest()) {
    if (!index_.is_live(candidate.node)) continue;
    candidates.push_back(candidate);
    if (index_.kept_.find(candidate.node) == nullptr) wanted_nodes_.push_back(candidate.node);
    if (candidates.size() == kLookedAt) break;
  }
}

void InsertBatch::supply(std::span<const float> vectors) {
  if (vectors.size() != wanted_.size() * index_.space_.dim()) {
    fail(Reason::kInvalidArgument,
         "expected " + std::to_string(wanted_.size()) + " vectors, one for each wanted id");
  }
  index_.check_vectors(vectors.data(), wanted_.size());
  supplied_.assign(vectors.begin(), vectors.end());
}

void InsertBatch::finish() {
  const WriteLock<SharedMutex> lock(index_.mutex_);
  expect(version_ == index_.version_, Reason::kWrongState,
         "the index changed while vectors were being added; add them again");
  ++index_.version_;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::vector<Candidate> neighbors = select(i);
    const NodeId node = index_.store_vector(ids_[i], vectors_.data() + i * index_.space_.dim());
    if (index_.options_.graph != GraphKind::kNone) link(node, neighbors);
  }
}

const float* InsertBatch::vector_of(NodeId node, std::vector<float>& decoded) const {
  const std::size_t dim = index_.space_.dim();
  const auto place = std::lower_bound(wanted_nodes_.begin(), wanted_nodes_.end(), node);
  if (!supplied_.empty() && place != wanted_nodes_.end() && *place == node) {
    return supplied_.data() + static_cast<std::size_t>(place - wanted_nodes_.begin()) * dim;
  }
  decoded.resize(dim);
  if (const Row row = index_.kept_.find(node); row != nullptr) {
    index_.space_.decode_row(row, decoded.data());
  } else {
    index_.codebook_->decode(index_.codes_.row(node), decoded.data());
  }
  return decoded.data();
}

std::vector<Candidate> InsertBatch::select(std::size_t item) const {
  const std::size_t dim = index_.space_.dim();
  const Space single(index_.space_.metric(), Scalar::kF32, dim);
  std::vector<Candidate> candidates = planned_[item].candidates;
  RowBytes rows(candidates.size() * single.row_bytes());
  RowBytes query;
  single.prepare_query(vectors_.data() + item * dim, query);
  std::vector<float> decoded;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::uint8_t* row = rows.data() + i * single.row_bytes();
    single.encode_row(vector_of(candidates[i].node, decoded), row);
    candidates[i].distance = single.from_query(query.data(), row);
  }
  // The selector names candidates by their place here, not by their node.
  std::vector<Candidate> places(candidates.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = {candidates[i].distance, static_cast<NodeId>(i)};
  }
  std::sort(places.begin(), places.end());
  const auto between = [&](NodeId a, NodeId b) {
    return single.between(rows.data() + a * single.row_bytes(),
                          rows.data() + b * single.row_bytes());
  };
  const BuildOptions options = index_.insert_options();
  const std::size_t limit = options.pick_degree > 0 ? options.pick_degree : options.max_degree;
  std::vector<Candidate> kept;
  select_neighbors(std::span<const Candidate>(places), limit, between, kept);
  for (Candidate& neighbor : kept) neighbor.node = candidates[neighbor.node].node;
  return kept;
}

// New nodes join the base layer only: the layers above lead to it, and grow with the next build.
void InsertBatch::link(NodeId node, std::span<const Candidate> neighbors) {
  Graph& graph = index_.graph_;
  graph.add_node(0);
  if (graph.entry() == kNoNode) graph.set_entry(node);
  std::vector<NodeId> list;
  for (const Candidate& neighbor : neighbors) list.push_back(neighbor.node);
  graph.set_neighbors(node, 0, list);
  for (const NodeId neighbor : list) link_back(neighbor, node);
}

// An overfull list keeps the neighbors that are nearest by their codes (LEANN's simplified shrink).
void InsertBatch::link_back(NodeId from, NodeId node) {
  std::array<NodeId, kMaxDegree> buffer;
  const std::size_t count = index_.graph_.neighbors(from, 0, buffer.data());
  std::vector<NodeId> list(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
  list.push_back(node);
  const std::size_t limit = 2 * static_cast<std::size_t>(index_.insert_options().max_degree);
  if (list.size() > limit) {
    std::vector<float> decoded;
    const Estimator estimator(*index_.codebook_, vector_of(from, decoded));
    std::vector<Candidate> ranked;
    for (const NodeId neighbor : list) {
      ranked.push_back({estimator.estimate(index_.codes_.row(neighbor)), neighbor});
    }
    std::sort(ranked.begin(), ranked.end());
    list.clear();
    for (std::size_t i = 0; i < limit; ++i) list.push_back(ranked[i].node);
  }
  index_.graph_.set_neighbors(from, 0, list);
}

std::unique_ptr<InsertBatch> Index::begin_add(std::span<const std::uint64_t> ids,
                                              const float* vectors) {
  return std::make_unique<InsertBatch>(*this, ids, vectors);
}

}  // namespace gossamer
