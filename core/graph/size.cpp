#include "graph/size.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace gossamer {

namespace {

constexpr std::size_t kMostLowDegree = 32;
constexpr std::size_t kLeastLowDegree = 2;
// Beside a list's bytes: its length byte, its part of a page's entry and of the page's rounding.
constexpr double kListBytes = 1 + 8.0 / 32 + 4.0 / 32;
constexpr double kUpperNodeBytes = 12;
constexpr double kPackedHeaderBytes = 64;

double mean_degree(double hub_share, std::size_t hub_degree, std::size_t low_degree) {
  return hub_share * static_cast<double>(hub_degree) +
         (1 - hub_share) * static_cast<double>(low_degree);
}

// Links of a node once every selected edge runs both ways. The richer the selection, the more of
// it is mutual already or cut by the selection rule. A line above two of three measured sets and
// 2 to 7 % below the third (word vectors, whose links are least often mutual).
double linked_degree(double selected, double node_count) {
  const double linked = selected * std::max(1.0, 1.65 - 0.03 * selected);
  return std::min({linked, std::max(node_count - 1, 0.0), static_cast<double>(kMaxDegree)});
}

// Bits of one edge against how far apart neighbors would lie without any order: after ordering,
// about half of the bits of that gap are left. Fitted on one set, at 4,000 to 62,797 nodes.
double spread(double node_count, double degree) {
  return std::log2(std::max(node_count / std::max(degree, 1.0), 2.0));
}
double memory_bits(double node_count, double degree) {
  return std::max(8.0, 6.67 + 0.53 * spread(node_count, degree));
}
double disk_bits(double node_count, double degree) {
  return 2.05 + 0.2875 * spread(node_count, degree);
}

void check(const SlimParameters& parameters) {
  const auto is_share = [](double share) { return share >= 0 && share < 1; };
  if (!is_share(parameters.hub_share0) || !is_share(parameters.hub_share) ||
      !is_share(parameters.level_probability))
    fail(Reason::kInvalidArgument, "hub shares and the level probability must be in [0, 1)");
  if (std::max({parameters.hub_degree0, parameters.low_degree0, parameters.hub_degree,
                parameters.low_degree}) > kMaxDegree)
    fail(Reason::kInvalidArgument, "degrees must be " + std::to_string(kMaxDegree) + " at most");
}

// Equation 6 of the paper, with the base layer's own degrees in place of twice the others'.
double chal_bytes(double node_count, const SlimParameters& slim) {
  const double p = slim.level_probability;
  const double base = mean_degree(slim.hub_share0, slim.hub_degree0, slim.low_degree0);
  const double upper = mean_degree(slim.hub_share, slim.hub_degree, slim.low_degree);
  const double links = slim.tradeoff_layer == 0
                           ? base + p * upper
                           : (1 - p) * base + (p + std::pow(p, slim.tradeoff_layer + 1)) * upper;
  return node_count * (16 + 2 * p / (1 - p) + 4 * links);
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

SlimParameters with_low_degree(std::size_t low_degree0) {
  SlimParameters slim;
  slim.low_degree0 = low_degree0;
  slim.hub_degree0 = 4 * low_degree0;
  slim.low_degree = std::max<std::size_t>(2, low_degree0 / 2);
  slim.hub_degree = 4 * slim.low_degree;
  return slim;
}

}  // namespace

SlimSize estimate_slim_bytes(std::size_t node_count, const SlimParameters& parameters) {
  check(parameters);
  const double p = parameters.level_probability;
  const auto nodes = static_cast<double>(node_count);
  double edges = 0;
  double memory = nodes * p * kUpperNodeBytes;
  double disk = kPackedHeaderBytes;
  SlimSize size;
  double members = nodes;
  for (unsigned layer = 0; layer == 0 || (layer <= kMaxLevel && members >= 1); ++layer) {
    const double selected =
        layer == 0
            ? mean_degree(parameters.hub_share0, parameters.hub_degree0, parameters.low_degree0)
            : mean_degree(parameters.hub_share, parameters.hub_degree, parameters.low_degree);
    double degree = linked_degree(selected, members);
    if (layer != parameters.tradeoff_layer) degree *= 1 - p;
    if (layer == 0) size.base_degree = degree;
    edges += members * degree;
    memory += members * (kListBytes + degree * memory_bits(nodes, degree) / 8);
    disk += members * degree * disk_bits(members, degree) / 8;
    members *= p;
  }
  size.edge_count = rounded(edges);
  size.memory_bytes = rounded(memory);
  size.disk_bytes = rounded(disk);
  size.chal_bytes = rounded(chal_bytes(nodes, parameters));
  return size;
}

SlimParameters propose_slim(std::size_t node_count, std::uint64_t byte_budget) {
  for (std::size_t degree = kMostLowDegree; degree >= kLeastLowDegree; --degree) {
    const SlimParameters slim = with_low_degree(degree);
    if (estimate_slim_bytes(node_count, slim).memory_bytes <= byte_budget) return slim;
  }
  const std::uint64_t least =
      estimate_slim_bytes(node_count, with_low_degree(kLeastLowDegree)).memory_bytes;
  fail(Reason::kTooLarge, "a graph of " + std::to_string(node_count) + " nodes takes about " +
                              std::to_string(least) + " bytes at least, but the budget is " +
                              std::to_string(byte_budget));
}

}  // namespace gossamer
