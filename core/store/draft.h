#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/number_map.h"
#include "store/catalogue.h"
#include "store/segment_file.h"

namespace gossamer {

// What a commit adds, before it is a segment: sources in any order, codes as they are made.
class SegmentDraft {
 public:
  SegmentDraft(CodeStamp stamp, std::size_t block_bytes, const Codecs& codecs)
      : stamp_(stamp), image_(stamp, block_bytes, codecs) {}

  // Where texts go, and what is gone.
  BlockWriter& texts() { return image_.texts; }
  GoneSources& gone() { return image_.gone; }
  // kDuplicateId if there is one of the same name.
  void add(SourceRecord source);
  // The same of one that an index has, with texts and codes, read at another time.
  void add_again(const Catalogue& catalogue, std::size_t row, std::int64_t time_ns,
                 std::int64_t reader_version);
  void add_codes(std::span<const std::uint64_t> ids, ByteView codes);
  bool has(const SourceName& name) const { return sources_.contains(name); }

  std::size_t chunk_count() const { return chunks_; }
  bool empty() const { return sources_.empty() && image_.gone.empty(); }

  // Appends the sections; call once. kInvalidArgument if a chunk has no code.
  void finish(FileImage& image);

 private:
  CodeStamp stamp_;
  SegmentImage image_;
  std::map<SourceName, SourceRecord> sources_;
  NumberMap code_of_;  // by id
  Bytes codes_;
  std::size_t chunks_ = 0;
};

}  // namespace gossamer
