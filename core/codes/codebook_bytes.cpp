#include "codes/codebook_bytes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gossamer {

namespace {

constexpr std::uint32_t kMagic = 0x42435347;  // "GSCB"
constexpr std::uint16_t kVersion = 1;
constexpr std::uint8_t kHasQueryMatrix = 1;
constexpr std::uint32_t kMaxDim = 65536;
constexpr std::size_t kMaxCoarse = 65536;

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

bool is_variance(float value) { return std::isfinite(value) && value >= 0.0f; }

bool splits_rise(std::span<const std::uint32_t> splits) {
  if (splits.size() < 2 || splits.front() != 0) return false;
  for (std::size_t i = 1; i < splits.size(); ++i)
    if (splits[i] <= splits[i - 1]) return false;
  return true;
}

bool sizes_fit(const CodebookParts& parts) {
  if (parts.dim == 0 || parts.dim > kMaxDim || !splits_rise(parts.splits)) return false;
  const std::size_t rank = parts.rank();
  const std::size_t matrix = rank * parts.dim;
  const std::size_t pieces = parts.splits.size() - 1;
  return rank <= parts.dim && parts.mean.size() == parts.dim && parts.encode.size() == matrix &&
         (parts.query.empty() || parts.query.size() == matrix) &&
         parts.centroids.size() == rank * kSubspaceCentroids && parts.coarse.size() % rank == 0 &&
         parts.coarse.size() / rank <= kMaxCoarse && parts.residual_variance.size() == rank &&
         pieces + (parts.coarse.empty() ? 0 : kCoarseBytes) + kCorrectionBytes <= kMaxCodeBytes;
}

// Half precision holds values up to 65,504 and loses digits below 0.00006: arrays are stored
// divided by a power of two that brings their largest value to 1 or just below.
float scale_of(std::span<const float> values) {
  float largest = 0.0f;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  if (largest == 0.0f) return 1.0f;
  // A little more than the largest, so that nothing rounds up to 1 and asks for the next scale.
  return std::ldexp(1.0f, std::clamp(std::ilogb(largest * (1.0f + 0x1.0p-11f)) + 1, -100, 126));
}

void put_halves(ByteWriter& writer, std::span<const float> values) {
  const float scale = scale_of(values);
  std::vector<float> scaled(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) scaled[i] = values[i] / scale;
  std::vector<std::uint16_t> halves(values.size());
  scalar_kernels().to_f16(scaled.data(), halves.data(), halves.size());
  writer.put(scale);
  writer.put_array(std::span<const std::uint16_t>(halves));
}

std::vector<float> get_halves(ByteReader& reader, std::uint64_t count) {
  const float scale = reader.get<float>();
  const auto halves = reader.get_array<std::uint16_t>(count);
  std::vector<float> values(halves.size());
  scalar_kernels().from_f16(halves.data(), values.data(), values.size());
  for (float& value : values) value *= scale;
  return values;
}

void round_halves(std::vector<float>& values) {
  ByteWriter writer;
  put_halves(writer, values);
  const Bytes bytes = writer.take();
  ByteReader reader(bytes, "codebook");
  values = get_halves(reader, values.size());
}

std::vector<std::uint32_t> read_splits(ByteReader& reader, std::uint32_t pieces) {
  expect(pieces > 0 && pieces <= kMaxCodeBytes, Reason::kDamaged,
         "codebook: the number of subspaces is not between 1 and 64");
  std::vector<std::uint32_t> splits{0};
  for (std::uint32_t i = 0; i < pieces; ++i)
    splits.push_back(splits.back() + reader.get<std::uint16_t>());
  expect(splits_rise(splits), Reason::kDamaged, "codebook: a subspace has no dimensions");
  return splits;
}

}  // namespace

void check_parts(const CodebookParts& parts, Reason reason) {
  expect(sizes_fit(parts), reason, "codebook: the sizes of its parts do not fit together");
  expect(parts.metric != Metric::kL2 || parts.coarse.empty(), reason,
         "codebook: coarse centroids are for inner product and cosine only");
  expect(parts.metric != Metric::kL2 || parts.query.empty(), reason,
         "codebook: an L2 codebook has one orthogonal matrix, not two");
  for (const auto* values : {&parts.mean, &parts.encode, &parts.query, &parts.centroids,
                             &parts.coarse, &parts.residual_variance})
    expect(all_finite(*values), reason, "codebook: a value is not finite");
  expect(
      is_variance(parts.rest_variance) && is_variance(parts.energy_variance) &&
          std::all_of(parts.residual_variance.begin(), parts.residual_variance.end(), is_variance),
      reason, "codebook: a variance is negative or not finite");
  expect(std::isfinite(parts.correction_low) && is_variance(parts.correction_step) &&
             std::isfinite(parts.correlation),
         reason, "codebook: the correction is not finite");
}

void round_parts(CodebookParts& parts) {
  for (auto* values : {&parts.encode, &parts.query, &parts.centroids, &parts.coarse})
    round_halves(*values);
}

Bytes write_parts(const CodebookParts& rounded) {
  ByteWriter writer;
  writer.put(kMagic);
  writer.put(kVersion);
  writer.put(static_cast<std::uint8_t>(rounded.metric));
  writer.put(rounded.query.empty() ? std::uint8_t{0} : kHasQueryMatrix);
  writer.put(rounded.dim);
  writer.put(static_cast<std::uint32_t>(rounded.splits.size() - 1));
  writer.put(static_cast<std::uint32_t>(rounded.coarse.size() / rounded.rank()));
  for (std::size_t i = 1; i < rounded.splits.size(); ++i)
    writer.put(static_cast<std::uint16_t>(rounded.splits[i] - rounded.splits[i - 1]));
  writer.put(rounded.rest_variance);
  writer.put(rounded.energy_variance);
  writer.put(rounded.correction_low);
  writer.put(rounded.correction_step);
  writer.put(rounded.correlation);
  writer.put_array(std::span<const float>(rounded.mean));
  writer.put_array(std::span<const float>(rounded.residual_variance));
  put_halves(writer, rounded.encode);
  if (!rounded.query.empty()) put_halves(writer, rounded.query);
  put_halves(writer, rounded.centroids);
  put_halves(writer, rounded.coarse);
  Bytes bytes = writer.take();
  ByteWriter hash;
  hash.put(fnv1a(bytes));
  const Bytes tail = hash.take();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  return bytes;
}

CodebookParts read_parts(ByteView bytes) {
  ByteReader reader(bytes, "codebook");
  expect(reader.get<std::uint32_t>() == kMagic, Reason::kNotGossamer,
         "codebook: the bytes do not begin like a codebook");
  expect(reader.get<std::uint16_t>() == kVersion, Reason::kUnknownVersion,
         "codebook: written by another version; this one reads version 1");
  CodebookParts parts;
  const auto metric = reader.get<std::uint8_t>();
  const auto flags = reader.get<std::uint8_t>();
  expect(metric <= static_cast<std::uint8_t>(Metric::kL2) && flags <= kHasQueryMatrix,
         Reason::kDamaged, "codebook: unknown metric or flag");
  parts.metric = static_cast<Metric>(metric);
  parts.dim = reader.get<std::uint32_t>();
  const auto pieces = reader.get<std::uint32_t>();
  const std::uint64_t coarse = reader.get<std::uint32_t>();
  parts.splits = read_splits(reader, pieces);
  const std::uint64_t rank = parts.rank();
  expect(parts.dim <= kMaxDim && rank <= parts.dim && coarse <= kMaxCoarse, Reason::kDamaged,
         "codebook: the dimension, the rank or the number of coarse centroids is out of range");
  parts.rest_variance = reader.get<float>();
  parts.energy_variance = reader.get<float>();
  parts.correction_low = reader.get<float>();
  parts.correction_step = reader.get<float>();
  parts.correlation = reader.get<float>();
  parts.mean = reader.get_array<float>(parts.dim);
  parts.residual_variance = reader.get_array<float>(rank);
  parts.encode = get_halves(reader, rank * parts.dim);
  if (flags & kHasQueryMatrix) parts.query = get_halves(reader, rank * parts.dim);
  parts.centroids = get_halves(reader, rank * kSubspaceCentroids);
  parts.coarse = get_halves(reader, coarse * rank);
  const ByteView hashed = bytes.first(bytes.size() - reader.remaining());
  expect(reader.get<std::uint64_t>() == fnv1a(hashed), Reason::kDamaged,
         "codebook: the bytes do not match their hash");
  reader.expect_end();
  check_parts(parts, Reason::kDamaged);
  return parts;
}

std::uint64_t fnv1a(ByteView bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

}  // namespace gossamer
