#include "distance/distance.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "distance/values.h"

using namespace gossamer;

namespace {

std::vector<std::size_t> tested_dims() {
  std::vector<std::size_t> dims;
  for (std::size_t dim = 0; dim <= 130; ++dim) dims.push_back(dim);
  dims.insert(dims.end(), {384, 768, 784, 1000});
  return dims;
}

// Values that start one byte after an aligned address and end with their buffer, so that a kernel
// that needs alignment or reads too far is found out (the latter by the address sanitizer).
template <class T>
class Unaligned {
 public:
  explicit Unaligned(const std::vector<T>& values) : bytes_(values.size() * sizeof(T) + 1) {
    if (!values.empty()) std::memcpy(bytes_.data() + 1, values.data(), values.size() * sizeof(T));
  }
  const void* data() const { return bytes_.data() + 1; }

 private:
  std::vector<std::uint8_t> bytes_;
};

std::vector<float> random_f32(Random& random, std::size_t dim) {
  std::vector<float> values(dim);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<std::uint16_t> random_f16(Random& random, std::size_t dim) {
  std::vector<std::uint16_t> values(dim);
  for (std::uint16_t& value : values) value = float_to_half(static_cast<float>(random.normal()));
  return values;
}

std::vector<std::int8_t> random_i8(Random& random, std::size_t dim) {
  std::vector<std::int8_t> values(dim);
  for (std::int8_t& value : values) value = static_cast<std::int8_t>(random.next());
  return values;
}

// Sums of standard normals in another order differ by some roundings of their partial sums.
double tolerance(std::size_t dim) { return 4e-6 * (1.0 + static_cast<double>(dim)); }

template <class A, class B>
void check_against_scalar(RowDistance Kernels::* kernel, const std::vector<A>& a,
                          const std::vector<B>& b, double allowed) {
  const Unaligned<A> row_a(a);
  const Unaligned<B> row_b(b);
  const float expected = (scalar_kernels().*kernel)(row_a.data(), row_b.data(), a.size());
  for (const Kernels* table : supported_kernels()) {
    CAPTURE(table->name);
    CAPTURE(a.size());
    const float found = (table->*kernel)(row_a.data(), row_b.data(), a.size());
    CHECK(std::abs(double{found} - double{expected}) <= allowed);
  }
}

void check_i8(const std::vector<std::int8_t>& a, const std::vector<std::int8_t>& b) {
  check_against_scalar(&Kernels::inner_product_i8, a, b, 0.0);
  check_against_scalar(&Kernels::l2_i8, a, b, 0.0);
}

bool is_same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) && std::signbit(a) == std::signbit(b)
                       : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  return halves;
}

// What binary16 means, told without bit tricks.
double meaning_of(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

}  // namespace

TEST_CASE("single precision distances are small sums done by hand") {
  const std::vector<float> a = {1, 2, -3};
  const std::vector<float> b = {4, -5, 6};

  CHECK(scalar_kernels().inner_product_f32(a.data(), b.data(), 3) == 24.0f);
  CHECK(scalar_kernels().l2_f32(a.data(), b.data(), 3) == 139.0f);
}

TEST_CASE("int8 distances are small sums done by hand") {
  const std::vector<std::int8_t> a = {-128, 127, 3};
  const std::vector<std::int8_t> b = {-128, -128, -4};

  CHECK(scalar_kernels().inner_product_i8(a.data(), b.data(), 3) == -116.0f);
  CHECK(scalar_kernels().l2_i8(a.data(), b.data(), 3) == 65074.0f);
}

TEST_CASE("every table agrees with scalar on single precision rows") {
  Random random(1);
  for (const std::size_t dim : tested_dims()) {
    const auto a = random_f32(random, dim);
    const auto b = random_f32(random, dim);

    check_against_scalar(&Kernels::inner_product_f32, a, b, tolerance(dim));
    check_against_scalar(&Kernels::l2_f32, a, b, tolerance(dim));
  }
}

TEST_CASE("every table agrees with scalar on half precision rows") {
  Random random(2);
  for (const std::size_t dim : tested_dims()) {
    const auto a = random_f16(random, dim);
    const auto b = random_f16(random, dim);

    check_against_scalar(&Kernels::inner_product_f16, a, b, tolerance(dim));
    check_against_scalar(&Kernels::l2_f16, a, b, tolerance(dim));
  }
}

TEST_CASE("every table agrees with scalar on a query against a half precision row") {
  Random random(3);
  for (const std::size_t dim : tested_dims()) {
    const auto a = random_f32(random, dim);
    const auto b = random_f16(random, dim);

    check_against_scalar(&Kernels::inner_product_f32_f16, a, b, tolerance(dim));
    check_against_scalar(&Kernels::l2_f32_f16, a, b, tolerance(dim));
  }
}

TEST_CASE("every table keeps subnormal halves") {
  const std::vector<std::uint16_t> tiny(100, 0x0001);
  const std::vector<float> large(100, 0x1.0p24f);
  const std::vector<std::uint16_t> one(100, 0x3c00);

  check_against_scalar(&Kernels::inner_product_f32_f16, large, tiny, 0.0);
  check_against_scalar(&Kernels::inner_product_f16, one, tiny, 0.0);
}

TEST_CASE("every table is exact on random int8 rows") {
  Random random(4);
  for (const std::size_t dim : tested_dims()) {
    check_i8(random_i8(random, dim), random_i8(random, dim));
  }
}

TEST_CASE("every table is exact on the extremes of int8") {
  for (const std::size_t dim : tested_dims()) {
    const std::vector<std::int8_t> lowest(dim, -128);
    const std::vector<std::int8_t> highest(dim, 127);

    check_i8(lowest, lowest);
    check_i8(lowest, highest);
    check_i8(highest, lowest);
    check_i8(highest, highest);
  }
}

TEST_CASE("int8 rows of the greatest length do not overflow") {
  const std::vector<std::int8_t> lowest(kMaxDimI8, -128);
  const std::vector<std::int8_t> highest(kMaxDimI8, 127);

  CHECK(scalar_kernels().l2_i8(lowest.data(), highest.data(), kMaxDimI8) == 65025.0f * 32768.0f);
  check_i8(lowest, lowest);
  check_i8(lowest, highest);
}

TEST_CASE("every bit pattern of half precision means what the standard says") {
  const auto halves = all_halves();
  for (const Kernels* table : supported_kernels()) {
    CAPTURE(table->name);
    std::vector<float> found(halves.size());
    table->from_f16(halves.data(), found.data(), halves.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < halves.size(); ++i)
      wrong += is_same(found[i], static_cast<float>(meaning_of(halves[i]))) ? 0 : 1;

    CHECK(wrong == 0);
  }
}

TEST_CASE("halves come back from single precision unchanged") {
  const auto halves = all_halves();
  for (const Kernels* table : supported_kernels()) {
    CAPTURE(table->name);
    std::vector<float> floats(halves.size());
    std::vector<std::uint16_t> found(halves.size());
    table->from_f16(halves.data(), floats.data(), halves.size());
    table->to_f16(floats.data(), found.data(), halves.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const bool is_nan = (halves[i] & 0x7fff) > 0x7c00;
      wrong += found[i] == (is_nan ? halves[i] | 0x0200 : halves[i]) ? 0 : 1;
    }

    CHECK(wrong == 0);
  }
}

TEST_CASE("the midpoint of two halves rounds to the even one, and its neighbors to the nearer") {
  std::vector<float> floats;
  std::vector<std::uint16_t> expected;
  for (std::uint32_t half = 0; half < 0x7c00; ++half) {
    const auto low = static_cast<std::uint16_t>(half);
    const auto high = static_cast<std::uint16_t>(half + 1);
    const double high_value = half == 0x7bff ? 65536.0 : meaning_of(high);
    const auto middle = static_cast<float>((meaning_of(low) + high_value) / 2);
    floats.insert(floats.end(),
                  {std::nextafter(middle, 0.0f), middle, -middle, std::nextafter(middle, 1e9f)});
    const std::uint16_t even = half % 2 == 0 ? low : high;
    expected.insert(expected.end(), {low, even, static_cast<std::uint16_t>(even | 0x8000), high});
  }

  for (const Kernels* table : supported_kernels()) {
    CAPTURE(table->name);
    std::vector<std::uint16_t> found(floats.size());
    table->to_f16(floats.data(), found.data(), floats.size());
    CHECK(found == expected);
  }
}

TEST_CASE("what is too large, too small or not a number for half precision is kept as such") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> floats = {1e9f, -1e9f, infinity, -infinity, 1e-30f, -1e-30f, NAN};

  for (const Kernels* table : supported_kernels()) {
    CAPTURE(table->name);
    std::vector<std::uint16_t> found(floats.size());
    table->to_f16(floats.data(), found.data(), floats.size());
    CHECK(found == std::vector<std::uint16_t>{0x7c00, 0xfc00, 0x7c00, 0xfc00, 0, 0x8000, 0x7e00});
  }
}

TEST_CASE("conversion of any count writes just that many values") {
  Random random(5);
  for (std::size_t count = 0; count <= 40; ++count) {
    const auto floats = random_f32(random, count);
    const auto halves = random_f16(random, count);
    std::vector<std::uint16_t> expected_halves(count + 1, 0x1234);
    std::vector<float> expected_floats(count + 1, 77.0f);
    scalar_kernels().to_f16(floats.data(), expected_halves.data(), count);
    scalar_kernels().from_f16(halves.data(), expected_floats.data(), count);

    for (const Kernels* table : supported_kernels()) {
      CAPTURE(table->name);
      CAPTURE(count);
      std::vector<std::uint16_t> found_halves(count + 1, 0x1234);
      std::vector<float> found_floats(count + 1, 77.0f);
      table->to_f16(floats.data(), found_halves.data(), count);
      table->from_f16(halves.data(), found_floats.data(), count);
      CHECK(found_halves == expected_halves);
      CHECK(found_floats == expected_floats);
    }
  }
}

TEST_CASE("scalar is the first supported table and the fastest is the default") {
  CHECK(supported_kernels().front() == &scalar_kernels());
  CHECK(&choose_kernels(nullptr) == supported_kernels().back());
  CHECK(&choose_kernels("") == supported_kernels().back());
}

TEST_CASE("a supported table can be chosen by its name") {
  for (const Kernels* table : supported_kernels()) CHECK(&choose_kernels(table->name) == table);
}

TEST_CASE("choosing an unknown table fails and lists the supported ones") {
  std::string message;
  try {
    choose_kernels("abacus");
  } catch (const Error& error) {
    CHECK(error.reason() == Reason::kInvalidArgument);
    message = error.what();
  }

  CHECK(message.find("abacus") != std::string::npos);
  for (const Kernels* table : supported_kernels())
    CHECK(message.find(table->name) != std::string::npos);
}
