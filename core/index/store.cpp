#include <algorithm>
#include <cmath>
#include <string>

#include "graph/pack.h"
#include "index/index.h"

namespace gossamer {

namespace {

// What the section 'meta' says, field by field in the order of docs/format.md.
struct Meta {
  IndexOptions options;
  float scale = 1.0f;
  std::uint64_t node_count = 0;
  std::uint64_t pinned = 0;
  std::uint32_t code_bytes = 0;
  std::uint64_t codebook = 0;  // fingerprint
};

// Flags of a graph's options.
constexpr std::uint32_t kByInDegree = 1;
constexpr std::uint32_t kSimpleShrink = 2;

Bytes write_meta(const Meta& meta) {
  const IndexOptions& options = meta.options;
  ByteWriter out;
  out.put(static_cast<std::uint32_t>(options.dim));
  out.put(static_cast<std::uint8_t>(options.metric));
  out.put(static_cast<std::uint8_t>(options.scalar));
  out.put(static_cast<std::uint8_t>(options.keep));
  out.put(static_cast<std::uint8_t>(options.graph));
  out.put(meta.scale);
  out.put(meta.code_bytes);
  out.put(meta.node_count);
  out.put(meta.codebook);
  out.put(static_cast<std::uint64_t>(options.hot_budget));
  out.put(meta.pinned);
  out.put<std::uint64_t>(options.build.seed);
  out.put(options.build.level_probability);
  out.put<std::uint32_t>(options.build.max_degree);
  out.put<std::uint32_t>(options.build.effort);
  out.put(options.hub.hub_share);
  out.put<std::uint32_t>(options.hub.max_degree);
  out.put<std::uint32_t>(options.hub.low_degree);
  out.put<std::uint32_t>(options.hub.effort);
  out.put<std::uint32_t>((options.slim_by_in_degree ? kByInDegree : 0) |
                         (options.build.simple_shrink ? kSimpleShrink : 0));
  out.put(options.slim.hub_share0);
  out.put(options.slim.hub_share);
  out.put(static_cast<std::uint32_t>(options.slim.hub_degree0));
  out.put(static_cast<std::uint32_t>(options.slim.low_degree0));
  out.put(static_cast<std::uint32_t>(options.slim.hub_degree));
  out.put(static_cast<std::uint32_t>(options.slim.low_degree));
  out.put<std::uint32_t>(options.slim.tradeoff_layer);
  out.put<std::uint32_t>(options.keep_source ? 1 : 0);
  return out.take();
}

template <class Enum>
Enum read_enum(ByteReader& in, std::uint8_t last, const char* what) {
  const auto value = in.get<std::uint8_t>();
  if (value > last) {
    fail(Reason::kDamaged, std::string("meta: unknown ") + what + " " + std::to_string(value));
  }
  return static_cast<Enum>(value);
}

double read_share(ByteReader& in) {
  const auto share = in.get<double>();
  expect(share >= 0 && share <= 1, Reason::kDamaged, "meta: a share is not between 0 and 1");
  return share;
}

std::uint32_t read_degree(ByteReader& in) {
  const auto degree = in.get<std::uint32_t>();
  expect(degree <= kMaxDegree, Reason::kDamaged, "meta: a degree is beyond what lists can hold");
  return degree;
}

// What a build would have refused: an update of the graph must find what it can work with.
void check_graph_options(const IndexOptions& options) {
  const BuildOptions& build = options.build;
  const HubOptions& hub = options.hub;
  const SlimParameters& slim = options.slim;
  expect(build.max_degree >= 2 && 2 * build.max_degree < kMaxDegree && build.effort >= 1 &&
             build.effort <= kMaxEffort && build.level_probability < 1,
         Reason::kDamaged, "meta: the options of the graph are out of bounds");
  expect(
      options.graph != GraphKind::kHub || (hub.low_degree >= 1 && hub.low_degree <= hub.max_degree),
      Reason::kDamaged, "meta: the degrees of hubs do not fit together");
  expect(
      options.graph != GraphKind::kSlim ||
          (slim.low_degree0 >= 1 && slim.low_degree0 <= slim.hub_degree0 && slim.low_degree >= 1 &&
           slim.low_degree <= slim.hub_degree && slim.tradeoff_layer <= kMaxLevel),
      Reason::kDamaged, "meta: the options of the slim graph do not fit together");
}

Meta read_meta(ByteView bytes) {
  ByteReader in(bytes, "meta");
  Meta meta;
  IndexOptions& options = meta.options;
  options.dim = in.get<std::uint32_t>();
  options.metric = read_enum<Metric>(in, 2, "metric");
  options.scalar = read_enum<Scalar>(in, 2, "scalar type");
  options.keep = read_enum<Keep>(in, 2, "keeping mode");
  options.graph = read_enum<GraphKind>(in, 3, "graph");
  meta.scale = in.get<float>();
  meta.code_bytes = in.get<std::uint32_t>();
  meta.node_count = in.get<std::uint64_t>();
  meta.codebook = in.get<std::uint64_t>();
  options.hot_budget = static_cast<std::size_t>(in.get<std::uint64_t>());
  meta.pinned = in.get<std::uint64_t>();
  options.build.seed = in.get<std::uint64_t>();
  options.build.level_probability = read_share(in);
  options.build.max_degree = read_degree(in);
  options.build.effort = in.get<std::uint32_t>();
  options.hub.hub_share = read_share(in);
  options.hub.max_degree = read_degree(in);
  options.hub.low_degree = read_degree(in);
  options.hub.effort = in.get<std::uint32_t>();
  const auto flags = in.get<std::uint32_t>();
  expect(flags <= (kByInDegree | kSimpleShrink), Reason::kDamaged, "meta: unknown flags");
  options.slim_by_in_degree = (flags & kByInDegree) != 0;
  options.build.simple_shrink = (flags & kSimpleShrink) != 0;
  options.slim.hub_share0 = read_share(in);
  options.slim.hub_share = read_share(in);
  options.slim.hub_degree0 = read_degree(in);
  options.slim.low_degree0 = read_degree(in);
  options.slim.hub_degree = read_degree(in);
  options.slim.low_degree = read_degree(in);
  options.slim.tradeoff_layer = in.get<std::uint32_t>();
  options.keep_source = in.get<std::uint32_t>() != 0;
  in.expect_end();
  expect(options.dim > 0 && options.dim <= (1u << 20), Reason::kDamaged,
         "meta: the dimension is out of bounds");
  expect(meta.node_count < Beam::kMaxNodes, Reason::kDamaged, "meta: too many nodes");
  expect(std::isfinite(meta.scale) && meta.scale > 0, Reason::kDamaged, "meta: the scale is wrong");
  expect(options.scalar == Scalar::kI8 ? options.dim <= kMaxDimI8 : meta.scale == 1.0f,
         Reason::kDamaged, "meta: the scalar type does not fit the dimension or the scale");
  expect(meta.code_bytes > 0 || options.keep == Keep::kAll, Reason::kDamaged,
         "meta: neither codes nor all vectors");
  if (options.graph != GraphKind::kNone) check_graph_options(options);
  return meta;
}

std::shared_ptr<const Codebook> find_codebook(const Container& file, const Meta& meta,
                                              std::shared_ptr<const Codebook> shared) {
  if (meta.code_bytes == 0) return nullptr;
  if (file.has(SectionKind::kCodebook)) {
    shared =
        std::make_shared<Codebook>(Codebook::from_bytes(file.verified(SectionKind::kCodebook)));
  }
  expect(shared != nullptr, Reason::kMissingCodebook,
         "the index was saved without its codebook; open it with codebook=");
  expect(shared->fingerprint() == meta.codebook && shared->code_bytes() == meta.code_bytes,
         Reason::kCodebookMismatch, "the index was built with another codebook than the one given");
  return shared;
}

Bytes bitmap_bytes(const Bitmap& bitmap) {
  ByteWriter out;
  out.put_array(std::span<const std::uint64_t>(bitmap.words()));
  return out.take();
}

Bytes copy_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

Bitmap read_bitmap(ByteView bytes, std::size_t size) {
  Bitmap bitmap(size);
  if (bytes.empty()) return bitmap;
  ByteReader in(bytes, "deleted");
  const auto words = in.get_array<std::uint64_t>(bitmap.words().size());
  in.expect_end();
  for (std::size_t i = 0; i < size; ++i) {
    if ((words[i / 64] >> (i % 64)) & 1) bitmap.insert(static_cast<NodeId>(i));
  }
  return bitmap;
}

// A column over a section whose length must be exactly `count` rows.
Column map_rows(const Container& file, SectionKind kind, std::size_t row_bytes, std::size_t count) {
  const ByteView bytes = file.bytes(kind);
  const bool fits = row_bytes == 0
                        ? bytes.empty()
                        : bytes.size() / row_bytes == count && bytes.size() % row_bytes == 0;
  if (!fits) {
    fail(Reason::kDamaged, std::string("the section '") + name_of(kind) + "' has " +
                               std::to_string(bytes.size()) + " bytes, but holds " +
                               std::to_string(count) + " rows of " + std::to_string(row_bytes));
  }
  return {row_bytes, bytes};
}

Kept detached_rows(const Container& file, const Meta& meta, const Space& space,
                   std::size_t resident_bytes) {
  const std::uint64_t length = file.length_of(SectionKind::kVectors);
  if (length != meta.node_count * space.row_bytes()) {
    fail(Reason::kDamaged, "the section 'vectors' has " + std::to_string(length) +
                               " bytes, but holds " + std::to_string(meta.node_count) +
                               " rows of " + std::to_string(space.row_bytes()));
  }
  const auto node_count = static_cast<std::size_t>(meta.node_count);
  return {Keep::kAll, std::make_shared<ResidentRows>(space.row_bytes(), node_count,
                                                     resident_bytes / space.row_bytes())};
}

// What no index works without must be at hand if the file has it.
void check_attached_sections(const Container& file, bool is_detached) {
  for (const Container::Entry& entry : file.entries()) {
    const bool is_needed = entry.kind == SectionKind::kMeta || entry.kind == SectionKind::kCodes ||
                           entry.kind == SectionKind::kHotNodes ||
                           entry.kind == SectionKind::kIds || entry.kind == SectionKind::kDeleted ||
                           (entry.kind == SectionKind::kVectors && !is_detached);
    if (is_needed && !entry.is_attached) {
      fail(Reason::kInvalidArgument, std::string("the section '") + name_of(entry.kind) +
                                         "' was left out, and this index cannot do without");
    }
  }
}

Kept read_kept(const Container& file, const Meta& meta, const Space& space) {
  if (meta.options.keep == Keep::kAll) {
    return {space, map_rows(file, SectionKind::kVectors, space.row_bytes(),
                            static_cast<std::size_t>(meta.node_count))};
  }
  if (meta.options.keep == Keep::kNone) return {Keep::kNone, space};
  ByteReader in(file.verified(SectionKind::kHotNodes), "hot nodes");
  const auto nodes = in.get_array<NodeId>(in.remaining() / sizeof(NodeId));
  in.expect_end();
  for (const NodeId node : nodes) {
    expect(node < meta.node_count || node == kNoNode, Reason::kDamaged,
           "hot nodes: a node is out of range");
  }
  return {space, meta.options.hot_budget, nodes, static_cast<std::size_t>(meta.pinned),
          map_rows(file, SectionKind::kVectors, space.row_bytes(), nodes.size())};
}

}  // namespace

std::unique_ptr<Index> Index::open(ByteView file, std::shared_ptr<const Codebook> shared) {
  return open(Container::parse(file), std::move(shared), std::nullopt);
}

std::unique_ptr<Index> Index::open(Container container, std::shared_ptr<const Codebook> shared,
                                   std::optional<std::size_t> resident_bytes) {
  const Meta meta = read_meta(container.required(SectionKind::kMeta));
  const bool is_detached = resident_bytes && meta.options.keep == Keep::kAll;
  check_attached_sections(container, is_detached);
  const Space space(meta.options.metric, meta.options.scalar, meta.options.dim, meta.scale);
  std::unique_ptr<Index> index(
      new Index(meta.options, space, find_codebook(container, meta, std::move(shared))));
  index->node_count_ = static_cast<std::size_t>(meta.node_count);
  index->codes_ = map_rows(container, SectionKind::kCodes, meta.code_bytes,
                           meta.code_bytes == 0 ? 0 : index->node_count_);
  index->kept_ = is_detached ? detached_rows(container, meta, space, *resident_bytes)
                             : read_kept(container, meta, space);
  index->deleted_ = read_bitmap(container.verified(SectionKind::kDeleted), index->node_count_);
  index->deleted_count_ = index->deleted_.count();
  if (container.has(SectionKind::kCalibration)) {
    index->calibration_ = Calibration::from_bytes(container.verified(SectionKind::kCalibration));
  }
  const bool has_graph = meta.options.graph != GraphKind::kNone;
  expect(has_graph == container.lists(SectionKind::kGraph), Reason::kDamaged,
         "the graph that 'meta' speaks of is missing, or there is one too many");
  index->has_graph_ = !has_graph;
  index->has_ids_ = !container.has(SectionKind::kIds);
  if (index->has_ids_) index->ids_ = IdMap::identity(index->node_count_);
  index->has_checked_codes_ = meta.code_bytes == 0;
  index->has_checked_kept_ = is_detached || !container.has(SectionKind::kVectors);
  index->file_ = std::move(container);
  return index;
}

std::vector<ByteView> Index::save(FileImage& image, const Saved& saved) const {
  check_attached();
  check_codes();
  check_kept();
  load_ids();
  load_graph();
  const ReadLock<SharedMutex> lock(mutex_);
  Meta meta{options_,
            space_.scale(),
            node_count_,
            kept_.pinned(),
            static_cast<std::uint32_t>(codes_.row_bytes()),
            codebook_ ? codebook_->fingerprint() : 0};
  meta.options.scalar = space_.scalar();
  image.add(SectionKind::kMeta, write_meta(meta));
  if (!calibration_.empty() && saved.calibration)
    image.add(SectionKind::kCalibration, calibration_.to_bytes());
  if (codebook_ && saved.codebook) {
    // The fingerprint is that of the bytes it was read from, which need not be how we write it.
    const bool is_in_file = file_ && file_->has(SectionKind::kCodebook);
    image.add(SectionKind::kCodebook,
              is_in_file ? copy_of(file_->bytes(SectionKind::kCodebook)) : codebook_->to_bytes());
  }
  if (deleted_count_ > 0) image.add(SectionKind::kDeleted, bitmap_bytes(deleted_));
  if (!ids_.counts_up()) image.add(SectionKind::kIds, ids_.to_bytes());
  if (kept_.keep() == Keep::kHot) {
    ByteWriter nodes;
    nodes.put_array(kept_.nodes());
    image.add(SectionKind::kHotNodes, nodes.take());
  }
  if (codebook_) image.add_view(SectionKind::kCodes, codes_.bytes(), codes_.share());
  if (options_.graph != GraphKind::kNone) {
    image.add(SectionKind::kGraph, pack_graph(graph()));
    if (source_ && saved.source) image.add(SectionKind::kSourceGraph, pack_graph(*source_));
  }
  if (kept_.keep() != Keep::kNone)
    image.add_view(SectionKind::kVectors, kept_.column().bytes(), kept_.column().share());
  return image.finish();
}

void Index::verify() const {
  if (file_) file_->verify_all();
  check_codes();
  load_ids();
  if (can_walk()) load_graph();
}

void Index::load_graph() const {
  if (has_graph_) return;
  const WriteLock<Mutex> lock(load_mutex_);
  if (has_graph_) return;
  expect(file_->has(SectionKind::kGraph), Reason::kWrongState,
         "the graph of this index was left out when it was opened");
  graph_ = unpack_graph(file_->verified(SectionKind::kGraph));
  expect(graph_.node_count() == node_count_, Reason::kDamaged,
         "the graph has another number of nodes than the index");
  // Updates follow the source only where a slim graph is pruned from it by vectors at hand.
  if (file_->has(SectionKind::kSourceGraph) && options_.graph == GraphKind::kSlim &&
      kept_.has_all()) {
    source_ = unpack_graph(file_->verified(SectionKind::kSourceGraph));
    expect(source_->node_count() == node_count_, Reason::kDamaged,
           "the source graph has another number of nodes than the index");
  }
  has_graph_ = true;
}

bool Index::can_walk() const {
  if (options_.graph == GraphKind::kNone) return false;
  return has_graph_ || file_->has(SectionKind::kGraph);
}

void Index::check_attached() const {
  expect(!is_detached(), Reason::kWrongState,
         "the vectors of this index were left in its file, so that it can only be searched; open "
         "it with all its sections to change it or save it");
}

void Index::load_ids() const {
  if (has_ids_) return;
  const WriteLock<Mutex> lock(load_mutex_);
  if (has_ids_) return;
  ids_ = IdMap::from_bytes(file_->verified(SectionKind::kIds), node_count_);
  has_ids_ = true;
}

void Index::prepare_lookup() const {
  const WriteLock<Mutex> lock(load_mutex_);
  ids_.prepare_lookup(deleted_);
}

void Index::check_codes() const { check_once(SectionKind::kCodes, has_checked_codes_); }

// Searches trust mapped vectors; what copies them must not give damaged ones a new checksum.
void Index::check_kept() const { check_once(SectionKind::kVectors, has_checked_kept_); }

void Index::check_once(SectionKind kind, std::atomic<bool>& is_checked) const {
  if (is_checked) return;
  const WriteLock<Mutex> lock(load_mutex_);
  if (is_checked) return;
  file_->verified(kind);
  is_checked = true;
}

}  // namespace gossamer
