#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/stopwatch.h"
#include "graph/insert.h"
#include "index/index.h"

namespace gossamer {

namespace {

// Taking nodes out of the graph reads every list once, so it waits until it pays.
constexpr std::size_t kVacateShare = 50;  // one deleted node in so many
constexpr std::size_t kVacateAtLeast = 64;
// Past this share of deleted nodes walks and scans do noticeably more work than they need.
constexpr std::size_t kRebuildShare = 5;  // one in so many

}  // namespace

void Index::check_vectors(const float* vectors, std::size_t count) const {
  check_finite(vectors, count, space_.dim());
}

void Index::check_new_ids(std::span<const std::uint64_t> ids) {
  expect(ids.size() < Beam::kMaxNodes - node_count_, Reason::kTooLarge, kTooManyVectors);
  std::unordered_set<std::uint64_t> seen;
  for (const std::uint64_t id : ids) {
    expect(id <= kMaxId, Reason::kInvalidArgument, "ids must lie between 0 and 2^63 - 1");
    if (const auto node = ids_.find(id); !seen.insert(id).second || (node && is_live(*node))) {
      fail(Reason::kDuplicateId,
           "id " + std::to_string(id) + " is in use already; delete it first, or choose another");
    }
  }
}

// Everything that an update touches must be in memory, and lookups by id must stand.
void Index::prepare_update() {
  check_attached();
  check_codes();
  check_kept();
  load_ids();
  load_graph();
  ids_.prepare_lookup(deleted_);
  if (options_.graph == GraphKind::kSlim && source_ && follower_ == nullptr && kept_.has_all()) {
    follow_anew(1);
    graph_ = Graph();
  }
}

void Index::add(std::span<const std::uint64_t> ids, const float* vectors, Progress* progress) {
  check_attached();
  check_vectors(vectors, ids.size());
  const WriteLock<SharedMutex> lock(mutex_);
  expect(options_.graph == GraphKind::kNone || kept_.has_all(), Reason::kWrongState,
         "linking into this graph needs vectors that are not kept; use begin_add");
  prepare_update();
  check_new_ids(ids);
  if (ids.empty()) return;
  ++version_;
  prune_s_ = 0;
  if (progress != nullptr) progress->start(ids.size());
  vacate_places();
  ChangedLists changed;
  InsertScratch scratch;
  const BuildOptions options = insert_options();
  std::vector<NodeId> added;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (progress != nullptr && progress->cancelled()) {
      for (const NodeId node : added) erase(node);
      follow_source(changed);
      progress->throw_if_cancelled();
    }
    const NodeId node = store_vector(ids[i], vectors + i * space_.dim());
    added.push_back(node);
    if (options_.graph != GraphKind::kNone) {
      Graph& graph = updated_graph();
      const unsigned level = random_level(options, node);
      if (node < graph.node_count()) {
        graph.reset_node(node, level);
      } else {
        graph.add_node(level);
      }
      insert_node(graph, rows(), node, level, options, scratch, source_ ? &changed : nullptr);
    }
    if (progress != nullptr) progress->advance();
  }
  follow_source(changed);
}

// New nodes are linked as the graph's own rule has it: a pruned graph takes few links for a node,
// and lets hubs have many.
BuildOptions Index::insert_options() const {
  BuildOptions options = options_.build;
  options.threads = 1;
  if (options_.graph == GraphKind::kHub) {
    options.max_degree = std::max(options_.hub.max_degree / 2, 1u);
    options.pick_degree = options_.hub.low_degree;
  }
  if (options_.graph == GraphKind::kSlim && !source_) {
    options.pick_degree = static_cast<unsigned>(options_.slim.low_degree0);
  }
  return options;
}

void Index::follow_anew(unsigned threads) {
  follower_ = std::make_unique<SlimFollower>(*source_, rows(), options_.slim,
                                             options_.build.max_degree, threads, slim_variant());
}

void Index::follow_source(const ChangedLists& changed) {
  if (!source_ || !follower_) return;
  const Stopwatch watch(prune_s_);
  const std::vector<NodeId> linked = follower_->update(*source_, rows(), changed);
  if (log_) log_->linked.insert(log_->linked.end(), linked.begin(), linked.end());
}

NodeId Index::take_place() {
  if (vacant_.empty()) {
    const auto node = static_cast<NodeId>(node_count_++);
    deleted_.resize(node_count_);
    return node;
  }
  const NodeId node = vacant_.back();
  vacant_.pop_back();
  deleted_.erase(node);
  --deleted_count_;
  return node;
}

// Takes deleted nodes out of the graph, once there are enough, so that new ones can have their
// places. Where vectors are not kept this waits for a compaction.
void Index::vacate_places() {
  const std::size_t linked = deleted_count_ - vacant_.size();
  const bool has_graph = options_.graph != GraphKind::kNone;
  const std::size_t enough =
      has_graph ? std::max(kVacateAtLeast, node_count_ / kVacateShare) : std::size_t{1};
  if (linked < enough || (has_graph && !kept_.has_all())) return;
  Bitmap waiting = deleted_;
  for (const NodeId node : vacant_) waiting.erase(node);
  std::vector<NodeId> nodes;
  for (std::size_t i = node_count_; i-- > 0;) {
    if (waiting.contains(static_cast<NodeId>(i))) nodes.push_back(static_cast<NodeId>(i));
  }
  if (has_graph) {
    ChangedLists changed;
    unlink_nodes(updated_graph(), rows(), nodes, insert_options(), source_ ? &changed : nullptr);
    follow_source(changed);
    if (log_) log_->cleared.insert(log_->cleared.end(), nodes.begin(), nodes.end());
  }
  vacant_.insert(vacant_.end(), nodes.begin(), nodes.end());
}

NodeId Index::store_vector(std::uint64_t id, const float* vector) {
  std::vector<std::uint8_t> code(codes_.row_bytes());
  if (codebook_ != nullptr) codebook_->encode(vector, 1, code.data(), 1);
  const NodeId node = store_code(id, code.data());
  if (kept_.has_all()) kept_.set(space_, node, vector);
  return node;
}

NodeId Index::store_code(std::uint64_t id, const std::uint8_t* code) {
  const NodeId node = take_place();
  if (log_) log_->filled.push_back(node);
  ids_.set(node, id);
  if (codebook_ != nullptr) codes_.set(node, code);
  return node;
}

void Index::add_codes(std::span<const std::uint64_t> ids, ByteView codes) {
  expect(options_.graph == GraphKind::kNone && !kept_.has_all(), Reason::kWrongState,
         "this index keeps vectors or links them, so that codes alone are not enough; use add");
  expect(codes.size() == ids.size() * codes_.row_bytes(), Reason::kInvalidArgument,
         "expected one code of the codebook's length for each id");
  const WriteLock<SharedMutex> lock(mutex_);
  prepare_update();
  check_new_ids(ids);
  if (ids.empty()) return;
  ++version_;
  vacate_places();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    store_code(ids[i], codes.data() + i * codes_.row_bytes());
  }
}

Bytes Index::codes_of(std::span<const std::uint64_t> ids) const {
  expect(codebook_ != nullptr, Reason::kWrongState, "this index was built without codes");
  check_codes();
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  Bytes codes;
  codes.reserve(ids.size() * codes_.row_bytes());
  for (const std::uint64_t id : ids) {
    const std::uint8_t* code = codes_.row(node_of(id));
    codes.insert(codes.end(), code, code + codes_.row_bytes());
  }
  return codes;
}

void Index::remove(std::span<const std::uint64_t> ids) {
  check_attached();
  load_ids();
  const WriteLock<SharedMutex> lock(mutex_);
  ids_.prepare_lookup(deleted_);
  std::unordered_set<std::uint64_t> seen;
  for (const std::uint64_t id : ids) {
    node_of(id);
    if (!seen.insert(id).second) {
      fail(Reason::kDuplicateId, "id " + std::to_string(id) + " is to be deleted twice");
    }
  }
  if (ids.empty()) return;
  ++version_;
  for (const std::uint64_t id : ids) erase(node_of(id));
}

void Index::erase(NodeId node) {
  ids_.release(node);
  deleted_.insert(node);
  ++deleted_count_;
  if (kept_.keep() == Keep::kHot) kept_.forget(node);
}

void Index::remember(std::span<const std::uint64_t> ids, const float* vectors) {
  if (options_.keep != Keep::kHot) return;
  check_vectors(vectors, ids.size());
  check_kept();
  load_ids();
  const WriteLock<SharedMutex> lock(mutex_);
  ids_.prepare_lookup(deleted_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    kept_.remember(space_, node_of(ids[i]), vectors + i * space_.dim());
  }
}

NodeId Index::node_of(std::uint64_t id) const {
  const std::optional<NodeId> node = ids_.find(id);
  if (!node || !is_live(*node)) {
    fail(Reason::kUnknownId, "the index holds no vector with id " + std::to_string(id));
  }
  return *node;
}

std::size_t Index::count() const {
  const ReadLock<SharedMutex> lock(mutex_);
  return live_count();
}

bool Index::contains(std::uint64_t id) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  const std::optional<NodeId> node = ids_.find(id);
  return node && is_live(*node);
}

std::vector<std::uint64_t> Index::ids() const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < node_count_; ++i) {
    const auto node = static_cast<NodeId>(i);
    if (is_live(node)) ids.push_back(ids_.id(node));
  }
  return ids;
}

std::vector<NodeId> Index::nodes_of(std::span<const std::uint64_t> ids) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  std::vector<NodeId> nodes;
  nodes.reserve(ids.size());
  for (const std::uint64_t id : ids) nodes.push_back(node_of(id));
  return nodes;
}

std::vector<float> Index::vectors_of(std::span<const std::uint64_t> ids) const {
  check_attached();
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  std::vector<float> vectors(ids.size() * space_.dim());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Row row = kept_.find(node_of(ids[i]));
    if (row == nullptr) {
      fail(Reason::kUnknownId, "the vector of id " + std::to_string(ids[i]) + " is not kept");
    }
    space_.decode_row(row, vectors.data() + i * space_.dim());
  }
  return vectors;
}

IndexStats Index::stats() const {
  load_ids();
  const bool has_graph = can_walk();
  if (has_graph) load_graph();
  const ReadLock<SharedMutex> lock(mutex_);
  IndexStats stats;
  stats.count = live_count();
  stats.deleted = deleted_count_;
  stats.kept = kept_.count();
  stats.codes_bytes = codes_.bytes().size();
  stats.codebook_bytes = codebook_ ? codebook_->to_bytes().size() : 0;
  stats.vectors_bytes = kept_.column().bytes().size();
  {
    const WriteLock<Mutex> loading(load_mutex_);
    stats.ids_bytes = ids_.memory_bytes();
  }
  if (has_graph && node_count_ > 0) {
    const Graph& searched = graph();
    stats.graph_bytes = searched.memory_bytes();
    stats.levels = searched.max_level() + 1;
    stats.mean_degree =
        static_cast<double>(searched.edge_count(0)) / static_cast<double>(node_count_);
  }
  if (source_) {
    stats.source_graph_bytes = source_->memory_bytes();
    if (follower_) stats.source_graph_bytes += follower_->memory_bytes() - stats.graph_bytes;
  }
  stats.prune_s = prune_s_;
  stats.rebuild_hint = deleted_count_ * kRebuildShare > node_count_;
  return stats;
}

const Graph& Index::graph() const {
  load_graph();
  return follower_ ? follower_->graph() : graph_;
}

}  // namespace gossamer
