#include "search/exact.h"

#include <algorithm>

#include "base/parallel.h"

namespace gossamer {

bool ExactScan::resume(Lookup& lookup, TopK& hits) {
  float distance = 0;
  for (const NodeId node : pending_) {
    lookup.find(node, distance);
    if (!lookup.is_missing(node)) hits.offer({distance, node});
  }
  pending_.clear();
  const std::size_t batch = std::clamp<std::size_t>(kBatchNumbers / view_.space->dim(), 1, kBatch);
  for (; next_ < view_.node_count && pending_.size() < batch; ++next_) {
    if (!view_.may_return(next_)) continue;
    if (lookup.is_missing(next_)) continue;
    if (lookup.find(next_, distance)) {
      hits.offer({distance, next_});
    } else {
      lookup.want(next_);
      pending_.push_back(next_);
    }
  }
  return pending_.empty();
}

namespace {

// Rows that stay in cache while every query of a block passes over them.
constexpr std::size_t kRowBlock = 256;
constexpr std::size_t kQueryBlock = 32;

struct QueryBlock {
  std::vector<RowBytes> prepared;
  std::vector<TopK> nearest;
};

void pass_over(const Rows& rows, std::size_t begin, std::size_t end, const Bitmap* allowed,
               const NodeId* skip, QueryBlock& block) {
  for (std::size_t q = 0; q < block.prepared.size(); ++q) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto node = static_cast<NodeId>(i);
      if (allowed != nullptr && !allowed->contains(node)) continue;
      if (skip != nullptr && skip[q] == node) continue;
      const float distance = rows.space->from_query(block.prepared[q].data(), rows.row(node));
      if (block.nearest[q].takes(distance)) block.nearest[q].offer({distance, node});
    }
  }
}

}  // namespace

std::vector<std::vector<Candidate>> exact_nearest(const Rows& rows, const float* queries,
                                                  std::size_t query_count, std::size_t k,
                                                  const Bitmap* allowed, const NodeId* skip,
                                                  unsigned threads) {
  std::vector<std::vector<Candidate>> results(query_count);
  const std::size_t blocks = (query_count + kQueryBlock - 1) / kQueryBlock;
  parallel_for(blocks, threads, 1, [&](std::size_t index, unsigned) {
    const std::size_t first = index * kQueryBlock;
    const std::size_t count = std::min(kQueryBlock, query_count - first);
    QueryBlock block{std::vector<RowBytes>(count), std::vector<TopK>(count, TopK(k))};
    for (std::size_t q = 0; q < count; ++q) {
      rows.space->prepare_query(queries + (first + q) * rows.space->dim(), block.prepared[q]);
    }
    for (std::size_t begin = 0; begin < rows.count; begin += kRowBlock) {
      pass_over(rows, begin, std::min(rows.count, begin + kRowBlock), allowed,
                skip == nullptr ? nullptr : skip + first, block);
    }
    for (std::size_t q = 0; q < count; ++q) {
      const std::span<const Candidate> nearest = block.nearest[q].items();
      results[first + q].assign(nearest.begin(), nearest.end());
    }
  });
  return results;
}

}  // namespace gossamer
