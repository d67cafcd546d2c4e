#include "graph/delta_pack.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/error.h"
#include "graph/coded.h"

namespace gossamer {

namespace {

// Edges that are alike: listed by their owners, in order, which a layer names by gaps.
enum Kind : std::size_t { kRemoved, kRemovedOneWay, kAdded, kAddedOneWay, kKindCount };

// What is coded for each kind.
enum Part : std::size_t { kOwner, kDegree, kFirst, kLater, kPartCount };

constexpr std::size_t table_of(Kind kind, Part part) {
  return std::size_t{kind} * std::size_t{kPartCount} + part;
}

// And what is not of a kind. A fresh node owns its edges both ways, and needs no gap to be named.
enum Table : std::size_t {
  kClearedGap = table_of(kKindCount, kOwner),
  kLevel,
  kFreshDegree,
  kFreshFirst,
  kFreshLater,
  kTableCount,
};

using Counter = SymbolCounter<kTableCount>;
using Coder = SymbolCoder<kTableCount>;
using Decoder = SymbolDecoder<kTableCount>;

constexpr bool is_one_way(Kind kind) { return kind == kRemovedOneWay || kind == kAddedOneWay; }

// One layer, parted by kind; an edge both ways is there once, from its owner.
struct Parts {
  std::array<std::vector<Edge>, kKindCount> kinds;
  std::vector<Edge> fresh;
};

void part(const GraphDelta& delta, const std::vector<Edge>& edges, Kind both_ways, Kind one_way,
          Parts& parts) {
  for (const Edge& edge : edges) {
    if (!std::binary_search(edges.begin(), edges.end(), Edge{edge.to, edge.from})) {
      parts.kinds[one_way].push_back(edge);
      continue;
    }
    const bool is_fresh = delta.is_fresh(edge.from);
    if (is_fresh != delta.is_fresh(edge.to)) {
      if (is_fresh) parts.fresh.push_back(edge);
    } else if (is_fresh && edge.from > edge.to) {
      parts.fresh.push_back(edge);
    } else if (!is_fresh && edge.from < edge.to) {
      parts.kinds[both_ways].push_back(edge);
    }
  }
}

Parts parts_of(const GraphDelta& delta, const GraphDelta::Layer& layer) {
  Parts parts;
  part(delta, layer.removed, kRemoved, kRemovedOneWay, parts);
  part(delta, layer.added, kAdded, kAddedOneWay, parts);
  return parts;
}

std::size_t run_length(std::span<const Edge> edges) {
  std::size_t length = 1;
  while (length < edges.size() && edges[length].from == edges[0].from) ++length;
  if (length > kMaxDegree) fail(Reason::kDamaged, "delta: a node has too many neighbors");
  return length;
}

template <class Sink>
void put_gaps(Sink& sink, std::size_t later, std::span<const Edge> list) {
  for (std::size_t i = 1; i < list.size(); ++i) sink.value(later, list[i].to - list[i - 1].to - 1);
}

template <class Sink>
void put_kind(Sink& sink, Kind kind, std::span<const Edge> edges) {
  std::size_t owners = 0;
  for (auto left = edges; !left.empty(); left = left.subspan(run_length(left))) ++owners;
  sink.count(owners);
  std::uint64_t next = 0;
  for (auto left = edges; !left.empty(); left = left.subspan(run_length(left))) {
    const auto list = left.first(run_length(left));
    const auto [owner, to] = list[0];
    sink.value(table_of(kind, kOwner), owner - next);
    next = owner + std::uint64_t{1};
    sink.symbol(table_of(kind, kDegree), list.size() - 1);
    sink.value(table_of(kind, kFirst),
               is_one_way(kind) ? zigzag(std::int64_t{to} - std::int64_t{owner}) : to - owner - 1);
    put_gaps(sink, table_of(kind, kLater), list);
  }
}

// Where a fresh node lies says nothing about where its neighbors lie: the first stands for itself.
template <class Sink>
void put_fresh(Sink& sink, const GraphDelta& delta, unsigned layer, std::span<const Edge> edges) {
  for (std::size_t rank = 0; rank < delta.levels.size(); ++rank) {
    if (delta.levels[rank] < layer) continue;
    const NodeId node = delta.fresh_node(rank);
    const bool has_edges = !edges.empty() && edges[0].from == node;
    const auto list = edges.first(has_edges ? run_length(edges) : 0);
    sink.symbol(kFreshDegree, list.size());
    if (has_edges) sink.value(kFreshFirst, list[0].to);
    put_gaps(sink, kFreshLater, list);
    edges = edges.subspan(list.size());
  }
}

template <class Sink>
void put_delta(Sink& sink, const GraphDelta& delta, const std::vector<Parts>& layers) {
  std::uint64_t next = 0;
  for (const NodeId node : delta.cleared) {
    sink.value(kClearedGap, node - next);
    next = node + std::uint64_t{1};
  }
  for (const std::uint8_t level : delta.levels) sink.symbol(kLevel, level);
  for (unsigned layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t kind = 0; kind < kKindCount; ++kind) {
      put_kind(sink, static_cast<Kind>(kind), layers[layer].kinds[kind]);
    }
    put_fresh(sink, delta, layer, layers[layer].fresh);
  }
}

[[noreturn]] void refuse(const char* why) { fail(Reason::kDamaged, std::string("delta: ") + why); }

// Appends one owner's edges, and the same backwards if they run both ways. `first` is the smallest.
void get_list(Decoder& decoder, NodeId owner, std::int64_t first, std::size_t degree,
              std::size_t later, std::size_t node_count, bool is_both_ways,
              std::vector<Edge>& out) {
  if (first < 0 || first >= static_cast<std::int64_t>(node_count))
    refuse("an edge leads to a node that does not exist");
  auto to = static_cast<NodeId>(first);
  for (std::size_t i = 0; i < degree; ++i) {
    if (i > 0) to = decoder.node_after(to + std::uint64_t{1}, later, node_count);
    if (to == owner) refuse("a node links to itself");
    out.push_back({owner, to});
    if (is_both_ways) out.push_back({to, owner});
  }
}

void get_kind(Decoder& decoder, Kind kind, std::size_t node_count, std::vector<Edge>& out) {
  std::uint64_t next = 0;
  for (std::size_t left = decoder.count(); left > 0; --left) {
    const NodeId owner = decoder.node_after(next, table_of(kind, kOwner), node_count);
    next = owner + std::uint64_t{1};
    const std::size_t degree = decoder.symbol(table_of(kind, kDegree)) + 1;
    const auto coded = decoder.value(table_of(kind, kFirst));
    const std::int64_t first =
        std::int64_t{owner} +
        (is_one_way(kind) ? unzigzag(coded) : static_cast<std::int64_t>(coded) + 1);
    get_list(decoder, owner, first, degree, table_of(kind, kLater), node_count, !is_one_way(kind),
             out);
  }
}

void get_fresh(Decoder& decoder, const GraphDelta& delta, unsigned layer, std::vector<Edge>& out) {
  for (std::size_t rank = 0; rank < delta.levels.size(); ++rank) {
    if (delta.levels[rank] < layer) continue;
    const std::size_t degree = decoder.symbol(kFreshDegree);
    if (degree == 0) continue;
    const auto first = static_cast<std::int64_t>(decoder.value(kFreshFirst));
    get_list(decoder, delta.fresh_node(rank), first, degree, kFreshLater, delta.node_count, true,
             out);
  }
}

void sort_edges(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  if (std::adjacent_find(edges.begin(), edges.end()) != edges.end())
    refuse("an edge is named twice");
}

GraphDelta::Layer get_layer(Decoder& decoder, const GraphDelta& delta, unsigned number) {
  GraphDelta::Layer layer;
  get_kind(decoder, kRemoved, delta.base_count, layer.removed);
  get_kind(decoder, kRemovedOneWay, delta.base_count, layer.removed);
  get_kind(decoder, kAdded, delta.node_count, layer.added);
  get_kind(decoder, kAddedOneWay, delta.node_count, layer.added);
  get_fresh(decoder, delta, number, layer.added);
  sort_edges(layer.removed);
  sort_edges(layer.added);
  for (const Edge& edge : layer.removed) {
    if (delta.is_cleared(edge.from) || delta.is_cleared(edge.to))
      refuse("an edge of a cleared node is removed once more");
  }
  for (const Edge& edge : layer.added) {
    if (!delta.may_link(edge, number)) refuse("a fresh node is linked above its level");
  }
  return layer;
}

}  // namespace

Bytes pack_delta(const GraphDelta& delta) {
  BitWriter writer;
  writer.put_varint(delta.base_count);
  writer.put_varint(delta.node_count - delta.base_count);
  writer.put_varint(delta.entry == kNoNode ? 0 : delta.entry + std::uint64_t{1});
  writer.put_varint(delta.tradeoff_layer);
  writer.put_varint(delta.layers.size());
  writer.put_varint(delta.cleared.size());
  std::vector<Parts> layers;
  for (const GraphDelta::Layer& layer : delta.layers) layers.push_back(parts_of(delta, layer));
  Counter counter;
  put_delta(counter, delta, layers);
  const auto codes = counter.codes();
  Coder coder(writer, codes);
  put_delta(coder, delta, layers);
  return writer.take();
}

GraphDelta unpack_delta(ByteView bytes) {
  BitReader reader(bytes, "delta");
  const std::uint64_t base_count = reader.get_varint();
  const std::uint64_t new_count = reader.get_varint();
  const std::uint64_t entry = reader.get_varint();
  const std::uint64_t tradeoff_layer = reader.get_varint();
  const std::uint64_t layer_count = reader.get_varint();
  const std::uint64_t cleared_count = reader.get_varint();
  if (base_count > kNoNode || new_count > kNoNode - base_count || entry > base_count + new_count ||
      tradeoff_layer > kMaxLevel || layer_count > kMaxLevel + 1 || cleared_count > base_count)
    refuse("its counts are out of range");
  if (new_count > reader.remaining() || cleared_count > reader.remaining()) reader.overrun();
  GraphDelta delta;
  delta.base_count = static_cast<std::size_t>(base_count);
  delta.node_count = static_cast<std::size_t>(base_count + new_count);
  if (entry > 0) delta.entry = static_cast<NodeId>(entry - 1);
  delta.tradeoff_layer = static_cast<unsigned>(tradeoff_layer);
  Decoder decoder(reader);
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < cleared_count; ++i) {
    delta.cleared.push_back(decoder.node_after(next, kClearedGap, delta.base_count));
    next = delta.cleared.back() + std::uint64_t{1};
  }
  for (std::size_t left = delta.fresh_count(); left > 0; --left) {
    const std::size_t level = decoder.symbol(kLevel);
    if (level > kMaxLevel) refuse("a level is out of range");
    delta.levels.push_back(static_cast<std::uint8_t>(level));
  }
  for (unsigned layer = 0; layer < layer_count; ++layer) {
    delta.layers.push_back(get_layer(decoder, delta, layer));
  }
  reader.expect_end();
  return delta;
}

}  // namespace gossamer
