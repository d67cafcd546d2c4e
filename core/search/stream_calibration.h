#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/top_k.h"
#include "codes/codebook.h"
#include "distance/space.h"
#include "search/calibrate.h"
#include "search/calibrate_scan.h"
#include "search/calibration.h"

namespace gossamer {

// Calibrates scans where vectors stream by and are never all at hand: all codes are scanned for
// the sample queries first, then every vector must be shown once, in any order.
class StreamCalibration {
 public:
  // `made_from` of the queries are nodes, as `codes` has them.
  StreamCalibration(const Codebook& codebook, std::span<const std::uint8_t> codes,
                    SampleQueries queries, unsigned threads);

  // Shows the vectors of some nodes, end to end.
  void observe(std::span<const NodeId> nodes, const float* vectors);

  // Once every vector was shown.
  Calibration finish();

 private:
  // Where a node stands among the candidates.
  struct Place {
    NodeId node;
    std::uint32_t query;
    std::uint32_t rank;
  };

  void observe_candidates(std::span<const NodeId> nodes, const RowBytes& rows);
  void observe_truth(std::span<const NodeId> nodes, const RowBytes& rows);

  Space space_;
  SampleQueries queries_;
  unsigned threads_;
  std::size_t count_;
  std::vector<ScanSample> samples_;
  std::vector<RowBytes> prepared_;
  std::vector<TopK> truth_;
  std::vector<Place> places_;  // by node
};

}  // namespace gossamer
