#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "store/codec.h"
#include "store/table_pack.h"

namespace gossamer {

// The few texts that many rows share: roots, kinds, units, reasons. The first one is empty.
class Strings {
 public:
  Strings() : texts_(1) {}
  // Reads what pack() gave; kDamaged unless the first is empty and none is there twice.
  static Strings read(ByteView bytes, Origin origin, const Codec& codec,
                      std::uint64_t most = kMostOfMany);
  // Takes texts that are known to be sorted and distinct, the first one empty.
  static Strings of(std::vector<std::string> sorted);

  Bytes pack(const Codec& codec) const;

  std::size_t size() const { return texts_.size(); }
  const std::string& operator[](std::int64_t number) const {
    return texts_[static_cast<std::size_t>(number)];
  }
  // The number of a text, a new one if it is not there yet.
  std::int64_t number_of(std::string_view text);

 private:
  std::vector<std::string> texts_;
  // No hashes: texts of strangers may be made to have the same one.
  std::map<std::string, std::int64_t, std::less<>> numbers_;  // of the first ones, until asked for
};

}  // namespace gossamer
