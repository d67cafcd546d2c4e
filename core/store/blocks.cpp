#include "store/blocks.h"

#include <algorithm>

#include "base/crc32c.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostBlockBytes = 1 << 23;
constexpr std::size_t kMostDictionaries = 64;
// Fewer bytes are no base: others would gain little by them.
constexpr std::size_t kLeastBase = 1 << 18;
// So many times its own text is packed with a base, itself included; then comes the next.
constexpr std::size_t kTextOfBase = 4;

constexpr const char* kDamagedBlock =
    "a block of text is damaged; take the index from a backup, or remove what it holds and add it "
    "again";

struct BlockColumns {
  enum : std::size_t { kSize, kPacked, kChecksum, kDictionary };
};

const Schema& blocks_schema() {
  static const Schema schema{
      {{"size"}, {"packed"}, {"checksum", TableColumn::Form::kHash4}, {"dictionary"}}, {}};
  return schema;
}

const Schema& dictionaries_schema() {
  static const Schema bytes{{}, {}, true, 1};
  static const Schema schema{{}, {{"dictionary", &bytes}}};
  return schema;
}

std::vector<Bytes> read_dictionaries(const Container& file, Origin origin, const Codec& codec) {
  std::vector<Bytes> dictionaries;
  if (!file.has(SectionKind::kDictionaries)) return dictionaries;
  const Table table =
      unpack_table(file.verified(SectionKind::kDictionaries), dictionaries_schema(), origin, codec);
  expect(table.size() <= kMostDictionaries, Reason::kDamaged,
         "a segment has more dictionaries than can be");
  const Ints starts = table.starts(0);
  const Bytes& content = table.children[0].content;
  for (std::size_t row = 0; row < table.size(); ++row)
    dictionaries.emplace_back(content.begin() + starts[row], content.begin() + starts[row + 1]);
  return dictionaries;
}

}  // namespace

std::uint64_t BlockWriter::add(ByteView text) {
  const std::uint64_t start = size_;
  waiting_.insert(waiting_.end(), text.begin(), text.end());
  size_ += text.size();
  pack_waiting(false);
  return start;
}

bool BlockWriter::can_copy(const BlockView& texts, const Block& block) const {
  if (block.base > 0) return base_.from == &texts && base_.number + 1 == block.base;
  const ByteView dictionary = texts.dictionary_of(block);
  return dictionary.empty() || dictionaries_.size() < kMostDictionaries ||
         find(dictionary) != dictionaries_.end();
}

std::uint64_t BlockWriter::copy(const BlockView& texts, const Block& block) {
  const ByteView packed = texts.packed(block);
  pack_waiting(true, block.base == 0);
  expect(can_copy(texts, block), Reason::kTooLarge,
         "a block of text has no base here, or a dictionary too many; pack it anew");
  const std::uint64_t start = size_;
  size_ += block.size;
  if (texts.is_base(block) || (block.base == 0 && block.size >= kLeastBase))
    base_ = {row_count() + 1, &texts, texts.number_of(block), size_, block.size, nullptr, nullptr};
  const std::size_t dictionary = number_of(texts.dictionary_of(block));
  put(block.size, packed, block.base > 0 ? kMostDictionaries + base_.row : dictionary);
  return start;
}

void BlockWriter::finish(FileImage& image, const Codec& codec) {
  pack_waiting(true);
  if (table_[0].empty()) return;
  Table blocks(blocks_schema());
  blocks.columns = table_;
  Table dictionaries(dictionaries_schema());
  for (const Bytes& one : dictionaries_) {
    dictionaries.columns[0].push_back(static_cast<std::int64_t>(one.size()));
    Bytes& content = dictionaries.children[0].content;
    content.insert(content.end(), one.begin(), one.end());
  }
  if (!dictionaries_.empty())
    image.add(SectionKind::kDictionaries, pack_table(dictionaries, codec));
  image.add(SectionKind::kBlockDirectory, pack_table(blocks, codec));
  image.add_pieces(SectionKind::kBlocks, std::move(pieces_), owned_);
}

void BlockWriter::pack_waiting(bool all, bool may_begin) {
  std::size_t at = 0;
  while (at < waiting_.size()) {
    const ByteView left = ByteView(waiting_).subspan(at);
    std::size_t size = block_bytes_, least = block_bytes_;
    const bool is_base = may_begin && wants_base() && (!all || left.size() >= base_.bytes);
    if (is_base) size = least = codec_.base_bytes;
    if (!all && left.size() < least) break;
    size = std::min(size, left.size());
    is_base ? pack_base(left.first(size)) : pack_block(left.first(size));
    at += size;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
}

// Whether there is none yet, or the last one lies far behind.
bool BlockWriter::wants_base() const {
  return codec_.base_bytes > 0 && text_end_ - base_.end >= (kTextOfBase - 1) * base_.bytes;
}

void BlockWriter::pack_base(ByteView text) {
  put_own(text, codec_.pack(text, {}), 0);
  if (text.size() < kLeastBase) return;
  auto kept = std::make_shared<BlockText>();
  kept->bytes.assign(text.begin(), text.end());
  base_ = {row_count(), nullptr, 0, text_end_, text.size(), std::move(kept), nullptr};
}

void BlockWriter::open_base() {
  if (!base_.text) base_.text = base_.from->open(base_.from->blocks()[base_.number]);
  if (!base_.prepared && codec_.prepare) base_.prepared = codec_.prepare(base_.text->bytes);
}

void BlockWriter::pack_block(ByteView text) {
  if (codec_.base_bytes == 0 || base_.row == 0) return put_own(text, codec_.pack(text, {}), 0);
  open_base();
  put_own(text,
          base_.prepared ? codec_.pack_after(text, base_.prepared)
                         : codec_.pack(text, base_.text->bytes),
          base_.row);
}

// Puts what was packed here, unless the text itself is no larger.
void BlockWriter::put_own(ByteView text, Bytes packed, std::size_t base) {
  const bool is_smaller = !packed.empty() && packed.size() < text.size();
  owned_->push_back(is_smaller ? std::move(packed) : Bytes(text.begin(), text.end()));
  put(text.size(), owned_->back(), is_smaller && base > 0 ? kMostDictionaries + base : 0);
}

void BlockWriter::put(std::size_t size, ByteView packed, std::size_t reference) {
  std::size_t column = 0;
  for (const std::size_t value : {size, packed.size(), std::size_t{crc32c(packed)}, reference})
    table_[column++].push_back(static_cast<std::int64_t>(value));
  pieces_.push_back(packed);
  packed_bytes_ += packed.size();
  text_end_ += size;
}

std::vector<Bytes>::const_iterator BlockWriter::find(ByteView dictionary) const {
  return std::find_if(dictionaries_.begin(), dictionaries_.end(), [&](const Bytes& one) {
    return std::equal(one.begin(), one.end(), dictionary.begin(), dictionary.end());
  });
}

std::size_t BlockWriter::number_of(ByteView dictionary) {
  if (dictionary.empty()) return 0;
  const auto known = find(dictionary);
  if (known != dictionaries_.end())
    return static_cast<std::size_t>(known - dictionaries_.begin()) + 1;
  expect(dictionaries_.size() < kMostDictionaries, Reason::kTooLarge,
         "a segment has too many dictionaries; pack its texts anew");
  dictionaries_.emplace_back(dictionary.begin(), dictionary.end());
  return dictionaries_.size();
}

std::vector<Block> read_blocks(const Container& file, Origin origin, const Codec& codec,
                               std::size_t dictionaries) {
  std::vector<Block> blocks;
  if (!file.has(SectionKind::kBlockDirectory)) return blocks;
  const Table table =
      unpack_table(file.verified(SectionKind::kBlockDirectory), blocks_schema(), origin, codec);
  std::uint64_t start = 0, at = 0;
  std::size_t last_base = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto number = [&](std::size_t column, std::size_t least, std::size_t most) {
      const std::int64_t value = table.columns[column][row];
      expect(value >= static_cast<std::int64_t>(least) && value <= static_cast<std::int64_t>(most),
             Reason::kDamaged, "a block of text has a number that cannot be");
      return static_cast<std::size_t>(value);
    };
    Block block;
    block.start = start;
    block.size = number(BlockColumns::kSize, 1, kMostBlockBytes);
    block.at = at;
    block.packed_size = number(BlockColumns::kPacked, 1, block.size);
    block.is_packed = block.packed_size < block.size;
    block.checksum = static_cast<std::uint32_t>(table.columns[BlockColumns::kChecksum][row]);
    const std::size_t reference = number(BlockColumns::kDictionary, 0, kMostDictionaries + row);
    block.base = reference > kMostDictionaries ? reference - kMostDictionaries : 0;
    block.dictionary = block.base > 0 ? 0 : reference;
    expect(block.dictionary <= dictionaries, Reason::kDamaged,
           "a block of text has a dictionary that is not there");
    // None is read for another base than the block before: each is unpacked once for all of them.
    if (block.base > 0) {
      const Block& other = blocks[block.base - 1];
      expect(block.base >= last_base && other.base == 0 && other.size >= kLeastBase,
             Reason::kDamaged, "a block of text has a base that cannot be");
      last_base = block.base;
    }
    start += block.size;
    at += block.packed_size;
    blocks.push_back(block);
  }
  expect(at == file.length_of(SectionKind::kBlocks), Reason::kDamaged,
         "the blocks of a segment do not fit its texts");
  return blocks;
}

BlockView::BlockView(const Container& file, Origin origin, const Codec& codec,
                     const TextCodec& texts)
    : texts_(texts),
      checksum_([](ByteView bytes) { return crc32c(bytes); }),
      // Blocks have checksums of their own: not all of them are read.
      packed_(file.bytes(SectionKind::kBlocks)),
      dictionaries_(read_dictionaries(file, origin, codec)),
      blocks_(read_blocks(file, origin, codec, dictionaries_.size())),
      is_base_(blocks_.size()) {
  for (const Block& block : blocks_)
    if (block.base > 0) is_base_[block.base - 1] = true;
}

BlockView::BlockView(std::vector<Block> blocks, ByteView packed, Bytes dictionary,
                     Checksum checksum, const TextCodec& texts)
    : texts_(texts),
      checksum_(checksum),
      packed_(packed),
      blocks_(std::move(blocks)),
      is_base_(blocks_.size()) {
  if (!dictionary.empty()) dictionaries_.push_back(std::move(dictionary));
}

ByteView BlockView::packed(const Block& block) const {
  expect(block.at + block.packed_size <= packed_.size(), Reason::kInvalidArgument,
         "the texts of a segment are not at hand");
  const ByteView packed = packed_.subspan(static_cast<std::size_t>(block.at), block.packed_size);
  expect(checksum_(packed) == block.checksum, Reason::kDamaged, kDamagedBlock);
  return packed;
}

ByteView BlockView::dictionary_of(const Block& block) const {
  return block.dictionary == 0 ? ByteView() : ByteView(dictionaries_[block.dictionary - 1]);
}

std::span<const Block> BlockView::blocks_between(std::uint64_t start, std::uint64_t end) const {
  expect(start <= end && end <= size(), Reason::kDamaged,
         "a document has its text where the segment has none");
  if (start == end) return {};
  const auto first = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [&](const Block& block) { return block.end() <= start; });
  const auto last = std::partition_point(first, blocks_.end(),
                                         [&](const Block& block) { return block.start < end; });
  return {first, last};
}

Bytes BlockView::unpack(const Block& block) const { return open(block)->bytes; }

std::shared_ptr<const BlockText> BlockView::open(const Block& block) const {
  if (block.base == 0) return open(block, nullptr);
  std::shared_ptr<const BlockText> base;
  {
    const std::lock_guard lock(mutex_);
    if (last_base_ == block.base) base = last_text_;
  }
  if (!base) {
    base = open(blocks_[block.base - 1], nullptr);
    std::shared_ptr<const BlockText> before = base;  // the host may not be called with the lock
    const std::lock_guard lock(mutex_);
    last_base_ = block.base;
    last_text_.swap(before);
  }
  return open(block, base.get());
}

std::shared_ptr<const BlockText> BlockView::open(const Block& block, const BlockText* base) const {
  const ByteView packed = this->packed(block);
  auto text = std::make_shared<BlockText>();
  if (block.is_packed) {
    text->bytes.resize(block.size);
    const bool fits =
        base && base->base
            ? texts_.unpack_after(packed, base->base, text->bytes)
            : texts_.unpack(packed, base ? base->bytes : dictionary_of(block), text->bytes);
    expect(fits, Reason::kDamaged, "a block of text does not unpack");
  } else {
    text->bytes.assign(packed.begin(), packed.end());
  }
  if (is_base(block) && texts_.prepare) text->base = texts_.prepare(text->bytes);
  return text;
}

Bytes BlockView::read(std::uint64_t start, std::uint64_t end) const {
  Bytes text;
  for (const Block& block : blocks_between(start, end)) {
    const Bytes piece = unpack(block);
    const std::uint64_t from = start > block.start ? start - block.start : 0;
    const std::uint64_t to = std::min(end, block.end()) - block.start;
    text.insert(text.end(), piece.begin() + static_cast<std::ptrdiff_t>(from),
                piece.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return text;
}

}  // namespace gossamer
