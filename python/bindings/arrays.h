#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

// numpy arrays in and out: type and layout are checked by nanobind, lengths here.
namespace gossamer {

namespace nb = nanobind;

using FloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatRow = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ByteMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumberRow = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ByteRow = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BoolRow = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntRow = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IdRow = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector's memory to numpy.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> row) {
  const std::size_t count = row.size();
  return to_numpy(std::move(row), {count});
}

inline std::span<const std::uint64_t> view_of(const IdRow& ids) { return {ids.data(), ids.size()}; }
// The bytes stay as long as the object does.
inline std::string_view text_of(const nb::bytes& text) { return {text.c_str(), text.size()}; }
inline ByteView view_of(const nb::bytes& bytes) {
  return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
inline nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }
inline nb::bytes bytes_of(ByteView bytes) { return nb::bytes(bytes.data(), bytes.size()); }
inline std::string string_of(const nb::bytes& text) { return std::string(text_of(text)); }

// For functions that do nothing with Python: others may run meanwhile.
using Release = nb::call_guard<nb::gil_scoped_release>;
// What such a part of a function gives.
template <class Run>
auto release_for(const Run& run) {
  const nb::gil_scoped_release release;
  return run();
}

inline void check_dim(std::size_t given, std::size_t expected) {
  if (given != expected) {
    fail(Reason::kWrongDimension, "expected vectors of " + std::to_string(expected) +
                                      " dimensions, got " + std::to_string(given));
  }
}

}  // namespace gossamer
