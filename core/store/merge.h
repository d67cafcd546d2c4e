#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/number_map.h"
#include "store/catalogue.h"

namespace gossamer {

// Codes of chunks by id, to take the place of those that segments have.
struct GivenCodes {
  NumberMap places;
  ByteView codes;
};

// Writes what is live of some segments of a state as one, with what they take away from the others.
// Blocks of text are taken over as they are, unless they are small or half of them is gone: those,
// or all (`packs_anew`), are packed again. Ids are raised by `id_shift`, for an index that comes to
// another one. The segments outlive what is written.
void merge_segments(const Catalogue& catalogue, std::span<const std::size_t> chosen,
                    CodeStamp stamp, const GivenCodes* given, bool packs_anew,
                    std::int64_t id_shift, SegmentImage& image);

// Which segments to write as one after a commit that made the last `fresh` of them: the newest,
// while the one before is not much larger than they are together, and those of which much is gone.
// None, or two at least unless much of one is gone.
std::vector<std::size_t> segments_to_merge(const Catalogue& catalogue, std::size_t fresh);

}  // namespace gossamer
