#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "storage/container.h"
#include "storage/ids.h"
#include "store/blocks.h"
#include "store/codec.h"
#include "store/gone.h"
#include "store/segment.h"

namespace gossamer {

// What packs a segment: its columns, and its texts.
struct Codecs {
  Codec columns;
  TextCodec texts;
};

// What the codes of chunks are: how long, and the fingerprint of the codebook that made them. None
// where codes are kept elsewhere.
struct CodeStamp {
  std::uint32_t bytes = 0;
  std::uint64_t codebook = 0;

  friend bool operator==(const CodeStamp&, const CodeStamp&) = default;
};

// A segment in the making: sources in the order of their names, their texts, and what is gone by
// it.
class SegmentImage {
 public:
  SegmentImage(CodeStamp stamp, std::size_t block_bytes, const Codecs& codecs)
      : stamp_(stamp),
        codecs_(codecs),
        sources_(codecs.columns),
        texts(block_bytes, codecs.texts) {}

  // `codes` are those of all its chunks, end to end.
  void add(const SourceRecord& source, ByteView codes);
  // Appends the sections; call once.
  void finish(FileImage& image);

  const Counts& counts() const { return sources_.counts(); }

 private:
  CodeStamp stamp_;
  const Codecs& codecs_;
  SegmentWriter sources_;
  std::vector<std::uint64_t> ids_;
  Bytes codes_;

 public:
  BlockWriter texts;
  GoneSources gone;
};

// The file of a segment, whose bytes outlive it. They may be a stranger's.
class Segment {
 public:
  Segment(std::uint64_t number, ByteView file, Origin origin, const Codecs& codecs);
  // The same of a file whose texts may be left unattached: none is read then.
  Segment(std::uint64_t number, Container file, Origin origin, const Codecs& codecs);
  // What a verified list holds, without texts and codes: its documents say where theirs are.
  explicit Segment(SourceList list);

  std::uint64_t number() const { return number_; }  // of its file
  ByteView bytes() const { return bytes_; }         // of a whole file
  Origin origin() const { return origin_; }
  const SegmentView& sources() const { return sources_; }
  const BlockView& texts() const { return texts_; }
  const GoneSources& gone() const { return gone_; }  // of other segments
  std::size_t chunk_count() const { return sources_.counts().chunks; }

  // Of chunks. A file without them has those that its documents say: that is so in a single file,
  // where ids and codes are the engine's.
  const IdMap& ids() const;
  // The row of a chunk by its id.
  std::optional<std::size_t> chunk_of(std::uint64_t id) const;
  const CodeStamp& stamp() const { return stamp_; }
  // The codes of all chunks, end to end, compared with their checksum once; none where codes are
  // kept elsewhere.
  ByteView codes() const;

  // Reads every part of it (kDamaged).
  void verify() const;

 private:
  std::vector<std::uint64_t> ids_of_documents() const;

  std::uint64_t number_;
  ByteView bytes_;
  Origin origin_;
  Container file_;
  SegmentView sources_;
  BlockView texts_;
  GoneSources gone_;
  CodeStamp stamp_;
  mutable Mutex mutex_;
  mutable std::optional<IdMap> ids_;
  mutable bool do_ids_rise_ = false;
  mutable bool has_lookup_ = false;  // of ids that do not rise
  mutable bool are_codes_verified_ = false;
};

}  // namespace gossamer
