#include "store/blocks.h"

#include <algorithm>

#include "base/crc32c.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostBlockBytes = 1 << 20;
constexpr std::size_t kMostDictionaries = 64;
// A dictionary pays once there is a megabyte of text; it is learnt from the first four.
constexpr std::size_t kLearnLeast = 1 << 20, kLearnMost = 1 << 22;

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

void BlockWriter::use_dictionary(Bytes dictionary) {
  if (size_ > 0) pack_waiting(1);
  has_begun_ = true;
  dictionary_ = number_of(dictionary);
}

void BlockWriter::begin() {
  has_begun_ = true;
  if (waiting_.size() < kLearnLeast || !codec_.learn) return;
  dictionary_ =
      number_of(codec_.learn(ByteView(waiting_).first(std::min(waiting_.size(), kLearnMost))));
}

std::uint64_t BlockWriter::add(ByteView text) {
  const std::uint64_t start = size_;
  waiting_.insert(waiting_.end(), text.begin(), text.end());
  size_ += text.size();
  if (has_begun_ || waiting_.size() >= kLearnMost) pack_waiting(block_bytes_);
  return start;
}

std::uint64_t BlockWriter::copy(const BlockView& texts, const Block& block) {
  const ByteView packed = texts.packed(block);
  pack_waiting(1);
  const std::uint64_t start = size_;
  put(block.size, packed, number_of(texts.dictionary_of(block)));
  size_ += block.size;
  return start;
}

void BlockWriter::finish(FileImage& image, const Codec& codec) {
  pack_waiting(1);
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

// Packs blocks for as long as at least so many bytes wait.
void BlockWriter::pack_waiting(std::size_t least) {
  if (!has_begun_) begin();
  std::size_t at = 0;
  while (waiting_.size() - at >= least) {
    const ByteView text =
        ByteView(waiting_).subspan(at, std::min(block_bytes_, waiting_.size() - at));
    const Bytes packed =
        codec_.pack(text, dictionary_ == 0 ? ByteView() : dictionaries_[dictionary_ - 1]);
    const bool is_smaller = !packed.empty() && packed.size() < text.size();
    put_copy(text.size(), is_smaller ? packed : Bytes(text.begin(), text.end()),
             is_smaller ? dictionary_ : 0);
    at += text.size();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
}

void BlockWriter::put(std::size_t size, ByteView packed, std::size_t dictionary) {
  std::size_t column = 0;
  for (const std::size_t value : {size, packed.size(), std::size_t{crc32c(packed)}, dictionary})
    table_[column++].push_back(static_cast<std::int64_t>(value));
  pieces_.push_back(packed);
  packed_bytes_ += packed.size();
}

void BlockWriter::put_copy(std::size_t size, Bytes packed, std::size_t dictionary) {
  owned_->push_back(std::move(packed));
  put(size, owned_->back(), dictionary);
}

bool BlockWriter::has_room_for(ByteView dictionary) const {
  return dictionary.empty() || dictionaries_.size() + 1 < kMostDictionaries ||
         find(dictionary) != dictionaries_.end();
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
    block.dictionary = number(BlockColumns::kDictionary, 0, dictionaries);
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
      blocks_(read_blocks(file, origin, codec, dictionaries_.size())) {}

BlockView::BlockView(std::vector<Block> blocks, ByteView packed, Bytes dictionary,
                     Checksum checksum, const TextCodec& texts)
    : texts_(texts), checksum_(checksum), packed_(packed), blocks_(std::move(blocks)) {
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

Bytes BlockView::unpack(const Block& block) const {
  const ByteView packed = this->packed(block);
  if (!block.is_packed) return {packed.begin(), packed.end()};
  Bytes text(block.size);
  expect(texts_.unpack(packed, dictionary_of(block), text), Reason::kDamaged,
         "a block of text does not unpack");
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
