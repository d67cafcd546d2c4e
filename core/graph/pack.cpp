#include "graph/pack.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/sort.h"
#include "graph/bits.h"
#include "graph/coded.h"

namespace gossamer {

namespace {

// What is counted and coded apart, since it is distributed otherwise.
enum Table : std::size_t {
  kDegree,        // edges to greater ranks that run both ways
  kFirst,         // the first of their gaps
  kLater,         // the others
  kOwner,         // gaps between ranks with one-way edges
  kOneWayDegree,  // their number, less one
  kOneWayFirst,
  kOneWayLater,
  kMember,  // gaps between ranks that are on the next layer
  kTableCount,
};

using Counter = SymbolCounter<kTableCount>;
using Coder = SymbolCoder<kTableCount>;
using Decoder = SymbolDecoder<kTableCount>;

// Neighbor lists end to end. Layers are coded in ranks: places among the layer's own nodes.
struct Lists {
  std::vector<std::uint32_t> starts{0};
  std::vector<NodeId> ids;

  std::size_t size() const { return starts.size() - 1; }
  std::span<const NodeId> of(std::size_t rank) const {
    return {ids.data() + starts[rank], starts[rank + 1] - starts[rank]};
  }
  void close() {
    if (ids.size() > std::numeric_limits<std::uint32_t>::max())
      fail(Reason::kTooLarge, "a layer may have 4,294,967,295 edges at most; split the index");
    starts.push_back(static_cast<std::uint32_t>(ids.size()));
  }
};

// One layer, parted into what is written: `half` holds edges both ways, at the smaller rank.
struct Parts {
  Lists half;
  Lists one_way;
  std::vector<NodeId> next_members;  // ranks
};

template <class Sink>
void put_gaps(Sink& sink, Table later, std::span<const NodeId> list) {
  for (std::size_t i = 1; i < list.size(); ++i) sink.value(later, list[i] - list[i - 1] - 1);
}

template <class Sink>
void put_half(Sink& sink, const Lists& half) {
  for (std::size_t rank = 0; rank < half.size(); ++rank) {
    const auto list = half.of(rank);
    sink.symbol(kDegree, list.size());
    if (list.empty()) continue;
    sink.value(kFirst, list[0] - rank - 1);
    put_gaps(sink, kLater, list);
  }
}

template <class Sink>
void put_one_way(Sink& sink, const Lists& one_way) {
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < one_way.size(); ++rank) {
    const auto list = one_way.of(rank);
    if (list.empty()) continue;
    sink.value(kOwner, rank - next);
    next = rank + 1;
    sink.symbol(kOneWayDegree, list.size() - 1);
    sink.value(kOneWayFirst,
               zigzag(static_cast<std::int64_t>(list[0]) - static_cast<std::int64_t>(rank)));
    put_gaps(sink, kOneWayLater, list);
  }
}

template <class Sink>
void put_members(Sink& sink, std::span<const NodeId> members) {
  std::size_t next = 0;
  for (const NodeId member : members) {
    sink.value(kMember, member - next);
    next = member + std::size_t{1};
  }
}

std::size_t owner_count(const Lists& one_way) {
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < one_way.size(); ++rank) count += !one_way.of(rank).empty();
  return count;
}

template <class Sink>
void put_parts(Sink& sink, const Parts& parts) {
  put_half(sink, parts.half);
  sink.count(owner_count(parts.one_way));
  put_one_way(sink, parts.one_way);
  sink.count(parts.next_members.size());
  put_members(sink, parts.next_members);
}

void put_layer(BitWriter& writer, const Parts& parts) {
  Counter counter;
  put_parts(counter, parts);
  const auto codes = counter.codes();
  Coder coder(writer, codes);
  put_parts(coder, parts);
}

NodeId rank_of(NodeId node, std::span<const NodeId> members) {
  const auto place = std::lower_bound(members.begin(), members.end(), node);
  if (place == members.end() || *place != node)
    fail(Reason::kWrongState,
         "another node links to node " + std::to_string(node) + " on a layer that it is not on");
  return static_cast<NodeId>(place - members.begin());
}

// A layer's lists in ranks.
Lists lists_of(const Graph& graph, unsigned layer, std::span<const NodeId> members) {
  Lists lists;
  lists.starts.reserve(members.size() + 1);
  std::array<NodeId, kMaxDegree> out;
  for (const NodeId member : members) {
    const std::size_t count = graph.neighbors(member, layer, out.data());
    for (std::size_t i = 0; i < count; ++i)
      lists.ids.push_back(layer == 0 ? out[i] : rank_of(out[i], members));
    lists.close();
  }
  return lists;
}

// Who links to each rank, in order.
Lists reversed(const Lists& lists) {
  Lists reverse;
  reverse.starts.assign(lists.size() + 1, 0);
  reverse.ids.resize(lists.ids.size());
  for (const NodeId id : lists.ids) ++reverse.starts[id + std::size_t{1}];
  std::partial_sum(reverse.starts.begin(), reverse.starts.end(), reverse.starts.begin());
  std::vector<std::uint32_t> next(reverse.starts.begin(), reverse.starts.end() - 1);
  for (std::size_t rank = 0; rank < lists.size(); ++rank)
    for (const NodeId id : lists.of(rank)) reverse.ids[next[id]++] = static_cast<NodeId>(rank);
  return reverse;
}

void part(const Lists& lists, Parts& parts) {
  const Lists reverse = reversed(lists);
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    const auto back = reverse.of(rank);
    auto place = back.begin();
    for (const NodeId id : lists.of(rank)) {
      while (place != back.end() && *place < id) ++place;
      const bool is_mutual = place != back.end() && *place == id;
      if (!is_mutual)
        parts.one_way.ids.push_back(id);
      else if (id > rank)
        parts.half.ids.push_back(id);
    }
    parts.half.close();
    parts.one_way.close();
  }
}

[[noreturn]] void refuse(const char* why) { fail(Reason::kDamaged, std::string("graph: ") + why); }

struct OneWayLists {
  std::vector<NodeId> owners;
  Lists lists;  // of each owner
};

Lists get_half(Decoder& decoder, std::size_t count) {
  Lists half;
  half.starts.reserve(count + 1);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const std::size_t degree = decoder.symbol(kDegree);
    std::uint64_t next = rank + 1;
    for (std::size_t i = 0; i < degree; ++i) {
      half.ids.push_back(decoder.node_after(next, i == 0 ? kFirst : kLater, count));
      next = half.ids.back() + std::uint64_t{1};
    }
    half.close();
  }
  return half;
}

OneWayLists get_one_way(Decoder& decoder, std::size_t count) {
  OneWayLists one_way;
  std::uint64_t next_owner = 0;
  for (std::size_t left = decoder.count(); left > 0; --left) {
    const NodeId owner = decoder.node_after(next_owner, kOwner, count);
    one_way.owners.push_back(owner);
    next_owner = owner + std::uint64_t{1};
    const std::size_t degree = decoder.symbol(kOneWayDegree) + 1;
    const std::int64_t first = owner + unzigzag(decoder.value(kOneWayFirst));
    if (first < 0 || first >= static_cast<std::int64_t>(count))
      refuse("an edge leads to a node that does not exist");
    one_way.lists.ids.push_back(static_cast<NodeId>(first));
    for (std::size_t i = 1; i < degree; ++i)
      one_way.lists.ids.push_back(
          decoder.node_after(one_way.lists.ids.back() + std::uint64_t{1}, kOneWayLater, count));
    one_way.lists.close();
  }
  return one_way;
}

// Room for every list, each still empty: list i is to be filled from starts[i] on.
Lists room_for(const Lists& half, const OneWayLists& one_way) {
  Lists lists;
  lists.starts.assign(half.size() + 1, 0);
  const auto degrees = std::span(lists.starts).subspan(1);
  for (std::size_t rank = 0; rank < half.size(); ++rank)
    degrees[rank] += static_cast<std::uint32_t>(half.of(rank).size());
  for (const NodeId id : half.ids) ++degrees[id];
  for (std::size_t i = 0; i < one_way.owners.size(); ++i)
    degrees[one_way.owners[i]] += static_cast<std::uint32_t>(one_way.lists.of(i).size());
  std::uint64_t total = 0;
  for (std::uint32_t& degree : degrees) {
    if (degree > kMaxDegree) refuse("a node has too many neighbors");
    total += degree;
    if (total > std::numeric_limits<std::uint32_t>::max()) refuse("a layer has too many edges");
    degree = static_cast<std::uint32_t>(total);
  }
  lists.ids.resize(static_cast<std::size_t>(total));
  return lists;
}

Lists join(const Lists& half, const OneWayLists& one_way) {
  Lists lists = room_for(half, one_way);
  std::vector<std::uint32_t> next(lists.starts.begin(), lists.starts.end() - 1);
  // Ranks go up, so that a list has all its smaller ranks before its own greater ones are added.
  for (std::size_t rank = 0; rank < half.size(); ++rank) {
    for (const NodeId id : half.of(rank)) {
      lists.ids[next[rank]++] = id;
      lists.ids[next[id]++] = static_cast<NodeId>(rank);
    }
  }
  for (std::size_t i = 0; i < one_way.owners.size(); ++i) {
    const NodeId owner = one_way.owners[i];
    const auto begin = lists.ids.begin() + lists.starts[owner];
    const auto end = lists.ids.begin() + lists.starts[owner + std::size_t{1}];
    const auto added = one_way.lists.of(i);
    std::copy(added.begin(), added.end(), lists.ids.begin() + next[owner]);
    sort_values(begin, end);
    if (std::adjacent_find(begin, end) != end || std::binary_search(begin, end, owner))
      refuse("a node links twice to another, or to itself");
  }
  return lists;
}

// Reads one layer's lists as node ids and replaces `members` by those of the next layer.
Lists get_layer(BitReader& reader, std::vector<NodeId>& members) {
  Decoder decoder(reader);
  if (members.size() > reader.remaining()) reader.overrun();
  const Lists half = get_half(decoder, members.size());
  Lists lists = join(half, get_one_way(decoder, members.size()));
  for (NodeId& id : lists.ids) id = members[id];
  std::vector<NodeId> next = decoder.nodes(kMember, members.size());
  for (NodeId& id : next) id = members[id];
  members = std::move(next);
  return lists;
}

Graph graph_of(std::span<const std::uint8_t> levels, const std::vector<Lists>& layers) {
  // Each layer's lists are asked for in the order of its nodes, which is that of its ranks.
  std::vector<std::size_t> next(layers.size(), 0);
  return Graph::from_lists(levels,
                           [&](NodeId, unsigned layer) { return layers[layer].of(next[layer]++); });
}

}  // namespace

Bytes pack_graph(const Graph& graph) {
  if (graph.entry() != kNoNode && graph.level(graph.entry()) != graph.max_level())
    fail(Reason::kWrongState, "the entry must be of the highest level of the graph");
  BitWriter writer;
  writer.put_varint(graph.node_count());
  writer.put_varint(graph.max_level());
  writer.put_varint(graph.tradeoff_layer());
  writer.put_varint(graph.entry() == kNoNode ? 0 : graph.entry() + std::uint64_t{1});
  std::vector<NodeId> members(graph.node_count());
  std::iota(members.begin(), members.end(), NodeId{0});
  std::vector<NodeId> uppers = graph.upper_nodes();
  for (unsigned layer = 0; layer <= graph.max_level(); ++layer) {
    Parts parts;
    part(lists_of(graph, layer, members), parts);
    std::erase_if(uppers, [&](NodeId node) { return graph.level(node) <= layer; });
    for (const NodeId node : uppers) parts.next_members.push_back(rank_of(node, members));
    put_layer(writer, parts);
    members = uppers;
  }
  return writer.take();
}

Graph unpack_graph(ByteView bytes) {
  BitReader reader(bytes, "graph");
  const std::uint64_t node_count = reader.get_varint();
  const std::uint64_t max_level = reader.get_varint();
  const std::uint64_t tradeoff_layer = reader.get_varint();
  const std::uint64_t entry = reader.get_varint();
  if (node_count > kNoNode || max_level > kMaxLevel || tradeoff_layer > kMaxLevel ||
      entry > node_count)
    refuse("its counts are out of range");
  if (node_count > reader.remaining()) reader.overrun();
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(node_count), 0);
  std::vector<NodeId> members(levels.size());
  std::iota(members.begin(), members.end(), NodeId{0});
  std::vector<Lists> layers;
  for (unsigned layer = 0; layer <= max_level; ++layer) {
    layers.push_back(get_layer(reader, members));
    if (members.empty() != (layer == max_level)) refuse("its layers do not match its levels");
    for (const NodeId node : members) levels[node] = static_cast<std::uint8_t>(layer + 1);
  }
  reader.expect_end();
  if (entry > 0 && levels[static_cast<std::size_t>(entry) - 1] != max_level)
    refuse("its entry is not of the highest level");
  Graph graph = graph_of(levels, layers);
  if (entry > 0) graph.set_entry(static_cast<NodeId>(entry - 1));
  graph.set_tradeoff_layer(static_cast<unsigned>(tradeoff_layer));
  return graph;
}

}  // namespace gossamer
