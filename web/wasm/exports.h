#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// A function that JavaScript calls. Numbers that may be above 2^32 cross as doubles, arrays as
// addresses in memory that alloc() gave.
#define GOSSAMER_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace gossamer::wasm {

// Whole numbers that JavaScript can hold; above it ids cannot be told apart.
inline constexpr std::uint64_t kMostNumber = (std::uint64_t{1} << 53) - 1;

// Memory that alloc() gave and that is now ours to free.
struct Free {
  void operator()(std::uint8_t* memory) const;
};
using Taken = std::unique_ptr<std::uint8_t, Free>;

// What the last call gives besides its result, to be read before the next: see first() and second()
// of runtime.cpp.
struct Given {
  std::vector<double> numbers;
  std::vector<float> floats;
  std::vector<std::uint32_t> words;
  Bytes bytes;
  const void* first = nullptr;
  const void* second = nullptr;
};
Given& given();
// The bytes of a text.
std::size_t give_text(std::string_view text);

// Ids as JavaScript writes them, and back.
std::vector<std::uint64_t> to_ids(const double* numbers, std::size_t count);
void give_ids(std::span<const std::uint64_t> ids);
double to_number(std::uint64_t id);

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace gossamer::wasm
