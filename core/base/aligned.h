#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

// Memory that starts at a cache line, and at a huge page where there is enough of it: rows are
// read at random, and most of what that costs is finding pages and splitting lines.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment_of(bytes));
#if defined(__linux__)
    if (bytes >= 2 * kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: it may fail
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, alignment_of(count * sizeof(T)));
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }

 private:
  static std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes >= 2 * kHugePage ? kHugePage : kLine};
  }
};

// Rows of codes or vectors, end to end.
using RowBytes = std::vector<std::uint8_t, AlignedAllocator<std::uint8_t>>;

}  // namespace gossamer
