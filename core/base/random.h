#pragma once

#include <cmath>
#include <cstdint>

namespace gossamer {

// SplitMix64: seeded, tiny, and equal on every platform (the standard distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound must be positive.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  // Uniform in (0, 1]: safe to take the logarithm of.
  double unit() { return (static_cast<double>(next() >> 11) + 1.0) * 0x1.0p-53; }

  // Standard normal (Box-Muller).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(unit()));
    return radius * std::cos(6.283185307179586 * unit());
  }

 private:
  std::uint64_t state_;
};

}  // namespace gossamer
