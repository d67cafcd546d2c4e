#include "text/decimal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gossamer {
namespace {

// No number that lies half-way between two others has more digits than this.
constexpr int kMostDigits = 800;
// Powers of ten beyond which there is only infinity, or nothing.
constexpr int kMostPower = 310, kLeastPower = -325;
constexpr int kLeastExponent = -1022, kPrecision = 53;
// As many powers of ten are multiplied or divided by at once.
constexpr int kStep = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An integer of the most digits, or one with a fraction: in base 2^32, the lowest part first.
class Large {
 public:
  void multiply_and_add(std::uint32_t factor, std::uint32_t more) {
    std::uint64_t carry = more;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{parts_[i]} * factor;
      parts_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) parts_[size_++] = static_cast<std::uint32_t>(carry);
  }
  void divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = size_; i-- > 0;) {
      rest = rest << 32 | parts_[i];
      parts_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    has_rest_ |= rest > 0;
    while (parts_[size_ - 1] == 0) --size_;
  }
  void shift(std::size_t parts) {
    std::copy_backward(parts_.begin(), parts_.begin() + size_, parts_.begin() + size_ + parts);
    std::fill_n(parts_.begin(), parts, 0);
    size_ += parts;
  }

  int bits() const { return 32 * static_cast<int>(size_) - std::countl_zero(parts_[size_ - 1]); }
  // The highest 64 bits, and in the lowest one whether anything stands behind them.
  std::uint64_t top() const {
    const auto part = [&](std::size_t below) {
      return below < size_ ? std::uint64_t{parts_[size_ - 1 - below]} : 0;
    };
    const int empty = std::countl_zero(parts_[size_ - 1]);
    bool has_rest = has_rest_ || (part(2) << empty & 0xFFFFFFFF) != 0;
    for (std::size_t i = 3; i < size_; ++i) has_rest |= part(i) != 0;
    return (part(0) << 32 | part(1)) << empty | part(2) << empty >> 32 | (has_rest ? 1u : 0u);
  }

 private:
  // So many digits, and the powers of ten that they may be divided by.
  std::array<std::uint32_t, 224> parts_{};
  std::size_t size_ = 0;
  bool has_rest_ = false;  // from divisions
};

std::uint32_t power_of_ten(int exponent) {
  std::uint32_t power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

// Rounds 0.1... (in base two, with 64 digits) times a power of two, to even where it is half-way.
double round(std::uint64_t top, int exponent) {
  const int kept = std::min(kPrecision, exponent - 1 - kLeastExponent + kPrecision);
  if (kept < 0) return 0;
  std::uint64_t mantissa = kept == 0 ? 0 : top >> (64 - kept);
  const std::uint64_t rest = top << kept, half = std::uint64_t{1} << 63;
  if (rest > half || (rest == half && mantissa % 2 == 1)) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), exponent - kept);
}

double scale(Large& large, int exponent) {
  for (int left = exponent; left > 0; left -= kStep)
    large.multiply_and_add(power_of_ten(std::min(left, kStep)), 0);
  // Enough that 64 bits are left when all is divided.
  const int shift = exponent < 0 ? (64 - exponent * 10 / 3) / 32 + 1 : 0;
  large.shift(static_cast<std::size_t>(shift));
  for (int left = -exponent; left > 0; left -= kStep)
    large.divide(power_of_ten(std::min(left, kStep)));
  return round(large.top(), large.bits() - 32 * shift);
}

int read_exponent(std::string_view written) {
  int value = 0;
  for (const char c : written)
    if (is_digit(c)) value = std::min(10 * value + (c - '0'), 100'000'000);
  return written.find('-') == written.npos ? value : -value;
}

double read_size(std::string_view written) {
  const std::size_t mark = std::min(written.find_first_of("eE"), written.size());
  int exponent = read_exponent(written.substr(mark)), digits = 0;
  bool is_behind_point = false, is_more = false;
  Large large;
  for (const char c : written.substr(0, mark)) {
    is_behind_point |= c == '.';
    if (!is_digit(c)) continue;
    exponent -= is_behind_point ? 1 : 0;
    if (digits == kMostDigits) {
      ++exponent;
      is_more |= c != '0';
    } else if (c != '0' || digits > 0) {
      ++digits;
      large.multiply_and_add(10, static_cast<std::uint32_t>(c - '0'));
    }
  }
  if (digits == 0 || digits + exponent < kLeastPower) return 0;
  if (digits + exponent > kMostPower) return std::numeric_limits<double>::infinity();
  // Of what was left out it matters only whether it is nothing.
  if (is_more) large.multiply_and_add(10, 1);
  return scale(large, exponent - (is_more ? 1 : 0));
}

}  // namespace

double read_decimal(std::string_view written) {
  const double size = read_size(written);
  return written[0] == '-' ? -size : size;
}

}  // namespace gossamer
