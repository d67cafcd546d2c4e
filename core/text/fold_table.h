#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "text/unicode.h"
#include "text/unicode_tables.h"

namespace gossamer {

// Numbers as they are written in the tables: by their distance from the one before.
class NumberReader {
 public:
  explicit NumberReader(const std::uint8_t* bytes) : at_(bytes) {}

  char32_t next() {
    std::uint32_t step = 0;
    for (unsigned shift = 0;; shift += 7) {
      step |= (*at_ & 127u) << shift;
      if ((*at_++ & 128) == 0) break;
    }
    return last_ += (step & 1) != 0 ? ~(step >> 1) : step >> 1;
  }

 private:
  const std::uint8_t* at_;
  char32_t last_ = 0;
};

// What characters fold to. Written as differences it takes a third of the bytes in a page, so it is
// laid out when it is first asked for.
class FoldTable {
 public:
  // The characters, how many each folds to, and these.
  FoldTable(const std::uint8_t* steps, std::span<const std::uint8_t> sizes,
            const std::uint8_t* folded);

  Folded find(char32_t point) const {
    const std::uint16_t entry = point < unicode_tables::kFoldEnd
                                    ? entries_[blocks_[point / kBlock] * kBlock + point % kBlock]
                                    : std::uint16_t{0};
    if (entry == 0) return {{point}, 1};
    Folded folded{{}, entry & 3u};
    std::copy_n(pool_.data() + (entry >> 2), folded.size, folded.points.begin());
    return folded;
  }

 private:
  static constexpr char32_t kBlock = 32;
  // 0 for those of none.
  std::array<std::uint8_t, (unicode_tables::kFoldEnd + kBlock - 1) / kBlock> blocks_{};
  std::vector<std::uint16_t> entries_;  // place in the pool and, in two bits, how many
  std::vector<char32_t> pool_;
};

}  // namespace gossamer
