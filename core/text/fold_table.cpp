#include "text/fold_table.h"

namespace gossamer {

FoldTable::FoldTable(const std::uint8_t* steps, std::span<const std::uint8_t> sizes,
                     const std::uint8_t* folded)
    : entries_(kBlock), pool_{0} {
  NumberReader points(steps), results(folded);
  for (const std::uint8_t size : sizes) {
    const char32_t point = points.next();
    std::uint8_t& block = blocks_[point / kBlock];
    if (block == 0) {
      block = static_cast<std::uint8_t>(entries_.size() / kBlock);
      entries_.resize(entries_.size() + kBlock);
    }
    entries_[block * kBlock + point % kBlock] =
        static_cast<std::uint16_t>(pool_.size() << 2 | size);
    for (std::uint8_t i = 0; i < size; ++i) pool_.push_back(results.next());
  }
}

}  // namespace gossamer
