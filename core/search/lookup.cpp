#include "search/lookup.h"

#include <algorithm>
#include <limits>

namespace gossamer {

namespace {

// More lines than this ahead of use push out what is needed sooner.
constexpr std::size_t kPrefetchBytes = 512;

Scalar supplied_scalar(Scalar kept) { return kept == Scalar::kI8 ? Scalar::kI8 : Scalar::kF32; }

}  // namespace

Lookup::Lookup(const View& view, const float* query)
    : view_(view),
      single_(view.space->metric(), supplied_scalar(view.space->scalar()), view.space->dim(),
              view.space->scale()),
      prefetched_(std::min(view.space->row_bytes(), kPrefetchBytes)) {
  view.space->prepare_query(query, prepared_);
}

void Lookup::supply(std::span<const float* const> vectors) {
  RowBytes row(single_.row_bytes());
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (vectors[i] == nullptr) {
      missing_.insert(wanted_[i]);
      continue;
    }
    remember(wanted_[i], measure(vectors[i], row.data()));
  }
  asked_ += wanted_.size();
  wanted_.clear();
}

void Lookup::supply_rows(std::span<const Row> rows) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (rows[i] == nullptr) {
      missing_.insert(wanted_[i]);
    } else if (rows[i] != view_.kept->find(wanted_[i])) {
      remember(wanted_[i], view_.space->from_query(prepared_.data(), rows[i]));
    }
  }
  asked_ += wanted_.size();
  wanted_.clear();
}

float Lookup::measure(const float* vector, std::uint8_t* row) const {
  single_.encode_row(vector, row);
  return single_.from_query(prepared_.data(), row);
}

float Lookup::measure_code(NodeId node) const {
  if (view_.codebook == nullptr) return std::numeric_limits<float>::max();
  std::vector<float> vector(single_.dim());
  RowBytes row(single_.row_bytes());
  view_.codebook->decode(view_.codes->row(node), vector.data());
  return measure(vector.data(), row.data());
}

}  // namespace gossamer
