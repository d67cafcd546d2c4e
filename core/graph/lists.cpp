#include "graph/lists.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "graph/bits.h"

namespace gossamer {

namespace {

std::uint8_t* put_varint(std::uint64_t value, std::uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 0x80);
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

std::uint16_t load_u16(const std::uint8_t* from) {
  std::uint16_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Makes room by eighths: a doubling array would hold up to half of its memory unused.
template <class T>
void reserve_for(std::vector<T>& values, std::size_t size) {
  if (size > values.capacity()) values.reserve(size + size / 8);
}

// The ends of the varints in up to 64 bytes at `from`, one bit a byte.
std::uint64_t ends_of_block(const std::uint8_t* from, std::size_t size) {
  std::uint64_t ends = 0;
  for (std::size_t at = 0; at < size; at += 8) ends |= varint_ends(load_u64(from + at)) << at;
  return ends & (~std::uint64_t{0} >> (64 - size));
}

}  // namespace

std::size_t encode_list(NodeId self, std::span<const NodeId> sorted, std::uint8_t* out) {
  if (sorted.empty()) return 0;
  std::uint8_t* end = put_varint(
      zigzag(static_cast<std::int64_t>(sorted[0]) - static_cast<std::int64_t>(self)), out);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    end = put_varint(sorted[i] - sorted[i - 1] - 1, end);
  return static_cast<std::size_t>(end - out);
}

PagedLists::PagedLists(std::size_t count, const Fill& fill) : size_(count) {
  const std::size_t page_count = (count + kPageSize - 1) / kPageSize;
  pages_.resize(page_count);
  lengths_.resize(page_count * kPageSize, 0);
  Bytes scratch(kPageSize * (kMaxListBytes + 2));
  for (std::size_t page = 0; page < page_count; ++page) fill_page(page, fill, scratch);
  if (!chunks_.empty()) chunks_.back().shrink_to_fit();
  chunks_.shrink_to_fit();
}

void PagedLists::append() {
  if (size_ % kPageSize == 0) {
    reserve_for(pages_, pages_.size() + 1);
    pages_.emplace_back();
    reserve_for(lengths_, lengths_.size() + kPageSize);
    lengths_.resize(lengths_.size() + kPageSize, 0);
  }
  ++size_;
}

void PagedLists::assign(std::size_t index, ByteView bytes) {
  const std::size_t page = index / kPageSize;
  const std::size_t before = bytes_before(page, index % kPageSize);
  const std::size_t total = bytes_before(page, kPageSize);
  const std::size_t old = stored_bytes(index, total == 0 ? nullptr : room_of(page) + before);
  const std::size_t fresh = bytes.size() + (bytes.size() >= kLong ? 2 : 0);
  const std::size_t wanted = total - old + fresh;
  if (wanted > pages_[page].room * kUnit) move_page(page, total, wanted + wanted / 8);
  if (wanted > 0) {
    std::uint8_t* const start = room_of(page) + before;
    std::memmove(start + fresh, start + old, total - before - old);
    std::uint8_t* const body = write_length(index, bytes.size(), start);
    if (!bytes.empty()) std::memcpy(body, bytes.data(), bytes.size());
  } else {
    write_length(index, 0, nullptr);
  }
  used_bytes_ = used_bytes_ - old + fresh;
  compact_beyond(3, std::size_t{1} << 16);
}

ByteView PagedLists::get(std::size_t index) const {
  const std::size_t page = index / kPageSize;
  const std::uint8_t length = lengths_[index];
  if (length == 0) return {};
  const std::uint8_t* const start = room_of(page) + bytes_before(page, index % kPageSize);
  if (length == kLong) return {start + 2, load_u16(start)};
  return {start, length};
}

std::size_t PagedLists::decode(std::size_t index, NodeId self, NodeId* out) const {
  const ByteView list = get(index);
  if (list.empty()) return 0;
  const std::uint8_t* from = list.data();
  const std::uint8_t* const end = from + list.size();
  const std::uint64_t word = load_u64(from);
  const unsigned first_bytes = static_cast<unsigned>(std::countr_zero(varint_ends(word))) + 1;
  NodeId id = self + static_cast<NodeId>(unzigzag(join_varint(word, first_bytes)));
  NodeId* next = out;
  *next++ = id;
  from += first_bytes;
  // Finding all ends at once leaves no branch to mispredict on the length of a varint.
  while (from < end) {
    const std::uint8_t* const block = from;
    const auto left = static_cast<std::size_t>(end - from);
    std::uint64_t ends = ends_of_block(block, std::min<std::size_t>(left, 64));
    for (; ends != 0; ends &= ends - 1) {
      const std::uint8_t* const after = block + std::countr_zero(ends) + 1;
      id += static_cast<NodeId>(join_varint(load_u64(from), static_cast<unsigned>(after - from)));
      from = after;
      *next++ = ++id;
    }
  }
  return static_cast<std::size_t>(next - out);
}

std::size_t PagedLists::length(std::size_t index) const {
  const ByteView list = get(index);
  return static_cast<std::size_t>(
      std::count_if(list.begin(), list.end(), [](std::uint8_t byte) { return byte < 0x80; }));
}

void PagedLists::prefetch(std::size_t index) const {
  if (lengths_[index] == 0) return;
  const std::size_t page = index / kPageSize;
  __builtin_prefetch(room_of(page) + bytes_before(page, index % kPageSize));
}

void PagedLists::compact() {
  PagedLists packed(size_, [this](std::size_t index, std::uint8_t* out) {
    const ByteView bytes = get(index);
    std::copy(bytes.begin(), bytes.end(), out);
    return bytes.size();
  });
  *this = std::move(packed);
}

void PagedLists::settle() { compact_beyond(16, 0); }

void PagedLists::compact_beyond(std::size_t share, std::size_t least) {
  // Rounding rooms up is no reason to pack again, since packing would not save it.
  const std::size_t rounding = kUnit * pages_.size() * (least > 0 ? 2 : 1);
  const std::size_t waste = arena_bytes() - used_bytes_;
  if (waste > used_bytes_ / share + rounding + least) compact();
}

std::size_t PagedLists::memory_bytes() const {
  std::size_t total =
      lengths_.capacity() + pages_.capacity() * sizeof(Page) + chunks_.capacity() * sizeof(Bytes);
  for (const Bytes& chunk : chunks_) total += chunk.capacity();
  for (const auto& [units, offsets] : free_)
    total += sizeof(units) + sizeof(offsets) + offsets.capacity() * sizeof(std::uint32_t);
  return total;
}

const std::uint8_t* PagedLists::room_of(std::size_t page) const {
  const std::uint32_t offset = pages_[page].offset;
  return chunks_[offset / kChunkUnits].data() + (offset % kChunkUnits) * kUnit;
}

std::uint8_t* PagedLists::room_of(std::size_t page) {
  return const_cast<std::uint8_t*>(std::as_const(*this).room_of(page));
}

std::size_t PagedLists::bytes_before(std::size_t page, std::size_t count) const {
  const std::size_t first = page * kPageSize;
  if (pages_[page].long_count == 0)
    return sum_of_bytes(lengths_.data() + first, static_cast<unsigned>(count));
  const std::uint8_t* const start = room_of(page);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += stored_bytes(first + i, start + bytes);
  return bytes;
}

std::size_t PagedLists::stored_bytes(std::size_t index, const std::uint8_t* from) const {
  return lengths_[index] == kLong ? load_u16(from) + std::size_t{2} : lengths_[index];
}

// Gives where the string itself starts.
std::uint8_t* PagedLists::write_length(std::size_t index, std::size_t size, std::uint8_t* start) {
  Page& page = pages_[index / kPageSize];
  if (lengths_[index] == kLong) --page.long_count;
  lengths_[index] = static_cast<std::uint8_t>(std::min<std::size_t>(size, kLong));
  if (size < kLong) return start;
  ++page.long_count;
  const auto stored = static_cast<std::uint16_t>(size);
  std::memcpy(start, &stored, sizeof(stored));
  return start + sizeof(stored);
}

void PagedLists::fill_page(std::size_t page, const Fill& fill, Bytes& scratch) {
  const std::size_t first = page * kPageSize;
  const std::size_t end = std::min(size_, first + kPageSize);
  std::uint8_t* next = scratch.data();
  for (std::size_t index = first; index < end; ++index) {
    const std::size_t size = fill(index, next);
    if (size >= kLong) std::memmove(next + 2, next, size);
    next = write_length(index, size, next) + size;
  }
  const auto used = static_cast<std::size_t>(next - scratch.data());
  if (used == 0) return;
  move_page(page, 0, used);
  std::memcpy(room_of(page), scratch.data(), used);
  used_bytes_ += used;
}

void PagedLists::move_page(std::size_t page, std::size_t used, std::size_t wanted) {
  const Page old = pages_[page];
  const Room room = allocate((wanted + kUnit - 1) / kUnit);
  const std::uint8_t* const source = used == 0 ? nullptr : room_of(page);
  pages_[page].offset = room.offset;
  pages_[page].room = room.units;
  if (used > 0) std::memcpy(room_of(page), source, used);
  if (old.room > 0) free_[old.room].push_back(old.offset);
}

PagedLists::Room PagedLists::allocate(std::size_t units) {
  const auto found = free_.lower_bound(static_cast<std::uint16_t>(units));
  if (found != free_.end() && found->first <= units + units / 4) {
    const Room room{found->second.back(), found->first};
    found->second.pop_back();
    if (found->second.empty()) free_.erase(found);
    return room;
  }
  const std::size_t bytes = units * kUnit;
  if (chunks_.empty() || chunks_.back().size() + bytes > kChunkUnits * kUnit + kPadding) {
    if (chunks_.size() == kMaxChunks)
      fail(Reason::kTooLarge,
           "the neighbor lists of one layer take more than 32 GiB; "
           "split the index into shards");
    chunks_.emplace_back(kPadding);
  }
  Bytes& chunk = chunks_.back();
  const std::size_t start = chunk.size() - kPadding;
  const std::size_t full = kChunkUnits * kUnit + kPadding;
  if (chunk.size() + bytes > chunk.capacity())
    chunk.reserve(std::min(full, chunk.size() + chunk.size() / 4 + bytes));
  chunk.resize(chunk.size() + bytes);
  return {static_cast<std::uint32_t>((chunks_.size() - 1) * kChunkUnits + start / kUnit),
          static_cast<std::uint16_t>(units)};
}

std::size_t PagedLists::arena_bytes() const {
  if (chunks_.empty()) return 0;
  return (chunks_.size() - 1) * kChunkUnits * kUnit + chunks_.back().size() - kPadding;
}

}  // namespace gossamer
