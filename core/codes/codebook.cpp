#include "codes/codebook.h"

#include <algorithm>
#include <cmath>
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

std::vector<float> centred_rows(const CodebookParts& parts, const float* vectors,
                                std::size_t count) {
  std::vector<float> rows(vectors, vectors + count * parts.dim);
  for (std::size_t i = 0; i < count; ++i) {
    float* row = rows.data() + i * parts.dim;
    if (parts.metric == Metric::kCosine) normalize(row, parts.dim);
    for (std::size_t d = 0; d < parts.dim; ++d) row[d] -= parts.mean[d];
  }
  return rows;
}

void add_mean(const CodebookParts& parts, std::size_t count, float* rows) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < parts.dim; ++d) rows[i * parts.dim + d] += parts.mean[d];
}

float dot(const float* a, const float* b, std::size_t dim) {
  return -kernels().inner_product_f32(a, b, dim);
}

// x.(x - x^) for inner products. For L2, in coordinates from the mean, what is missing of the
// vector's energy, less twice the share of x.(x - x^) that a near query would miss.
float missed_by(const CodebookParts& parts, const float* row, const float* centred,
                const float* seen, const float* quantized) {
  const std::size_t rank = parts.rank();
  if (parts.metric != Metric::kL2) return dot(row, centred, parts.dim) - dot(seen, quantized, rank);
  const float whole = dot(centred, centred, parts.dim);
  const float along = whole - dot(seen, quantized, rank);
  return whole - dot(quantized, quantized, rank) - 2.0f * parts.correlation * along;
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
  return piece_count() + (state_->coarse.empty() ? 0 : kCoarseBytes) + kCorrectionBytes;
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
  const std::vector<float> centred = centred_rows(parts, vectors, count);
  std::vector<float> mapped(count * parts.rank());
  state_->encode_rows.products(centred.data(), parts.dim, count, mapped.data());
  subtract_coarse(count, mapped.data(), codes);
  const std::size_t skipped = state_->coarse.empty() ? 0 : kCoarseBytes;
  state_->encoder.encode(mapped.data(), count, codes + skipped, code_bytes());
  std::vector<float> missed(count);
  corrections(vectors, count, codes, missed.data(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const float steps = parts.correction_step > 0.0f
                            ? (missed[i] - parts.correction_low) / parts.correction_step
                            : 0.0f;
    // Vectors near the end of the float range overflow on the way: then the byte says nothing.
    const float whole = std::isfinite(steps) ? steps + 0.5f : 0.0f;
    codes[(i + 1) * code_bytes() - 1] = static_cast<std::uint8_t>(std::clamp(whole, 0.0f, 255.0f));
  }
}

void Codebook::subtract_coarse(std::size_t count, float* mapped, std::uint8_t* codes) const {
  if (state_->coarse.empty()) return;
  const CodebookParts& parts = state_->parts;
  const std::size_t rank = parts.rank();
  std::vector<std::uint32_t> nearest(count);
  state_->coarse.front().nearest(mapped, rank, count, nearest.data());
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint16_t>(nearest[i]);
    std::memcpy(codes + i * code_bytes(), &id, kCoarseBytes);
    const float* centroid = parts.coarse.data() + nearest[i] * rank;
    for (std::size_t d = 0; d < rank; ++d) mapped[i * rank + d] -= centroid[d];
  }
}

void Codebook::corrections(const float* vectors, std::size_t count, const std::uint8_t* codes,
                           float* out, unsigned threads) const {
  const CodebookParts& parts = state_->parts;
  const std::size_t rank = parts.rank();
  parallel_for((count + kBlock - 1) / kBlock, threads, 1, [&](std::size_t block, unsigned) {
    const std::size_t first = block * kBlock;
    const std::size_t size = std::min(kBlock, count - first);
    const std::vector<float> centred = centred_rows(parts, vectors + first * parts.dim, size);
    std::vector<float> rows = centred;
    if (parts.metric != Metric::kL2) add_mean(parts, size, rows.data());
    std::vector<float> seen(size * rank);
    state_->query_rows.products(rows.data(), parts.dim, size, seen.data());
    std::vector<float> quantized(rank);
    for (std::size_t i = 0; i < size; ++i) {
      decode_mapped(codes + (first + i) * code_bytes(), quantized.data());
      const float* row = rows.data() + i * parts.dim;
      out[first + i] = missed_by(parts, row, centred.data() + i * parts.dim, seen.data() + i * rank,
                                 quantized.data());
    }
  });
}

void Codebook::decode_mapped(const std::uint8_t* code, float* mapped) const {
  const CodebookParts& parts = state_->parts;
  const std::size_t rank = parts.rank();
  std::fill_n(mapped, rank, 0.0f);
  if (!state_->coarse.empty()) {
    std::uint16_t id;
    std::memcpy(&id, code, kCoarseBytes);
    // Codes may come from a damaged file: an id past the last centroid stands for no centroid.
    if (id < coarse_count()) std::copy_n(parts.coarse.data() + id * rank, rank, mapped);
    code += kCoarseBytes;
  }
  for (std::size_t piece = 0; piece < piece_count(); ++piece) {
    const std::size_t first = parts.splits[piece];
    const std::size_t width = parts.splits[piece + 1] - first;
    const float* centroid =
        parts.centroids.data() + first * kSubspaceCentroids + code[piece] * width;
    for (std::size_t d = 0; d < width; ++d) mapped[first + d] += centroid[d];
  }
}

void Codebook::decode(const std::uint8_t* code, float* vector) const {
  const CodebookParts& parts = state_->parts;
  std::vector<float> mapped(parts.rank());
  decode_mapped(code, mapped.data());
  const std::vector<float>& matrix = parts.query.empty() ? parts.encode : parts.query;
  std::copy(parts.mean.begin(), parts.mean.end(), vector);
  for (std::size_t row = 0; row < mapped.size(); ++row)
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
  return dot(encoded.data(), mapped.data(), mapped.size());
}

}  // namespace gossamer
