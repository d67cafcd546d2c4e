#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gossamer::fuzz {

// `error` is the last one that was met, where that tells why.
inline void require(bool holds, const char* what, const std::string& error = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s %s\n", what, error.c_str());
  std::abort();
}

// What the bytes of an input choose, one after the other; zeros once it is at its end.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

  bool empty() const { return data_ == end_; }
  std::uint8_t next() { return empty() ? 0 : *data_++; }
  std::size_t below(std::size_t bound) { return next() % bound; }
  bool is_one_in(std::size_t count) { return below(count) == 1; }

 private:
  const std::uint8_t *data_, *end_;
};

}  // namespace gossamer::fuzz
