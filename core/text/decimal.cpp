#include "text/decimal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gossamer {
namespace {

// No number that lies half-way between two others has more digits than this.
constexpr std::size_t kMostDigits = 800;
constexpr int kMostExponent = 100'000;
// What doubles hold as they are: integers of so many digits, and so many powers of ten.
constexpr std::size_t kExactDigits = 15;
constexpr int kExactPower = 22;
constexpr int kLeastExponent = -1022;
constexpr int kPrecision = 53;

// Digits without the zeros before them, times a power of ten.
struct Decimal {
  std::string digits;
  int exponent = 0;
  bool is_negative = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int read_exponent(std::string_view written) {
  if (written.empty()) return 0;
  const bool is_negative = written[1] == '-';
  int value = 0;
  for (const char c : written.substr(1))
    if (is_digit(c)) value = std::min(10 * value + (c - '0'), kMostExponent);
  return is_negative ? -value : value;
}

Decimal parse(std::string_view written) {
  Decimal decimal;
  decimal.is_negative = written[0] == '-';
  const std::size_t mark = std::min(written.find_first_of("eE"), written.size());
  std::int64_t exponent = 0;
  bool is_behind_point = false, is_more = false;
  for (const char c : written.substr(0, mark)) {
    if (c == '.') is_behind_point = true;
    if (!is_digit(c)) continue;
    if (is_behind_point) --exponent;
    if (decimal.digits.size() == kMostDigits) {
      ++exponent;
      is_more |= c != '0';
    } else if (c != '0' || !decimal.digits.empty()) {
      decimal.digits.push_back(c);
    }
  }
  // Of what was left out it matters only whether it is nothing.
  if (is_more) decimal.digits.push_back('1');
  if (is_more) --exponent;
  exponent += read_exponent(written.substr(mark));
  decimal.exponent =
      static_cast<int>(std::clamp<std::int64_t>(exponent, -kMostExponent, kMostExponent));
  return decimal;
}

template <class T>
T power_of_ten(int exponent) {
  T power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

// The most powers of ten that are multiplied or divided by at once.
constexpr int kStep = 9;

// An integer of any size, the lowest digits of base 2^32 first.
class Large {
 public:
  void multiply_and_add(std::uint32_t factor, std::uint32_t more) {
    std::uint64_t carry = more;
    for (std::uint32_t& part : parts_) {
      carry += std::uint64_t{part} * factor;
      part = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) parts_.push_back(static_cast<std::uint32_t>(carry));
  }
  void divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      rest = rest << 32 | parts_[i];
      parts_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    has_rest_ |= rest > 0;
    while (parts_.back() == 0) parts_.pop_back();
  }
  void shift(int parts) { parts_.insert(parts_.begin(), static_cast<std::size_t>(parts), 0); }

  int bits() const {
    return 32 * static_cast<int>(parts_.size()) - std::countl_zero(parts_.back());
  }
  // The highest 64 bits, and in the lowest one whether anything stands behind them.
  std::uint64_t top() const {
    std::uint64_t top = 0;
    bool has_rest = has_rest_;
    int missing = 64;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      const int width = i + 1 == parts_.size() ? 32 - std::countl_zero(parts_[i]) : 32;
      const int taken = std::min(width, missing);
      if (taken > 0) top = top << taken | parts_[i] >> (width - taken);
      missing -= taken;
      has_rest |= (parts_[i] & ((std::uint64_t{1} << (width - taken)) - 1)) != 0;
    }
    return top << missing | (has_rest ? 1u : 0u);
  }

 private:
  std::vector<std::uint32_t> parts_;
  bool has_rest_ = false;  // from divisions
};

// Rounds 0.1... (in base two, with 64 digits) times a power of two, to even where it is half-way.
double round(std::uint64_t top, int exponent) {
  const int kept = std::min(kPrecision, exponent - 1 - kLeastExponent + kPrecision);
  if (kept < 0) return 0;
  std::uint64_t mantissa = kept == 0 ? 0 : top >> (64 - kept);
  const std::uint64_t rest = top << kept, half = std::uint64_t{1} << 63;
  if (rest > half || (rest == half && mantissa % 2 == 1)) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), exponent - kept);
}

double to_double(const std::string& digits, int exponent) {
  if (digits.empty()) return 0;
  const int size = static_cast<int>(digits.size());
  if (size + exponent > 310) return std::numeric_limits<double>::infinity();
  if (size + exponent < -325) return 0;
  if (digits.size() <= kExactDigits && std::abs(exponent) <= kExactPower) {
    double value = 0;
    for (const char c : digits) value = 10 * value + (c - '0');
    return exponent < 0 ? value / power_of_ten<double>(-exponent)
                        : value * power_of_ten<double>(exponent);
  }
  Large large;
  for (const char c : digits) large.multiply_and_add(10, static_cast<std::uint32_t>(c - '0'));
  for (int left = exponent; left > 0; left -= kStep)
    large.multiply_and_add(power_of_ten<std::uint32_t>(std::min(left, kStep)), 0);
  // Enough that 64 bits are left when all is divided.
  const int shift = exponent < 0 ? (64 - exponent * 10 / 3) / 32 + 1 : 0;
  large.shift(shift);
  for (int left = -exponent; left > 0; left -= kStep)
    large.divide(power_of_ten<std::uint32_t>(std::min(left, kStep)));
  return round(large.top(), large.bits() - 32 * shift);
}

}  // namespace

double read_decimal(std::string_view written) {
  const Decimal decimal = parse(written);
  const double value = to_double(decimal.digits, decimal.exponent);
  return decimal.is_negative ? -value : value;
}

}  // namespace gossamer
