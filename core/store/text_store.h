#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "store/blocks.h"

namespace gossamer {

// The texts of several files, by their numbers. Blocks that were read last are kept, and the bases
// that they needed. Any number of threads may read.
class TextStore {
 public:
  void add(std::uint64_t number, std::shared_ptr<const BlockView> texts);
  // Bytes of text of each.
  std::map<std::uint64_t, std::uint64_t> sizes() const;
  // A part of a text; kDamaged if it is not there.
  Bytes read(std::uint64_t number, std::uint64_t start, std::uint64_t end) const;

 private:
  using Unpacked = std::shared_ptr<const BlockText>;
  const BlockView& texts_of(std::uint64_t number, std::uint64_t start, std::uint64_t end) const;
  Unpacked unpack(std::uint64_t number, const BlockView& texts, const Block& block) const;

  struct Kept {
    std::uint64_t number, start;
    Unpacked text;

    std::size_t bytes() const { return text->bytes.size() * (text->base ? 2 : 1); }
  };
  Unpacked find(std::uint64_t number, std::uint64_t start) const;
  void keep(Kept kept) const;

  std::map<std::uint64_t, std::shared_ptr<const BlockView>> texts_;
  mutable Mutex mutex_;
  mutable std::deque<Kept> kept_;  // used last at the end
  mutable std::size_t kept_bytes_ = 0;
};

}  // namespace gossamer
