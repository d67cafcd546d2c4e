#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace gossamer {

// Shell's sort with Ciura's gaps: some two hundred bytes of code, nearly as fast as the library's
// for lists of some thousands, and no bad cases to speak of.
template <class Iterator>
void sort_by_gaps(Iterator begin, Iterator end) {
  constexpr std::size_t kGaps[] = {1,    4,    10,   23,    57,    132,   301,    701,
                                   1577, 3548, 7983, 17961, 40412, 90927, 204585, 460316};
  const auto count = static_cast<std::size_t>(end - begin);
  for (std::size_t g = std::size(kGaps); g-- > 0;) {
    const std::size_t gap = kGaps[g];
    for (std::size_t i = gap; i < count; ++i) {
      const auto value = begin[static_cast<std::ptrdiff_t>(i)];
      std::size_t place = i;
      for (; place >= gap; place -= gap) {
        const auto& before = begin[static_cast<std::ptrdiff_t>(place - gap)];
        if (!(value < before)) break;
        begin[static_cast<std::ptrdiff_t>(place)] = before;
      }
      begin[static_cast<std::ptrdiff_t>(place)] = value;
    }
  }
}

// What is sorted by a number, and among equals by another: one type for all, so that there is one
// such sort in a module.
using SortKey = std::pair<std::int64_t, std::int64_t>;

// std::sort for values that are told apart by `<`, so that every way of sorting gives the same. In
// WebAssembly the library's takes many kilobytes for each type.
template <class Iterator>
void sort_values(Iterator begin, Iterator end) {
#if defined(__wasm__)
  sort_by_gaps(begin, end);
#else
  std::sort(begin, end);
#endif
}

// Likewise std::nth_element: afterwards `nth` is where it would be if all were sorted, and none
// before it is greater.
template <class Iterator>
void place_nth(Iterator begin, Iterator nth, Iterator end) {
#if defined(__wasm__)
  (void)nth;
  sort_by_gaps(begin, end);
#else
  std::nth_element(begin, nth, end);
#endif
}

}  // namespace gossamer
