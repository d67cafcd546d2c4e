#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "storage/container.h"
#include "store/codec.h"
#include "store/table_pack.h"

namespace gossamer {

// What the host packs texts with: as Codec, with a dictionary that may be empty.
struct TextCodec {
  std::function<Bytes(ByteView text, ByteView dictionary)> pack;
  std::function<bool(ByteView packed, ByteView dictionary, std::span<std::uint8_t> text)> unpack;
  // What the host makes once of the text of a base, to pack and unpack many blocks with; without
  // it that text is given each time, as a dictionary.
  using Prepared = std::shared_ptr<void>;
  std::function<Prepared(ByteView base)> prepare = nullptr;
  std::function<Bytes(ByteView text, const Prepared& base)> pack_after = nullptr;
  std::function<bool(ByteView packed, const Prepared& base, std::span<std::uint8_t> text)>
      unpack_after = nullptr;
  // How much text is packed as a base for what follows; 0 to make none.
  std::size_t base_bytes = 0;
};

// The text of a block; of a base, with what the host made of it.
struct BlockText {
  Bytes bytes;
  TextCodec::Prepared base;
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
  std::size_t base;         // the same of the block that it is packed after, as if it went on there

  std::uint64_t end() const { return start + size; }
};

class BlockView;

// Makes the text of a segment: texts end to end, cut into blocks. The first is large, a base, and
// small ones after it refer to it, so that each is read with it alone; then comes another base.
class BlockWriter {
 public:
  BlockWriter(std::size_t block_bytes, const TextCodec& codec)
      : block_bytes_(block_bytes), codec_(codec) {}

  // Gives where the text begins. It may come in pieces: where the first begins is where all do.
  std::uint64_t add(ByteView text);
  // Takes a block of another segment over as it is, and gives where its text begins; kDamaged if
  // it is not as it was written. That segment outlives what is written.
  std::uint64_t copy(const BlockView& texts, const Block& block);
  // Whether it can be: its base must be the last one here, and there must be room for its
  // dictionary.
  bool can_copy(const BlockView& texts, const Block& block) const;
  // Appends the sections; call once.
  void finish(FileImage& image, const Codec& codec);

  std::uint64_t size() const { return size_; }
  std::size_t packed_bytes() const { return packed_bytes_; }
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  // Where the base is that blocks refer to now.
  struct Base {
    std::size_t row = 0;                    // one more than its number here; 0 while there is none
    const BlockView* from = nullptr;        // where it was taken over from, if it was
    std::size_t number = 0;                 // its number there
    std::uint64_t end = 0, bytes = 0;       // of its text
    std::shared_ptr<const BlockText> text;  // once it is needed
    TextCodec::Prepared prepared;           // likewise
  };

  // Packs what waits for as long as it fills blocks; all of it, if that is wanted, and without a
  // new base, if what comes next refers to the one that there is.
  void pack_waiting(bool all, bool may_begin = true);
  bool wants_base() const;
  void pack_base(ByteView text);
  void open_base();
  void pack_block(ByteView text);
  void put(std::size_t size, ByteView packed, std::size_t reference);
  void put_own(ByteView text, Bytes packed, std::size_t base);
  std::size_t row_count() const { return table_[0].size(); }
  std::size_t number_of(ByteView dictionary);
  std::vector<Bytes>::const_iterator find(ByteView dictionary) const;

  std::size_t block_bytes_;
  const TextCodec& codec_;
  std::vector<Bytes> dictionaries_;
  Base base_;
  Bytes waiting_;
  std::uint64_t size_ = 0;
  std::uint64_t text_end_ = 0;  // of what is packed
  std::size_t packed_bytes_ = 0;
  std::vector<ByteView> pieces_;
  std::shared_ptr<std::deque<Bytes>> owned_ = std::make_shared<std::deque<Bytes>>();
  std::vector<Ints> table_ = std::vector<Ints>(4);
};

// Where the blocks of a segment are, which may be a stranger's; none of a segment without texts.
std::vector<Block> read_blocks(const Container& file, Origin origin, const Codec& codec,
                               std::size_t dictionaries = 0);

// The text of a segment, whose bytes outlive it. A block is checked when it is read. Any number of
// threads may read.
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
  // The text of one of them, which is also what blocks after it are unpacked with. The base that
  // was needed last is kept here.
  Bytes unpack(const Block& block) const;
  std::shared_ptr<const BlockText> open(const Block& block) const;
  // The same with the text of its base, if it has one.
  std::shared_ptr<const BlockText> open(const Block& block, const BlockText* base) const;
  std::size_t number_of(const Block& block) const {
    return static_cast<std::size_t>(&block - blocks_.data());
  }
  // Whether others are packed after it.
  bool is_base(const Block& block) const { return is_base_[number_of(block)]; }
  // A part of the text, which may be large.
  Bytes read(std::uint64_t start, std::uint64_t end) const;

 private:
  const TextCodec& texts_;
  Checksum checksum_;
  ByteView packed_;  // of all blocks
  std::vector<Bytes> dictionaries_;
  std::vector<Block> blocks_;
  std::vector<bool> is_base_;
  mutable Mutex mutex_;
  mutable std::size_t last_base_ = 0;  // as in Block
  mutable std::shared_ptr<const BlockText> last_text_;
};

}  // namespace gossamer
