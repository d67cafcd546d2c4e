#include "codes/codebook.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "codes/codebook_bytes.h"
#include "distance/space.h"

namespace gossamer {

namespace {

constexpr std::size_t kBlock = 256;

std::uint64_t stored_hash(ByteView bytes) {
  std::uint64_t hash;
  std::memcpy(&hash, bytes.data() + bytes.size() - sizeof(hash), sizeof(hash));
  return hash;
}

CodebookParts checked_and_rounded(CodebookParts parts) {
  check_parts(parts, Reason::kInvalidArgument);
  round_parts(parts);
  return parts;
}

}  // namespace

Codebook::State::State(CodebookParts rounded, std::uint64_t print)
    : parts(std::move(rounded)),
      fingerprint(print),
      encode_rows(parts.encode.data(), parts.rank(), parts.dim),
      query_rows(parts.query.empty() ? parts.encode.data() : parts.query.data(), parts.rank(),
                 parts.dim),
      encoder(parts.splits, parts.centroids) {
  if (!parts.coarse.empty())
    coarse.emplace_back(parts.coarse.data(), parts.coarse.size() / parts.rank(), parts.rank());
}

Codebook::Codebook(CodebookParts parts) {
  CodebookParts rounded = checked_and_rounded(std::move(parts));
  const std::uint64_t hash = stored_hash(write_parts(rounded));
  state_ = std::make_shared<const State>(std::move(rounded), hash);
}

Codebook Codebook::from_bytes(ByteView bytes) {
  CodebookParts parts = read_parts(bytes);
  return Codebook(std::make_shared<const State>(std::move(parts), stored_hash(bytes)));
}

Bytes Codebook::to_bytes() const { return write_parts(state_->parts); }

std::size_t Codebook::coarse_count() const {
  return state_->coarse.empty() ? 0 : state_->coarse.front().count();
}

std::size_t Codebook::code_bytes() const {
  return state_->parts.splits.size() - 1 + (state_->coarse.empty() ? 0 : kCoarseBytes);
}

void Codebook::encode(const float* vectors, std::size_t count, std::uint8_t* codes,
                      unsigned threads) const {
  parallel_for((count + kBlock - 1) / kBlock, threads, 1, [&](std::size_t block, unsigned) {
    const std::size_t first = block * kBlock;
    encode_block(vectors + first * dim(), std::min(kBlock, count - first),
                 codes + first * code_bytes());
  });
}

void Codebook::encode_block(const float* vectors, std::size_t count, std::uint8_t* codes) const {
  const CodebookParts& parts = state_->parts;
  const std::size_t rank = parts.rank();
  std::vector<float> centred(vectors, vectors + count * parts.dim);
  for (std::size_t i = 0; i < count; ++i) {
    float* row = centred.data() + i * parts.dim;
    if (parts.metric == Metric::kCosine) normalize(row, parts.dim);
    for (std::size_t d = 0; d < parts.dim; ++d) row[d] -= parts.mean[d];
  }
  std::vector<float> mapped(count * rank);
  state_->encode_rows.products(centred.data(), parts.dim, count, mapped.data());
  std::size_t skipped = 0;
  if (!state_->coarse.empty()) {
    skipped = kCoarseBytes;
    std::vector<std::uint32_t> nearest(count);
    state_->coarse.front().nearest(mapped.data(), rank, count, nearest.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = static_cast<std::uint16_t>(nearest[i]);
      std::memcpy(codes + i * code_bytes(), &id, kCoarseBytes);
      const float* centroid = parts.coarse.data() + nearest[i] * rank;
      for (std::size_t d = 0; d < rank; ++d) mapped[i * rank + d] -= centroid[d];
    }
  }
  state_->encoder.encode(mapped.data(), count, codes + skipped, code_bytes());
}

void Codebook::decode(const std::uint8_t* code, float* vector) const {
  const CodebookParts& parts = state_->parts;
  const std::size_t rank = parts.rank();
  std::vector<float> mapped(rank, 0.0f);
  if (!state_->coarse.empty()) {
    std::uint16_t id;
    std::memcpy(&id, code, kCoarseBytes);
    // Codes may come from a damaged file: an id past the last centroid stands for no centroid.
    if (id < coarse_count()) std::copy_n(parts.coarse.data() + id * rank, rank, mapped.data());
    code += kCoarseBytes;
  }
  for (std::size_t piece = 0; piece + 1 < parts.splits.size(); ++piece) {
    const std::size_t first = parts.splits[piece];
    const std::size_t width = parts.splits[piece + 1] - first;
    const float* centroid =
        parts.centroids.data() + first * kSubspaceCentroids + code[piece] * width;
    for (std::size_t d = 0; d < width; ++d) mapped[first + d] += centroid[d];
  }
  const std::vector<float>& matrix = parts.query.empty() ? parts.encode : parts.query;
  std::copy(parts.mean.begin(), parts.mean.end(), vector);
  for (std::size_t row = 0; row < rank; ++row)
    for (std::size_t d = 0; d < parts.dim; ++d)
      vector[d] += mapped[row] * matrix[row * parts.dim + d];
}

void Codebook::map_query(const float* query, float* mapped) const {
  const CodebookParts& parts = state_->parts;
  std::vector<float> moved(query, query + parts.dim);
  if (parts.metric == Metric::kL2)
    for (std::size_t d = 0; d < parts.dim; ++d) moved[d] -= parts.mean[d];
  state_->query_rows.products(moved.data(), parts.dim, 1, mapped);
}

float Codebook::seen_energy(const float* query, std::span<const float> mapped) const {
  const CodebookParts& parts = state_->parts;
  std::vector<float> encoded(mapped.begin(), mapped.end());
  // The two maps undo each other's weights, so that their product is the plain projection.
  if (!parts.query.empty()) state_->encode_rows.products(query, parts.dim, 1, encoded.data());
  return -kernels().inner_product_f32(encoded.data(), mapped.data(), mapped.size());
}

}  // namespace gossamer
