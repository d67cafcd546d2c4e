#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/bytes.h"
#include "base/mutex.h"
#include "base/progress.h"
#include "codes/codebook.h"
#include "graph/graph.h"
#include "graph/slim_follower.h"
#include "index/delta.h"
#include "index/delta_log.h"
#include "index/options.h"
#include "search/calibrate.h"
#include "search/calibration.h"
#include "search/view.h"
#include "storage/container.h"
#include "storage/ids.h"
#include "vectors/column.h"
#include "vectors/kept.h"

namespace gossamer {

// What an index holds and what it takes.
struct IndexStats {
  std::size_t count = 0;    // vectors that can be found
  std::size_t deleted = 0;  // places held by deleted ones
  std::size_t kept = 0;     // vectors kept
  double mean_degree = 0;   // links a node on the base layer
  unsigned levels = 0;
  std::size_t codes_bytes = 0;
  std::size_t codebook_bytes = 0;
  std::size_t vectors_bytes = 0;
  std::size_t graph_bytes = 0;         // in memory
  std::size_t source_graph_bytes = 0;  // in memory
  std::size_t ids_bytes = 0;           // in memory
  bool rebuild_hint = false;           // so much was deleted that a compaction pays
  double prune_s = 0;                  // what the last update spent following the source graph
};

// What searches read of an index, which stays as it is while this lives: changes wait.
struct IndexView {
  ReadLock<SharedMutex> lock;
  View parts;  // but for the graph, see Index::graph()
  const IdMap& ids;
  const Calibration& calibration;
  const Bitmap* deleted;  // null if nothing is
  std::uint64_t version;  // of the content; a search under way must not see two
};

class InsertBatch;

// Codes, graph and kept vectors under one roof, with public ids. Any number of threads may search
// at once; changes wait for searches and searches for changes.
class Index {
 public:
  // Indexes `count` vectors end to end. `ids` may be null: then they are 0, 1, 2, ... The codebook
  // may be null only if all vectors are kept. `queries` (may be null) are used for calibration
  // instead of queries made from the data.
  static std::unique_ptr<Index> build(const IndexOptions& options,
                                      std::shared_ptr<const Codebook> codebook,
                                      const float* vectors, std::size_t count,
                                      const std::uint64_t* ids, const float* queries,
                                      std::size_t query_count, const BuildRun& run,
                                      Progress* progress);
  // An index made of parts that were built elsewhere (a bounded build, segments). Keeps no vectors.
  // Codes that are a view must outlive it.
  static std::unique_ptr<Index> assemble(const IndexOptions& options,
                                         std::shared_ptr<const Codebook> codebook, Column codes,
                                         Graph graph, std::span<const std::uint64_t> ids,
                                         Calibration calibration);
  // An index without vectors, of codes alone, that grows by add() and add_codes().
  static std::unique_ptr<Index> create(std::shared_ptr<const Codebook> codebook,
                                       Calibration calibration);
  // Reads a file's bytes, which must outlive the index. `shared` is the codebook for an index that
  // was saved without its own. Parts are read when they are first needed.
  static std::unique_ptr<Index> open(ByteView file, std::shared_ptr<const Codebook> shared);
  // The same from the sections that are at hand, which must outlive the index; source graph, graph,
  // codebook and calibration may be left out, as far as they are not used. With `resident_bytes` an
  // index that keeps all vectors is *detached*: they stay where they are, so many bytes of their
  // rows can be in memory, and searches ask for those that are not. It cannot be changed or saved.
  static std::unique_ptr<Index> open(Container container, std::shared_ptr<const Codebook> shared,
                                     std::optional<std::size_t> resident_bytes);

  // What of an index that can be had elsewhere goes into its file.
  struct Saved {
    bool codebook = true;     // without it the file needs the shared one to open
    bool calibration = true;  // without it recall means nothing until one is set
    bool source = true;       // without it updates of a slim index work on the pruned graph alone
  };
  // The parts of a file, in order; valid until the index changes.
  std::vector<ByteView> save(FileImage& image, const Saved& saved) const;
  // Compares every checksum of an opened file and reads every part (kDamaged).
  void verify() const;

  const IndexOptions& options() const { return options_; }
  std::shared_ptr<const Codebook> codebook() const { return codebook_; }
  // What each recall costs, as measured here or elsewhere; empty if nowhere.
  Calibration calibration() const;
  void set_calibration(Calibration calibration);
  IndexStats stats() const;
  std::size_t count() const;
  std::size_t node_count() const { return node_count_; }
  const Space& space() const { return space_; }
  // Whether all vectors are kept, but stored elsewhere.
  bool is_detached() const { return kept_.resident() != nullptr; }
  // The rows of a detached index that are in memory, for the host to fill; null for others.
  ResidentRows* resident() const { return kept_.resident(); }
  // Whether there is a graph, and it was not left out.
  bool can_walk() const;
  bool contains(std::uint64_t id) const;
  // Every id, in the order of nodes.
  std::vector<std::uint64_t> ids() const;
  // The node of each id, which is where its row stands among all vectors (kUnknownId).
  std::vector<NodeId> nodes_of(std::span<const std::uint64_t> ids) const;
  // Vectors that are kept, one row each; kUnknownId names an id without one.
  std::vector<float> vectors_of(std::span<const std::uint64_t> ids) const;

  // The codes of these ids, end to end (kUnknownId; kWrongState for an index without codes).
  Bytes codes_of(std::span<const std::uint64_t> ids) const;

  // The nodes of these ids, or of the ids whose place in `mask` is true: an allow-filter.
  Bitmap allow_ids(std::span<const std::uint64_t> ids) const;
  Bitmap allow_mask(std::span<const bool> mask) const;
  // All nodes but those of these ids, which need not be there.
  Bitmap allow_all_but(std::span<const std::uint64_t> ids) const;

  // For searches: see search.h.
  IndexView view() const;

  // Adds vectors under new ids (kDuplicateId), linking each by the vectors at hand: all of them,
  // or none if `progress` is cancelled.
  void add(std::span<const std::uint64_t> ids, const float* vectors, Progress* progress);
  // Adds codes that codes_of() gave, here or elsewhere, under new ids. Only where an index is codes
  // and nothing that vectors are needed for (else kWrongState).
  void add_codes(std::span<const std::uint64_t> ids, ByteView codes);
  // The same where vectors are not kept but the graph wants them (else kWrongState: use add).
  std::unique_ptr<InsertBatch> begin_add(std::span<const std::uint64_t> ids, const float* vectors);
  // Deleted vectors are never returned again; their places are used for new ones.
  void remove(std::span<const std::uint64_t> ids);
  // Gives the places of deleted vectors back.
  void compact(unsigned threads);
  // Hot mode: vectors that were just computed may be kept.
  void remember(std::span<const std::uint64_t> ids, const float* vectors);
  // Measures anew what each recall costs; all vectors must be kept.
  void recalibrate(const float* queries, std::size_t query_count, const BuildRun& run,
                   Progress* progress);

  // Starts to record changes for take_delta(), unless it did already. Not in hot mode
  // (kWrongState).
  void track();
  // What changed since track() or the last delta, for indexes that follow this one: see delta.h.
  // kWrongState if changes are not recorded, as compact() ends it by numbering nodes anew.
  Bytes take_delta();
  // Makes the changes of a delta, all or none, so that this index is saved as the one that the
  // delta was taken from. kDamaged for what is no delta; kWrongState if it does not fit, or if this
  // index has a source graph or records changes, so that it makes deltas itself.
  void apply_delta(ByteView delta);

  // The graph that is searched, read first if need be.
  const Graph& graph() const;

 private:
  friend class InsertBatch;

  Index(const IndexOptions& options, Space space, std::shared_ptr<const Codebook> codebook);

  View parts() const;
  Rows rows() const { return {&space_, kept_.column().data(), kept_.column().count()}; }
  bool is_live(NodeId node) const { return !deleted_.contains(node); }
  std::size_t live_count() const { return node_count_ - deleted_count_; }
  NodeId node_of(std::uint64_t id) const;
  void check_vectors(const float* vectors, std::size_t count) const;
  // What needs every vector fails in a detached index (kWrongState).
  void check_attached() const;

  // Building (build.cpp).
  void order_and_encode(const float* vectors, std::size_t count, const std::uint64_t* ids,
                        const BuildRun& run, Progress* progress);
  void build_graphs(const BuildRun& run, Progress* progress);
  void refine(const BuildRun& run, Progress* progress);
  SlimVariant slim_variant() const;
  std::vector<Strategy> strategies_to_calibrate() const;
  void settle_kept(const BuildRun& run);
  // The nodes that queries look at most often.
  std::vector<NodeId> popular_nodes(const BuildRun& run, std::size_t most) const;

  // Updating (update.cpp).
  void check_new_ids(std::span<const std::uint64_t> ids);
  void prepare_update();
  BuildOptions insert_options() const;
  NodeId take_place();
  void vacate_places();
  NodeId store_vector(std::uint64_t id, const float* vector);
  NodeId store_code(std::uint64_t id, const std::uint8_t* code);
  void erase(NodeId node);
  // The graph that updates change: the source where a slim graph follows one.
  Graph& updated_graph() { return source_ ? *source_ : graph_; }
  // Prunes the source graph as a whole, or only where it changed.
  void follow_anew(unsigned threads);
  void follow_source(const ChangedLists& changed);

  // Deltas (delta_track.cpp).
  IndexDelta::Shape delta_shape() const;
  void restart_log(Graph graph);
  void check_slots(const IndexDelta& delta) const;
  void check_rows(const IndexDelta& delta) const;
  void fill_slots(const IndexDelta& delta);

  // Compaction (compact.cpp).
  void compact_graphs(std::span<const NodeId> live, std::span<const NodeId> gone, unsigned threads);
  void compact_kept(std::span<const NodeId> live);
  RowBytes decode_codes(const Space& space, unsigned threads) const;

  // Reading (store.cpp).
  void load_graph() const;
  void load_ids() const;
  void prepare_lookup() const;
  void check_codes() const;
  void check_kept() const;
  void check_once(SectionKind kind, std::atomic<bool>& is_checked) const;

  IndexOptions options_;
  Space space_;
  std::shared_ptr<const Codebook> codebook_;
  Column codes_;
  Kept kept_;
  mutable Graph graph_;
  mutable std::optional<Graph> source_;
  std::unique_ptr<SlimFollower> follower_;
  mutable IdMap ids_;
  Bitmap deleted_;
  std::size_t deleted_count_ = 0;
  std::vector<NodeId> vacant_;     // deleted and out of the graph: free to be used again
  std::unique_ptr<DeltaLog> log_;  // null unless changes are recorded
  Calibration calibration_;
  std::size_t node_count_ = 0;
  double prune_s_ = 0;
  std::uint64_t version_ = 0;

  std::optional<Container> file_;
  mutable std::atomic<bool> has_graph_{true};
  mutable std::atomic<bool> has_ids_{true};
  mutable std::atomic<bool> has_checked_codes_{true};
  mutable std::atomic<bool> has_checked_kept_{true};
  mutable Mutex load_mutex_;
  mutable SharedMutex mutex_;
};

}  // namespace gossamer
