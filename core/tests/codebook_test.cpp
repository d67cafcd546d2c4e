#include "codes/codebook.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "codes/codebook_bytes.h"
#include "codes_fixture.h"

using namespace gossamer;
using gossamer::testing::random_vectors;
using gossamer::testing::small_parts;

namespace {

Reason reason_of(const Bytes& bytes) {
  try {
    Codebook::from_bytes(bytes);
  } catch (const Error& error) {
    return error.reason();
  }
  FAIL("the bytes were accepted");
  return Reason::kInvalidArgument;
}

// Puts the right hash behind bytes that were changed, so that only what they say can be refused.
Bytes rehashed(Bytes bytes) {
  const std::uint64_t hash = fnv1a(ByteView(bytes).first(bytes.size() - sizeof(std::uint64_t)));
  std::memcpy(bytes.data() + bytes.size() - sizeof(hash), &hash, sizeof(hash));
  return bytes;
}

template <class T>
Bytes with(Bytes bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  return rehashed(std::move(bytes));
}

constexpr std::size_t kDimAt = 8, kPiecesAt = 12, kCoarseAt = 16, kWidthsAt = 20, kFloatsAt = 26;

}  // namespace

TEST_CASE("a decoded code is near the vector it came from") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  const auto vectors = random_vectors(200, 7, 8);
  std::vector<std::uint8_t> codes(200 * codebook.code_bytes());
  std::vector<float> decoded(7);
  float missed = 0.0f;

  codebook.encode(vectors.data(), 200, codes.data(), 1);
  for (std::size_t i = 0; i < 200; ++i) {
    codebook.decode(&codes[i * codebook.code_bytes()], decoded.data());
    missed += scalar_kernels().l2_f32(&vectors[i * 7], decoded.data(), 7);
  }

  CHECK(codebook.code_bytes() == 4);
  CHECK(missed < 0.2f * 200 * 7);
}

TEST_CASE("codes do not depend on threads or on how many vectors come at once") {
  const Codebook codebook(small_parts(Metric::kCosine, 9));
  const auto vectors = random_vectors(1001, 7, 8);
  const std::size_t width = codebook.code_bytes();
  std::vector<std::uint8_t> together(1001 * width), apart(1001 * width);

  codebook.encode(vectors.data(), 1001, together.data(), 3);
  for (std::size_t i = 0; i < 1001; ++i) codebook.encode(&vectors[i * 7], 1, &apart[i * width], 1);

  CHECK(width == 6);
  CHECK(together == apart);
}

TEST_CASE("cosine codes ignore the length of a vector") {
  const Codebook codebook(small_parts(Metric::kCosine));
  auto vector = random_vectors(1, 7, 3);
  std::vector<std::uint8_t> before(4), after(4);

  codebook.encode(vector.data(), 1, before.data(), 1);
  for (float& value : vector) value *= 4.0f;
  codebook.encode(vector.data(), 1, after.data(), 1);

  CHECK(before == after);
}

TEST_CASE("a codebook read back gives the same bytes, fingerprint and codes") {
  for (const std::size_t coarse : {0u, 5u}) {
    CodebookParts parts = small_parts(Metric::kInnerProduct, coarse);
    parts.query = parts.encode;
    parts.centroids[0] = 0.99999f * 16;  // rounds up to a power of two
    const Codebook codebook(std::move(parts));
    const auto vectors = random_vectors(100, 7, 2);
    std::vector<std::uint8_t> before(100 * codebook.code_bytes()), after(before.size());

    const Codebook again = Codebook::from_bytes(codebook.to_bytes());
    codebook.encode(vectors.data(), 100, before.data(), 1);
    again.encode(vectors.data(), 100, after.data(), 1);

    CHECK(again.to_bytes() == codebook.to_bytes());
    CHECK(again.fingerprint() == codebook.fingerprint());
    CHECK(again.coarse_count() == coarse);
    CHECK(before == after);
  }
}

TEST_CASE("codebooks that differ have different fingerprints") {
  CodebookParts parts = small_parts(Metric::kInnerProduct);
  const Codebook one(parts);
  parts.mean[3] += 1.0f;

  CHECK(Codebook(parts).fingerprint() != one.fingerprint());
}

TEST_CASE("a codebook cut short anywhere is refused") {
  const Bytes bytes = Codebook(small_parts(Metric::kInnerProduct)).to_bytes();

  for (std::size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 97)
    CHECK_THROWS_AS(Codebook::from_bytes(ByteView(bytes).first(size)), Error);
}

TEST_CASE("a codebook with any bit flipped is refused") {
  const Bytes bytes = Codebook(small_parts(Metric::kInnerProduct)).to_bytes();

  for (std::size_t at = 0; at < bytes.size(); at += at < 64 ? 1 : 31) {
    Bytes flipped = bytes;
    flipped[at] ^= static_cast<std::uint8_t>(1u << (at % 8));
    CHECK_THROWS_AS(Codebook::from_bytes(flipped), Error);
  }
}

TEST_CASE("bytes that are no codebook, of another version or too long say so") {
  const Bytes bytes = Codebook(small_parts(Metric::kInnerProduct)).to_bytes();
  Bytes longer = bytes;
  longer.push_back(0);

  CHECK(reason_of(with<std::uint32_t>(bytes, 0, 1)) == Reason::kNotGossamer);
  CHECK(reason_of(with<std::uint16_t>(bytes, 4, 2)) == Reason::kUnknownVersion);
  CHECK(reason_of(longer) == Reason::kDamaged);
}

TEST_CASE("hostile sizes are refused even under a right hash") {
  const Bytes bytes = Codebook(small_parts(Metric::kInnerProduct)).to_bytes();

  for (const std::uint32_t size : {0u, 6u, 8u, 65536u, 0xffffffffu})
    CHECK_THROWS_AS(Codebook::from_bytes(with(bytes, kDimAt, size)), Error);
  for (const std::uint32_t size : {0u, 2u, 4u, 65u, 0xffffffffu})
    CHECK_THROWS_AS(Codebook::from_bytes(with(bytes, kPiecesAt, size)), Error);
  for (const std::uint32_t size : {1u, 70000u, 0xffffffffu})
    CHECK_THROWS_AS(Codebook::from_bytes(with(bytes, kCoarseAt, size)), Error);
  for (const std::uint16_t width : {std::uint16_t{0}, std::uint16_t{4}, std::uint16_t{65535}})
    CHECK_THROWS_AS(Codebook::from_bytes(with(bytes, kWidthsAt, width)), Error);
}

TEST_CASE("values that are not finite and negative variances are refused") {
  const Bytes bytes = Codebook(small_parts(Metric::kInnerProduct)).to_bytes();
  const float nan = std::numeric_limits<float>::quiet_NaN();

  for (std::size_t i = 0; i < 5 + 7 + 7; ++i)
    CHECK(reason_of(with(bytes, kFloatsAt + 4 * i, nan)) == Reason::kDamaged);
  CHECK(reason_of(with(bytes, kFloatsAt, -1.0f)) == Reason::kDamaged);
  const std::size_t matrix_scale = kFloatsAt + 4 * (5 + 7 + 7);
  CHECK(reason_of(with(bytes, matrix_scale, nan)) == Reason::kDamaged);
  CHECK(reason_of(with<std::uint16_t>(bytes, matrix_scale + 4, 0x7c00)) == Reason::kDamaged);
}

TEST_CASE("an L2 codebook with coarse centroids is refused") {
  CHECK_THROWS_AS(Codebook(small_parts(Metric::kL2, 4)), Error);
}
