#include "search/stream_calibration.h"

#include <algorithm>

#include "base/bitmap.h"
#include "base/parallel.h"
#include "search/exact.h"

namespace gossamer {

StreamCalibration::StreamCalibration(const Codebook& codebook, std::span<const std::uint8_t> codes,
                                     SampleQueries queries, unsigned threads)
    : space_(codebook.metric(), Scalar::kF32, codebook.dim()),
      queries_(std::move(queries)),
      threads_(threads),
      count_(codes.size() / codebook.code_bytes()),
      samples_(queries_.count()),
      prepared_(queries_.count()),
      truth_(queries_.count(), TopK(kHitCounts.back())) {
  parallel_for(queries_.count(), threads, 4, [&](std::size_t q, unsigned) {
    const float* query = queries_.vectors.data() + q * space_.dim();
    Bitmap allowed(count_);
    allowed.fill();
    if (queries_.made_from[q] != kNoNode) allowed.erase(queries_.made_from[q]);
    samples_[q] = scan_sample(codebook, query, codes, count_, &allowed);
    space_.prepare_query(query, prepared_[q]);
  });
  for (std::uint32_t q = 0; q < samples_.size(); ++q) {
    for (std::uint32_t i = 0; i < samples_[q].candidates.size(); ++i) {
      places_.push_back({samples_[q].candidates[i].node, q, i});
    }
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.node < b.node; });
}

void StreamCalibration::observe(std::span<const NodeId> nodes, const float* vectors) {
  RowBytes rows(nodes.size() * space_.row_bytes());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    space_.encode_row(vectors + i * space_.dim(), rows.data() + i * space_.row_bytes());
  }
  observe_candidates(nodes, rows);
  observe_truth(nodes, rows);
}

void StreamCalibration::observe_candidates(std::span<const NodeId> nodes, const RowBytes& rows) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint8_t* row = rows.data() + i * space_.row_bytes();
    auto at = std::lower_bound(places_.begin(), places_.end(), nodes[i],
                               [](const Place& place, NodeId node) { return place.node < node; });
    for (; at != places_.end() && at->node == nodes[i]; ++at) {
      samples_[at->query].exact[at->rank] = space_.from_query(prepared_[at->query].data(), row);
    }
  }
}

void StreamCalibration::observe_truth(std::span<const NodeId> nodes, const RowBytes& rows) {
  parallel_for(samples_.size(), threads_, 8, [&](std::size_t q, unsigned) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] == queries_.made_from[q]) continue;
      const float distance =
          space_.from_query(prepared_[q].data(), rows.data() + i * space_.row_bytes());
      if (truth_[q].takes(distance)) truth_[q].offer({distance, nodes[i]});
    }
  });
}

Calibration StreamCalibration::finish() {
  for (std::size_t q = 0; q < samples_.size(); ++q) {
    const std::span<const Candidate> nearest = truth_[q].items();
    samples_[q].truth.assign(nearest.begin(), nearest.end());
  }
  Calibration calibration;
  for (auto& table : calibrate_scan(samples_, count_, threads_)) calibration.add(std::move(table));
  return calibration;
}

}  // namespace gossamer
