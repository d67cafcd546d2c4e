#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "store/codec.h"
#include "store/table_pack.h"

namespace gossamer {

// A source of a segment that is gone, with the rows that it owned there.
struct GoneSource {
  std::size_t source;
  std::size_t first_document, documents;
  std::size_t first_chunk, chunks;

  friend auto operator<=>(const GoneSource&, const GoneSource&) = default;
};

// Which sources of older segments are gone by a newer one: replaced there, or removed. Segments are
// known by the numbers of their files.
class GoneSources {
 public:
  static GoneSources read(ByteView bytes, Origin origin, const Codec& codec);

  Bytes pack(const Codec& codec) const;

  void add(std::uint64_t segment, const GoneSource& source);
  // Takes those of another over, as far as they are of these segments.
  void add_all(const GoneSources& other, std::span<const std::uint64_t> of_segments);
  // Those of a segment, in the order of their numbers.
  std::vector<GoneSource> of(std::uint64_t segment) const;

  bool empty() const { return segments_.empty(); }

 private:
  std::map<std::uint64_t, std::map<std::size_t, GoneSource>> segments_;  // by number
};

}  // namespace gossamer
