#include "index/delta.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/crc32c.h"
#include "base/error.h"
#include "graph/coded.h"
#include "graph/delta_pack.h"
#include "storage/ids.h"

namespace gossamer {

namespace {

// The twin of the section 'Engine deltas' of docs/format.md.
constexpr std::array<char, 8> kDeltaMagic = {'G', 'S', 'M', 'D', 'E', 'L', 'T', 'A'};
constexpr std::uint32_t kDeltaVersion = 1;
constexpr std::size_t kChecksumBytes = 4;

// What is coded apart in the part 'nodes'.
enum Table : std::size_t {
  kGap,         // between runs of slots: nodes and ids that both rise by one
  kLength,      // of a run, less one
  kId,          // how far a run's first id lies from the last one of the run before
  kEmptied,     // gaps between slots that are empty again
  kDeletedGap,  // between deleted nodes
  kTableCount,
};

constexpr unsigned kIdBits = 63;

struct Run {
  std::size_t begin;
  std::size_t length;
};

std::vector<Run> runs_of(std::span<const IndexDelta::Slot> slots) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool goes_on =
        i > 0 && slots[i].node == slots[i - 1].node + 1 && slots[i].id == slots[i - 1].id + 1;
    if (goes_on) {
      ++runs.back().length;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

template <class Sink>
void put_nodes(Sink& sink, const IndexDelta& delta, std::span<const Run> runs) {
  std::uint64_t next = 0;
  std::uint64_t last_id = 0;
  sink.count(runs.size());
  for (const auto& [begin, length] : runs) {
    const auto& [node, id, is_live] = delta.slots[begin];
    sink.value(kGap, node - next);
    sink.value(kLength, length - 1);
    sink.value(kId, zigzag(static_cast<std::int64_t>(id) - static_cast<std::int64_t>(last_id)));
    next = node + length;
    last_id = id + (length - 1);
  }
  sink.count(static_cast<std::size_t>(std::count_if(
      delta.slots.begin(), delta.slots.end(), [](const auto& slot) { return !slot.is_live; })));
  next = 0;
  for (std::size_t i = 0; i < delta.slots.size(); ++i) {
    if (delta.slots[i].is_live) continue;
    sink.value(kEmptied, i - next);
    next = i + 1;
  }
  sink.count(delta.deleted.size());
  next = 0;
  for (const NodeId node : delta.deleted) {
    sink.value(kDeletedGap, node - next);
    next = node + std::uint64_t{1};
  }
}

Bytes pack_nodes(const IndexDelta& delta) {
  const std::vector<Run> runs = runs_of(delta.slots);
  BitWriter writer;
  SymbolCounter<kTableCount> counter;
  put_nodes(counter, delta, runs);
  const auto codes = counter.codes();
  SymbolCoder<kTableCount> coder(writer, codes);
  put_nodes(coder, delta, runs);
  return writer.take();
}

[[noreturn]] void refuse(const char* why) { fail(Reason::kDamaged, std::string("delta: ") + why); }

using Decoder = SymbolDecoder<kTableCount>;

// `slot_count` is what the codes and vectors that follow have room for: no run is longer.
void unpack_slots(Decoder& decoder, std::size_t slot_count, IndexDelta& delta) {
  std::uint64_t next = 0;
  std::uint64_t last_id = 0;
  for (std::size_t left = decoder.count(); left > 0; --left) {
    const NodeId first = decoder.node_after(next, kGap, delta.node_count);
    const std::uint64_t length = decoder.value(kLength) + 1;
    if (length > slot_count - delta.slots.size() || length > delta.node_count - first)
      refuse("a run is longer than there are places");
    const std::uint64_t id =
        last_id + static_cast<std::uint64_t>(unzigzag(decoder.value(kId, kIdBits)));
    if (id > kMaxId || length - 1 > kMaxId - id) refuse("a run leaves the range of ids");
    for (std::uint64_t i = 0; i < length; ++i) {
      delta.slots.push_back({static_cast<NodeId>(first + i), id + i, true});
    }
    next = first + length;
    last_id = id + (length - 1);
  }
  if (delta.slots.size() != slot_count) refuse("its places are not as many as its vectors");
}

auto slot_at(const std::vector<IndexDelta::Slot>& slots, std::size_t node) {
  return std::lower_bound(slots.begin(), slots.end(), node,
                          [](const auto& slot, std::size_t wanted) { return slot.node < wanted; });
}

void unpack_nodes(ByteView bytes, std::size_t slot_count, IndexDelta& delta) {
  BitReader reader(bytes, "delta");
  Decoder decoder(reader);
  unpack_slots(decoder, slot_count, delta);
  for (const NodeId place : decoder.nodes(kEmptied, delta.slots.size())) {
    delta.slots[place].is_live = false;
  }
  delta.deleted = decoder.nodes(kDeletedGap, delta.base_count);
  reader.expect_end();
  const auto new_slots = delta.slots.end() - slot_at(delta.slots, delta.base_count);
  if (static_cast<std::size_t>(new_slots) != delta.node_count - delta.base_count)
    refuse("a new node has no vector");
  for (const NodeId node : delta.deleted) {
    if (delta.has_slot(node)) refuse("a node is filled and deleted");
  }
}

struct Header {
  IndexDelta::Shape shape;
  std::uint64_t base_count = 0;
  std::uint64_t node_count = 0;
  std::uint64_t slot_count = 0;
  std::uint64_t nodes_bytes = 0;
  std::uint64_t graph_bytes = 0;
};

Bytes write_header(const Header& header) {
  ByteWriter out;
  const IndexDelta::Shape& shape = header.shape;
  out.put_array(std::span<const char>(kDeltaMagic));
  out.put(kDeltaVersion);
  out.put(shape.dim);
  out.put(static_cast<std::uint8_t>(shape.metric));
  out.put(static_cast<std::uint8_t>(shape.scalar));
  out.put(static_cast<std::uint8_t>(shape.keep));
  out.put(static_cast<std::uint8_t>(shape.graph));
  out.put(shape.scale);
  out.put(shape.codebook);
  out.put_varint(shape.code_bytes);
  out.put_varint(shape.row_bytes);
  out.put_varint(header.base_count);
  out.put_varint(header.node_count);
  out.put_varint(header.slot_count);
  out.put_varint(header.nodes_bytes);
  out.put_varint(header.graph_bytes);
  return out.take();
}

template <class Enum>
Enum read_enum(ByteReader& in, std::uint8_t last) {
  const auto value = in.get<std::uint8_t>();
  if (value > last) refuse("a kind of index that is unknown");
  return static_cast<Enum>(value);
}

// The bytes of a delta without its checksum, which is compared first: nothing else need be told
// apart in bytes that were cut off or changed on their way.
ByteView check_frame(ByteView bytes) {
  constexpr std::size_t kLeast = kDeltaMagic.size() + sizeof(kDeltaVersion) + kChecksumBytes;
  const bool is_delta = bytes.size() >= kLeast &&
                        std::equal(kDeltaMagic.begin(), kDeltaMagic.end(), bytes.begin(),
                                   [](char a, std::uint8_t b) { return std::uint8_t(a) == b; });
  expect(is_delta, Reason::kDamaged, "these bytes are no delta: they do not start with GSMDELTA");
  const auto version = ByteReader(bytes.subspan(kDeltaMagic.size()), "delta").get<std::uint32_t>();
  if (version != kDeltaVersion) {
    fail(Reason::kUnknownVersion, "the delta has version " + std::to_string(version) +
                                      ", this release reads version " +
                                      std::to_string(kDeltaVersion) + "; upgrade");
  }
  const ByteView content = bytes.first(bytes.size() - kChecksumBytes);
  const auto checksum = ByteReader(bytes.last(kChecksumBytes), "delta").get<std::uint32_t>();
  expect(crc32c(content) == checksum, Reason::kDamaged,
         "the delta does not match its checksum: fetch it again");
  return content;
}

Header read_header(ByteReader& in) {
  Header header;
  IndexDelta::Shape& shape = header.shape;
  in.take(kDeltaMagic.size() + sizeof(kDeltaVersion));
  shape.dim = in.get<std::uint32_t>();
  shape.metric = read_enum<Metric>(in, 2);
  shape.scalar = read_enum<Scalar>(in, 2);
  shape.keep = read_enum<Keep>(in, 2);
  shape.graph = read_enum<GraphKind>(in, 3);
  shape.scale = in.get<float>();
  shape.codebook = in.get<std::uint64_t>();
  const std::uint64_t code_bytes = in.get_varint();
  const std::uint64_t row_bytes = in.get_varint();
  header.base_count = in.get_varint();
  header.node_count = in.get_varint();
  header.slot_count = in.get_varint();
  header.nodes_bytes = in.get_varint();
  header.graph_bytes = in.get_varint();
  if (code_bytes > kNoNode || row_bytes > kNoNode || header.base_count > header.node_count ||
      header.node_count > kNoNode || header.slot_count > header.node_count)
    refuse("its counts are out of range");
  shape.code_bytes = static_cast<std::uint32_t>(code_bytes);
  shape.row_bytes = static_cast<std::uint32_t>(row_bytes);
  if (code_bytes + row_bytes == 0) refuse("neither codes nor vectors");
  return header;
}

ByteView take(ByteReader& in, std::uint64_t count, std::uint64_t each = 1) {
  if (each > 0 && count > in.remaining() / each) refuse("its parts do not fit its length");
  return in.take(static_cast<std::size_t>(count * each));
}

// The parts of a packed delta; nothing in them is read.
struct Packed {
  Header header;
  ByteView nodes;
  ByteView graph;
  ByteView codes;
  ByteView rows;
};

Packed part(ByteView bytes) {
  ByteReader in(check_frame(bytes), "delta");
  Packed packed;
  packed.header = read_header(in);
  const Header& header = packed.header;
  packed.nodes = take(in, header.nodes_bytes);
  packed.graph = take(in, header.graph_bytes);
  packed.codes = take(in, header.slot_count, header.shape.code_bytes);
  packed.rows = take(in, header.slot_count, header.shape.row_bytes);
  in.expect_end();
  return packed;
}

void append_rows(Bytes& out, const Bytes& rows, std::size_t place, std::size_t row_bytes) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(place * row_bytes);
  out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(row_bytes));
}

[[noreturn]] void refuse_join() {
  fail(Reason::kWrongState,
       "these deltas do not follow each other: join those of one index, in their order");
}

// The places of both; what the second filled them with stands.
void join_slots(const IndexDelta& first, const IndexDelta& second, IndexDelta& joined) {
  const auto append = [&](const IndexDelta& from, std::size_t place) -> IndexDelta::Slot& {
    append_rows(joined.codes, from.codes, place, from.shape.code_bytes);
    append_rows(joined.rows, from.rows, place, from.shape.row_bytes);
    return joined.slots.emplace_back(from.slots[place]);
  };
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < first.slots.size() || b < second.slots.size()) {
    const bool is_second = b < second.slots.size() &&
                           (a == first.slots.size() || second.slots[b].node <= first.slots[a].node);
    if (is_second) {
      if (a < first.slots.size() && first.slots[a].node == second.slots[b].node) ++a;
      append(second, b++);
      continue;
    }
    IndexDelta::Slot& slot = append(first, a++);
    if (!std::binary_search(second.deleted.begin(), second.deleted.end(), slot.node)) continue;
    if (!slot.is_live) refuse_join();
    slot.is_live = false;
  }
}

IndexDelta join(const IndexDelta& first, const IndexDelta& second) {
  if (first.shape != second.shape || first.node_count != second.base_count) refuse_join();
  IndexDelta joined;
  joined.shape = first.shape;
  joined.base_count = first.base_count;
  joined.node_count = second.node_count;
  join_slots(first, second, joined);
  std::merge(first.deleted.begin(), first.deleted.end(), second.deleted.begin(),
             second.deleted.end(), std::back_inserter(joined.deleted));
  const auto twice = std::adjacent_find(joined.deleted.begin(), joined.deleted.end());
  if (twice != joined.deleted.end()) refuse_join();
  std::erase_if(joined.deleted, [&](NodeId node) { return joined.has_slot(node); });
  joined.graph = join_deltas(first.graph, second.graph);
  return joined;
}

// By halves, so that no vector is copied once for each delta that follows.
IndexDelta join_all(std::span<const ByteView> deltas) {
  if (deltas.size() == 1) return unpack_index_delta(deltas[0]);
  const std::size_t half = deltas.size() / 2;
  return join(join_all(deltas.first(half)), join_all(deltas.subspan(half)));
}

}  // namespace

bool IndexDelta::has_slot(NodeId node) const {
  const auto place = slot_at(slots, node);
  return place != slots.end() && place->node == node;
}

Bytes pack_delta(const IndexDelta& delta) {
  const bool has_graph = delta.shape.graph != GraphKind::kNone;
  const Bytes nodes = pack_nodes(delta);
  const Bytes graph = has_graph ? pack_delta(delta.graph) : Bytes();
  ByteWriter out;
  out.put_bytes(write_header({delta.shape, delta.base_count, delta.node_count, delta.slots.size(),
                              nodes.size(), graph.size()}));
  out.put_bytes(nodes);
  out.put_bytes(graph);
  out.put_bytes(delta.codes);
  out.put_bytes(delta.rows);
  Bytes bytes = out.take();
  ByteWriter checksum;
  checksum.put(crc32c(bytes));
  const Bytes end = checksum.take();
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

IndexDelta unpack_index_delta(ByteView bytes) {
  const Packed packed = part(bytes);
  IndexDelta delta;
  delta.shape = packed.header.shape;
  delta.base_count = static_cast<std::size_t>(packed.header.base_count);
  delta.node_count = static_cast<std::size_t>(packed.header.node_count);
  unpack_nodes(packed.nodes, static_cast<std::size_t>(packed.header.slot_count), delta);
  delta.codes.assign(packed.codes.begin(), packed.codes.end());
  delta.rows.assign(packed.rows.begin(), packed.rows.end());
  const bool has_graph = delta.shape.graph != GraphKind::kNone;
  if (has_graph == packed.graph.empty()) refuse("its graph is missing, or there is one too many");
  if (!has_graph) return delta;
  delta.graph = unpack_delta(packed.graph);
  if (delta.graph.base_count != delta.base_count || delta.graph.node_count != delta.node_count)
    refuse("its graph has another number of nodes");
  return delta;
}

Bytes join_packed_deltas(std::span<const ByteView> deltas) {
  expect(!deltas.empty(), Reason::kEmpty, "there are no deltas to join");
  return pack_delta(join_all(deltas));
}

DeltaBytes measure_delta(ByteView bytes) {
  const Packed packed = part(bytes);
  DeltaBytes measured;
  measured.graph = packed.graph.size();
  measured.codes = packed.codes.size();
  measured.vectors = packed.rows.size();
  measured.nodes = bytes.size() - measured.graph - measured.codes - measured.vectors;
  return measured;
}

}  // namespace gossamer
