#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "text/unicode.h"
#include "text/unicode_tables.h"

namespace gossamer {

// What characters fold to. Written as differences it takes a third of the bytes in a page, so it is
// laid out when it is first asked for.
class FoldTable {
 public:
  // The characters, how many each folds to, and these.
  FoldTable(const std::uint8_t* steps, std::span<const std::uint8_t> sizes,
            const std::uint8_t* folded);

  // The character itself where the table has nothing.
  Folded find(char32_t point) const;

 private:
  static constexpr char32_t kBlock = 32;
  // 0 for those of none.
  std::array<std::uint8_t, (unicode_tables::kFoldEnd + kBlock - 1) / kBlock> blocks_{};
  std::vector<std::uint16_t> entries_;  // place in the pool and, in two bits, how many
  std::vector<char32_t> pool_;
};

}  // namespace gossamer
