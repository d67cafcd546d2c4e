#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "storage/container.h"
#include "store/codec.h"
#include "store/table_pack.h"

namespace gossamer {

// What the host packs texts with: as Codec, with a dictionary that may be empty.
struct TextCodec {
  std::function<Bytes(ByteView text, ByteView dictionary)> pack;
  std::function<bool(ByteView packed, ByteView dictionary, std::span<std::uint8_t> text)> unpack;
  // A dictionary for texts that begin like this one; nothing where it would not pay.
  std::function<Bytes(ByteView text)> learn;
};

// One piece of the text of a segment, packed alone.
struct Block {
  std::uint64_t start;      // in the text
  std::size_t size;         // of its text
  std::uint64_t at;         // among what is packed
  std::size_t packed_size;  // the same as its size if it would not become smaller
  bool is_packed;           // else it stands there as it is
  std::uint32_t checksum;   // of what is packed
  std::size_t dictionary;   // 0 for none, else one more than its number

  std::uint64_t end() const { return start + size; }
};

class BlockView;

// Makes the text of a segment: texts end to end, cut into blocks.
class BlockWriter {
 public:
  BlockWriter(std::size_t block_bytes, const TextCodec& codec)
      : block_bytes_(block_bytes), codec_(codec) {}

  // Texts from now on are packed with it. Without, one is learnt from the first texts.
  void use_dictionary(Bytes dictionary);
  // Gives where the text begins. It may come in pieces: where the first begins is where all do.
  std::uint64_t add(ByteView text);
  // Takes a block of another segment over as it is, and gives where its text begins; kDamaged if
  // it is not as it was written. Its bytes outlive what is written.
  std::uint64_t copy(const BlockView& texts, const Block& block);
  // Appends the sections; call once.
  void finish(FileImage& image, const Codec& codec);

  std::uint64_t size() const { return size_; }
  std::size_t packed_bytes() const { return packed_bytes_; }
  // Whether blocks of this dictionary can be copied: there may be no room for one more.
  bool has_room_for(ByteView dictionary) const;
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  void begin();
  void pack_waiting(std::size_t least);
  void put(std::size_t size, ByteView packed, std::size_t dictionary);
  // The same of bytes that do not stay.
  void put_copy(std::size_t size, Bytes packed, std::size_t dictionary);
  std::size_t number_of(ByteView dictionary);
  std::vector<Bytes>::const_iterator find(ByteView dictionary) const;

  std::size_t block_bytes_;
  const TextCodec& codec_;
  std::vector<Bytes> dictionaries_;
  std::size_t dictionary_ = 0;  // as in Block
  bool has_begun_ = false;      // whether there is a dictionary, or none is wanted
  Bytes waiting_;
  std::uint64_t size_ = 0;
  std::size_t packed_bytes_ = 0;
  std::vector<ByteView> pieces_;
  std::shared_ptr<std::deque<Bytes>> owned_ = std::make_shared<std::deque<Bytes>>();
  std::vector<Ints> table_ = std::vector<Ints>(4);
};

// Where the blocks of a segment are, which may be a stranger's; none of a segment without texts.
std::vector<Block> read_blocks(const Container& file, Origin origin, const Codec& codec,
                               std::size_t dictionaries = 0);

// The text of a segment, whose bytes outlive it. A block is checked when it is read.
class BlockView {
 public:
  // Where the bytes of blocks are not attached, it is known where each is, and none can be read.
  BlockView(const Container& file, Origin origin, const Codec& codec, const TextCodec& texts);
  // The same of blocks that are known already, whose checksums another function gives.
  using Checksum = std::uint32_t (*)(ByteView);
  BlockView(std::vector<Block> blocks, ByteView packed, Bytes dictionary, Checksum checksum,
            const TextCodec& texts);

  std::uint64_t size() const { return blocks_.empty() ? 0 : blocks_.back().end(); }
  std::span<const Block> blocks() const { return blocks_; }
  ByteView dictionary_of(const Block& block) const;
  // What is packed of a block, compared with its checksum (kDamaged).
  ByteView packed(const Block& block) const;
  // The blocks that hold a part of the text; kDamaged if there is no such part.
  std::span<const Block> blocks_between(std::uint64_t start, std::uint64_t end) const;
  // The text of one of them.
  Bytes unpack(const Block& block) const;
  // A part of the text, which may be large.
  Bytes read(std::uint64_t start, std::uint64_t end) const;

 private:
  const TextCodec& texts_;
  Checksum checksum_;
  ByteView packed_;  // of all blocks
  std::vector<Bytes> dictionaries_;
  std::vector<Block> blocks_;
};

}  // namespace gossamer
