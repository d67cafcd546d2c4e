#include "base/parallel.h"
#include "graph/insert.h"
#include "graph/order.h"
#include "index/index.h"

namespace gossamer {

void Index::compact(unsigned threads) {
  const WriteLock<SharedMutex> lock(mutex_);
  prepare_update();
  if (deleted_count_ == 0) {
    if (options_.graph != GraphKind::kNone && !follower_) graph_.compact();
    return;
  }
  ++version_;
  log_.reset();  // no delta leads from one numbering of nodes to another
  std::vector<NodeId> live;
  std::vector<NodeId> gone;
  for (std::size_t i = 0; i < node_count_; ++i) {
    (is_live(static_cast<NodeId>(i)) ? live : gone).push_back(static_cast<NodeId>(i));
  }
  if (options_.graph != GraphKind::kNone) compact_graphs(live, gone, threads);
  std::vector<std::uint64_t> ids(live.size());
  for (std::size_t i = 0; i < live.size(); ++i) ids[i] = ids_.id(live[i]);
  ids_ = IdMap(ids);
  if (codebook_ != nullptr) codes_ = codes_.take(live);
  compact_kept(live);
  node_count_ = live.size();
  deleted_ = Bitmap(node_count_);
  deleted_count_ = 0;
  vacant_.clear();
  if (source_ && kept_.has_all()) follow_anew(threads);
}

// Whoever was linked to a deleted node is linked to its neighbors instead, by the vectors that are
// kept or, where none are, by what their codes stand for.
void Index::compact_graphs(std::span<const NodeId> live, std::span<const NodeId> gone,
                           unsigned threads) {
  RowBytes decoded;
  Rows known = rows();
  const Space half(space_.metric(), Scalar::kF16, space_.dim());
  if (!kept_.has_all()) {
    decoded = decode_codes(half, threads);
    known = {&half, decoded.data(), node_count_};
  }
  Graph& graph = updated_graph();
  unlink_nodes(graph, known, gone, insert_options(), nullptr);
  graph = take_nodes(graph, live);
  follower_.reset();
}

RowBytes Index::decode_codes(const Space& space, unsigned threads) const {
  RowBytes rows(node_count_ * space.row_bytes());
  parallel_for(node_count_, threads, 64, [&](std::size_t i, unsigned) {
    std::vector<float> vector(space.dim());
    codebook_->decode(codes_.row(static_cast<NodeId>(i)), vector.data());
    space.encode_row(vector.data(), rows.data() + i * space.row_bytes());
  });
  return rows;
}

void Index::compact_kept(std::span<const NodeId> live) {
  if (kept_.keep() == Keep::kAll) {
    kept_ = Kept(space_, kept_.column().take(live));
    return;
  }
  Kept settled(options_.keep, space_, options_.hot_budget);
  std::vector<float> vector(space_.dim());
  const std::span<const NodeId> nodes = kept_.nodes();
  for (std::size_t slot = 0; slot < nodes.size(); ++slot) {
    const auto place = std::lower_bound(live.begin(), live.end(), nodes[slot]);
    if (place == live.end() || *place != nodes[slot]) continue;
    const auto node = static_cast<NodeId>(place - live.begin());
    space_.decode_row(kept_.column().row(static_cast<NodeId>(slot)), vector.data());
    if (slot < kept_.pinned()) {
      settled.pin(space_, node, vector.data());
    } else {
      settled.remember(space_, node, vector.data());
    }
  }
  kept_ = std::move(settled);
}

}  // namespace gossamer
