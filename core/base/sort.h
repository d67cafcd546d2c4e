#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gossamer {

// std::sort and std::nth_element for values that are told apart by `<`: then every way of sorting
// gives the same. In WebAssembly the library's take many kilobytes for each type; Shell's sort
// (with Ciura's gaps) takes some two hundred bytes, is nearly as fast for lists of some thousands
// and has no bad cases to speak of.
template <class Iterator>
void sort_values(Iterator begin, Iterator end) {
#if defined(__wasm__)
  constexpr std::size_t kGaps[] = {1,    4,    10,   23,    57,    132,   301,    701,
                                   1577, 3548, 7983, 17961, 40412, 90927, 204585, 460316};
  constexpr std::size_t kGapCount = sizeof(kGaps) / sizeof(kGaps[0]);
  const auto count = static_cast<std::size_t>(end - begin);
  for (std::size_t g = kGapCount; g-- > 0;) {
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
#else
  std::sort(begin, end);
#endif
}

// Afterwards `nth` is where it would be if all were sorted, none before it is greater.
template <class Iterator>
void place_nth(Iterator begin, Iterator nth, Iterator end) {
#if defined(__wasm__)
  (void)nth;
  sort_values(begin, end);
#else
  std::nth_element(begin, nth, end);
#endif
}

}  // namespace gossamer
