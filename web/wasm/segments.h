#pragma once

#include <memory>
#include <vector>

#include "exports.h"
#include "storage/container.h"
#include "store/segment_file.h"
#include "store/source_list.h"

namespace gossamer::wasm {

// A file of a segment, as far as it is here.
struct SegmentFile {
  Container sections;
  std::vector<Taken> taken;
};

// What packs and unpacks: the page has zstd without dictionaries, and packs nothing.
const Codecs& host_codecs();

// The segments of files, oldest first, which are taken over.
std::vector<std::shared_ptr<const Segment>> take_segments(SegmentFile** files,
                                                          const double* numbers, std::size_t count);

// Of each block: bytes of text, bytes as packed, their checksum, whether it is packed.
std::size_t give_blocks(std::span<const Block> blocks);

}  // namespace gossamer::wasm
