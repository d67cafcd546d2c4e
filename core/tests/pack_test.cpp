#include "graph/pack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/huffman.h"

namespace gossamer {
namespace {

using Links = std::map<std::pair<NodeId, unsigned>, std::set<NodeId>>;

Graph graph_of(const std::vector<std::uint8_t>& levels, const Links& links) {
  std::vector<NodeId> list;
  return Graph::from_lists(levels, [&](NodeId node, unsigned layer) {
    const auto found = links.find({node, layer});
    list.clear();
    if (found != links.end()) list.assign(found->second.begin(), found->second.end());
    return std::span<const NodeId>(list);
  });
}

// Nodes link to others near them; one edge in `one_way` runs one way only (0: none does).
Graph random_graph(std::uint64_t seed, std::size_t node_count, std::size_t links_per_node,
                   std::uint64_t one_way) {
  Random random(seed);
  std::vector<std::uint8_t> levels(node_count);
  for (std::uint8_t& level : levels)
    level = static_cast<std::uint8_t>(random.below(8) == 0 ? 1 + random.below(3) : 0);
  Links links;
  const auto link = [&](NodeId from, NodeId to, unsigned layer) {
    if (from == to || levels[from] < layer || levels[to] < layer) return;
    if (links[{from, layer}].size() == kMaxDegree || links[{to, layer}].size() == kMaxDegree)
      return;
    links[{from, layer}].insert(to);
    if (one_way == 0 || random.below(one_way) != 0) links[{to, layer}].insert(from);
  };
  for (NodeId node = 0; node < node_count; ++node)
    for (unsigned layer = 0; layer <= levels[node]; ++layer)
      for (std::size_t i = 0; i < links_per_node; ++i) {
        const std::uint64_t reach = std::uint64_t{1} << random.below(12);
        link(node, static_cast<NodeId>((node + random.below(reach)) % node_count), layer);
      }
  Graph graph = graph_of(levels, links);
  graph.set_entry(
      static_cast<NodeId>(std::max_element(levels.begin(), levels.end()) - levels.begin()));
  graph.set_tradeoff_layer(graph.max_level() > 0 ? 1 : 0);
  return graph;
}

// Whether bytes are refused for the right reasons, or make a graph that can be walked.
bool is_handled(ByteView bytes) {
  try {
    const Graph graph = unpack_graph(bytes);
    std::vector<NodeId> list(kMaxDegree);
    for (NodeId node = 0; node < graph.node_count(); ++node)
      for (unsigned layer = 0; layer <= graph.level(node); ++layer) {
        const std::size_t count = graph.neighbors(node, layer, list.data());
        for (std::size_t i = 0; i < count; ++i)
          if (list[i] >= graph.node_count() || list[i] == node || graph.level(list[i]) < layer ||
              (i > 0 && list[i] <= list[i - 1]))
            return false;
      }
    return graph.entry() == kNoNode || graph.level(graph.entry()) == graph.max_level();
  } catch (const Error& error) {
    return error.reason() == Reason::kTruncated || error.reason() == Reason::kDamaged;
  }
}

bool is_refused(ByteView bytes) {
  try {
    unpack_graph(bytes);
  } catch (const Error& error) {
    return error.reason() == Reason::kTruncated || error.reason() == Reason::kDamaged;
  }
  return false;
}

TEST_CASE("a packed graph comes back as it was") {
  for (const std::uint64_t one_way : {0u, 1u, 2u, 50u})
    for (const std::size_t node_count : {1u, 2u, 3u, 31u, 500u, 5000u})
      for (const std::size_t links : {0u, 1u, 6u}) {
        const Graph graph = random_graph(node_count + one_way, node_count, links, one_way);

        CHECK(unpack_graph(pack_graph(graph)) == graph);
      }
}

TEST_CASE("an empty graph comes back empty") {
  CHECK(unpack_graph(pack_graph(Graph())) == Graph());
}

TEST_CASE("a graph without an entry comes back without one") {
  Graph graph = random_graph(5, 100, 3, 0);
  graph.set_entry(kNoNode);

  CHECK(unpack_graph(pack_graph(graph)) == graph);
}

TEST_CASE("lists as long as the largest degree come back whole") {
  const Graph graph = random_graph(9, 700, 200, 0);

  CHECK(unpack_graph(pack_graph(graph)) == graph);
}

TEST_CASE("an edge that runs both ways is paid for once") {
  const Graph graph = random_graph(4, 5000, 6, 0);
  const auto edges = static_cast<double>(graph.edge_count(0));

  CHECK(8.0 * static_cast<double>(pack_graph(graph).size()) < 7.0 * edges);
}

TEST_CASE("every truncation of a packed graph is refused") {
  for (const std::uint64_t one_way : {0u, 3u}) {
    const Bytes packed = pack_graph(random_graph(6, 120, 4, one_way));
    std::size_t refused = 0;
    for (std::size_t size = 0; size < packed.size(); ++size)
      refused += is_refused(ByteView(packed).first(size));

    CHECK(refused == packed.size());
  }
}

TEST_CASE("a packed graph with bytes after its end is refused") {
  Bytes packed = pack_graph(random_graph(6, 200, 4, 0));
  packed.push_back(0);

  CHECK(is_refused(packed));
}

TEST_CASE("flipped bits are refused or make a valid graph") {
  Random random(8);
  for (const std::uint64_t one_way : {0u, 2u}) {
    const Bytes packed = pack_graph(random_graph(10, 40, 3, one_way));
    std::size_t handled = 0;
    for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
      Bytes flipped = packed;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1u << (bit % 8)));
      if (bit % 3 == 0) flipped[random.below(flipped.size())] = static_cast<std::uint8_t>(bit);
      handled += is_handled(flipped);
    }

    CHECK(handled == 8 * packed.size());
  }
}

TEST_CASE("random bytes are refused or make a valid graph") {
  Random random(12);
  std::size_t handled = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes(random.below(200));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    if (!bytes.empty()) bytes[0] &= 0x7f;
    for (std::size_t i = 1; i < std::min<std::size_t>(4, bytes.size()); ++i) bytes[i] = 0;
    handled += is_handled(bytes);
  }

  CHECK(handled == 3000);
}

TEST_CASE("a count of nodes that the bytes cannot hold is refused before it is believed") {
  BitWriter writer;
  writer.put_varint(4'000'000'000u);
  for (int i = 0; i < 100; ++i) writer.put(0, 8);

  CHECK(is_refused(writer.take()));
}

TEST_CASE("an entry below the highest level is not packed") {
  Graph graph;
  graph.add_node(0);
  graph.add_node(1);
  graph.set_entry(0);

  CHECK_THROWS_AS(pack_graph(graph), Error);
}

TEST_CASE("an edge to a node that is not on the layer is not packed") {
  Graph graph;
  graph.add_node(1);
  graph.add_node(0);
  graph.set_entry(0);
  graph.set_neighbors(0, 1, std::vector<NodeId>{1});

  CHECK_THROWS_AS(pack_graph(graph), Error);
}

TEST_CASE("a Huffman code gives back every symbol, however skewed or few they are") {
  std::vector<std::uint64_t> skewed(60, 0);
  for (std::size_t i = 0; i < 45; ++i) skewed[i + 2] = std::uint64_t{1} << i;
  const std::vector<std::uint64_t> single{0, 0, 7};
  const std::vector<std::uint64_t> flat(300, 1);
  for (const auto& counts : {skewed, single, flat}) {
    const HuffmanCode code{std::span<const std::uint64_t>(counts)};
    BitWriter writer;
    code.store(writer);
    std::vector<std::size_t> symbols;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) symbols.push_back(i);
    for (const std::size_t symbol : symbols) code.put(writer, symbol);
    const Bytes bytes = writer.take();

    BitReader reader(bytes, "test");
    const HuffmanCode stored(reader);
    std::vector<std::size_t> got;
    for (std::size_t i = 0; i < symbols.size(); ++i) got.push_back(stored.get(reader));
    CHECK(got == symbols);
    CHECK_NOTHROW(reader.expect_end());
  }
}

TEST_CASE("code lengths that no code has are refused") {
  BitWriter writer;
  writer.put(3, 9);
  for (int i = 0; i < 3; ++i) writer.put(1, 4);
  const Bytes bytes = writer.take();
  BitReader reader(bytes, "test");

  CHECK_THROWS_AS(HuffmanCode{reader}, Error);
}

}  // namespace
}  // namespace gossamer
