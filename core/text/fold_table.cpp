#include "text/fold_table.h"

#include <algorithm>

namespace gossamer {
namespace {

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

}  // namespace

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

Folded FoldTable::find(char32_t point) const {
  const std::uint16_t entry = point < unicode_tables::kFoldEnd
                                  ? entries_[blocks_[point / kBlock] * kBlock + point % kBlock]
                                  : std::uint16_t{0};
  if (entry == 0) return {{point}, 1};
  Folded folded{{}, entry & 3u};
  std::copy_n(pool_.data() + (entry >> 2), folded.size, folded.points.begin());
  return folded;
}

}  // namespace gossamer
