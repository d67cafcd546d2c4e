#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_set>

#include "index/delta.h"
#include "index/index.h"

namespace gossamer {

namespace {

void append_row(Bytes& out, const Column& column, NodeId node) {
  const std::uint8_t* row = column.row(node);
  out.insert(out.end(), row, row + column.row_bytes());
}

// The nodes that are in `now` and were not in `before`, which is no larger.
std::vector<NodeId> added_nodes(const Bitmap& before, const Bitmap& now) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < before.words().size(); ++i) {
    std::uint64_t added = now.words()[i] & ~before.words()[i];
    for (; added != 0; added &= added - 1) {
      nodes.push_back(static_cast<NodeId>(64 * i + static_cast<unsigned>(std::countr_zero(added))));
    }
  }
  std::erase_if(nodes, [&](NodeId node) { return node >= before.size(); });
  return nodes;
}

[[noreturn]] void refuse(const char* why) {
  fail(Reason::kWrongState, std::string("this delta does not fit the index: ") + why);
}

}  // namespace

IndexDelta::Shape Index::delta_shape() const {
  IndexDelta::Shape shape;
  shape.dim = static_cast<std::uint32_t>(space_.dim());
  shape.metric = space_.metric();
  shape.scalar = space_.scalar();
  shape.keep = options_.keep;
  shape.graph = options_.graph;
  shape.scale = space_.scale();
  shape.code_bytes = static_cast<std::uint32_t>(codes_.row_bytes());
  shape.row_bytes = kept_.has_all() ? static_cast<std::uint32_t>(space_.row_bytes()) : 0;
  shape.codebook = codebook_ ? codebook_->fingerprint() : 0;
  return shape;
}

void Index::track() {
  check_attached();
  check_codes();
  check_kept();
  load_ids();
  load_graph();
  const WriteLock<SharedMutex> lock(mutex_);
  expect(options_.keep != Keep::kHot, Reason::kWrongState,
         "which vectors are hot differs from place to place: deltas need keep none or all");
  if (log_ == nullptr) restart_log(options_.graph == GraphKind::kNone ? Graph() : graph());
}

void Index::restart_log(Graph graph) {
  log_ = std::make_unique<DeltaLog>();
  log_->base_count = node_count_;
  log_->deleted = deleted_;
  log_->graph = std::move(graph);
  log_->compares_all = follower_ == nullptr;
}

Bytes Index::take_delta() {
  const WriteLock<SharedMutex> lock(mutex_);
  expect(log_ != nullptr, Reason::kWrongState,
         "this index does not record its changes: call track first, and again after compact");
  IndexDelta delta;
  delta.shape = delta_shape();
  delta.base_count = log_->base_count;
  delta.node_count = node_count_;
  std::vector<NodeId>& filled = log_->filled;
  std::sort(filled.begin(), filled.end());
  filled.erase(std::unique(filled.begin(), filled.end()), filled.end());
  for (const NodeId node : filled) {
    delta.slots.push_back({node, ids_.id(node), is_live(node)});
    if (codebook_ != nullptr) append_row(delta.codes, codes_, node);
    if (kept_.has_all()) append_row(delta.rows, kept_.column(), node);
  }
  delta.deleted = added_nodes(log_->deleted, deleted_);
  std::erase_if(delta.deleted, [&](NodeId node) { return delta.has_slot(node); });
  if (options_.graph != GraphKind::kNone) {
    std::vector<NodeId>& linked = log_->linked;
    if (log_->compares_all) {
      linked.resize(node_count_);
      std::iota(linked.begin(), linked.end(), NodeId{0});
    }
    delta.graph = diff_graphs(log_->graph, graph(), linked, log_->cleared);
    log_->graph.settle();
  }
  restart_log(std::move(log_->graph));
  return pack_delta(delta);
}

void Index::apply_delta(ByteView bytes) {
  check_attached();
  const IndexDelta delta = unpack_index_delta(bytes);
  const WriteLock<SharedMutex> lock(mutex_);
  load_graph();
  expect(!source_ && log_ == nullptr, Reason::kWrongState,
         "this index makes deltas (it has a source graph, or records its changes): it takes none");
  if (delta.shape != delta_shape()) refuse("it is of an index of another kind, or other codes");
  if (delta.base_count != node_count_) refuse("it starts from another number of nodes");
  expect(delta.node_count < Beam::kMaxNodes, Reason::kTooLarge, kTooManyVectors);
  prepare_update();
  check_slots(delta);
  check_rows(delta);
  if (options_.graph != GraphKind::kNone) {
    gossamer::apply_delta(graph_, delta.graph);
    graph_.settle();
  }
  ++version_;
  fill_slots(delta);
}

// Of an index that follows another the ids must be as unique as the other's are.
void Index::check_slots(const IndexDelta& delta) const {
  Bitmap touched(delta.node_count);
  for (const IndexDelta::Slot& slot : delta.slots) touched.insert(slot.node);
  for (const NodeId node : delta.deleted) {
    if (!is_live(node)) refuse("a node to delete is deleted already");
    touched.insert(node);
  }
  std::unordered_set<std::uint64_t> live;
  for (const IndexDelta::Slot& slot : delta.slots) {
    if (slot.is_live && !live.insert(slot.id).second) refuse("it gives an id to two vectors");
    const std::optional<NodeId> holder = ids_.find(slot.id);
    if (holder && is_live(*holder) && !touched.contains(*holder)) refuse("an id is in use already");
  }
}

// Distances of what is not a number are in no order.
void Index::check_rows(const IndexDelta& delta) const {
  if (!kept_.has_all()) return;
  std::vector<float> vector(space_.dim());
  for (std::size_t i = 0; i < delta.slots.size(); ++i) {
    space_.decode_row(delta.rows.data() + i * space_.row_bytes(), vector.data());
    const bool is_finite =
        std::all_of(vector.begin(), vector.end(), [](float value) { return std::isfinite(value); });
    expect(is_finite, Reason::kDamaged, "delta: a vector holds what is not a number");
  }
}

void Index::fill_slots(const IndexDelta& delta) {
  std::vector<NodeId> nodes;
  for (const IndexDelta::Slot& slot : delta.slots) nodes.push_back(slot.node);
  if (codebook_ != nullptr) codes_.fill(nodes, delta.codes.data());
  if (kept_.has_all()) kept_.fill(nodes, delta.rows.data());

  // Ids that are given up go first: another place may have been given the same.
  const auto release = [&](NodeId node) {
    if (node < node_count_ && is_live(node)) ids_.release(node);
  };
  for (const NodeId node : delta.deleted) release(node);
  for (const NodeId node : nodes) release(node);
  node_count_ = delta.node_count;
  deleted_.resize(node_count_);
  for (const NodeId node : delta.deleted) deleted_.insert(node);
  for (const IndexDelta::Slot& slot : delta.slots) {
    if (slot.is_live) continue;
    ids_.set(slot.node, slot.id);
    ids_.release(slot.node);
    deleted_.insert(slot.node);
  }
  for (const IndexDelta::Slot& slot : delta.slots) {
    if (!slot.is_live) continue;
    ids_.set(slot.node, slot.id);
    deleted_.erase(slot.node);
  }
  deleted_count_ = deleted_.count();
  vacant_.clear();  // places that the delta filled are not free any more
}

}  // namespace gossamer
