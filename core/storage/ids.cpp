#include "storage/ids.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "base/error.h"

namespace gossamer {

namespace {

constexpr std::uint64_t kNarrow = std::numeric_limits<std::uint32_t>::max();

std::uint64_t read_bits(ByteView bytes, std::size_t bit, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned done = 0; done < width;) {
    const std::size_t at = (bit + done) / 8;
    const unsigned shift = static_cast<unsigned>((bit + done) % 8);
    const unsigned take = std::min(8 - shift, width - done);
    const std::uint64_t part = (static_cast<unsigned>(bytes[at]) >> shift) & ((1u << take) - 1);
    value |= part << done;
    done += take;
  }
  return value;
}

void write_bits(Bytes& bytes, std::size_t bit, unsigned width, std::uint64_t value) {
  for (unsigned done = 0; done < width;) {
    const std::size_t at = (bit + done) / 8;
    const unsigned shift = static_cast<unsigned>((bit + done) % 8);
    const unsigned take = std::min(8 - shift, width - done);
    const auto part = static_cast<unsigned>((value >> done) & ((1u << take) - 1));
    bytes[at] = static_cast<std::uint8_t>(bytes[at] | (part << shift));
    done += take;
  }
}

[[noreturn]] void fail_duplicate(std::uint64_t id) {
  fail(Reason::kDuplicateId, "id " + std::to_string(id) + " is given to two vectors");
}

}  // namespace

IdMap IdMap::identity(std::size_t count) {
  IdMap ids;
  ids.size_ = count;
  return ids;
}

IdMap::IdMap(std::span<const std::uint64_t> ids) {
  bool is_identity = true;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    is_identity = is_identity && ids[i] == i;
    largest = std::max(largest, ids[i]);
  }
  expect(largest <= kMaxId, Reason::kInvalidArgument, "ids must lie between 0 and 2^63 - 1");
  size_ = ids.size();
  if (is_identity) return;
  if (largest <= kNarrow) {
    narrow_.assign(ids.begin(), ids.end());
  } else {
    wide_.assign(ids.begin(), ids.end());
  }
}

std::optional<NodeId> IdMap::find(std::uint64_t id) const {
  if (is_identity()) {
    return id < size_ ? std::optional(static_cast<NodeId>(id)) : std::nullopt;
  }
  const auto found = node_of_.find(id);
  return found == node_of_.end() ? std::nullopt : std::optional(found->second);
}

void IdMap::check_unique() const {
  std::vector<std::uint64_t> sorted(narrow_.begin(), narrow_.end());
  sorted.insert(sorted.end(), wide_.begin(), wide_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail_duplicate(*twice);
}

void IdMap::set(NodeId node, std::uint64_t id) {
  if (is_identity()) {
    if (id == node) {
      size_ = std::max<std::size_t>(size_, node + std::size_t{1});
      return;
    }
    spell_out();
  }
  store(node, id);
  if (has_lookup_) node_of_[id] = node;
}

void IdMap::release(NodeId node) {
  if (!is_identity() && has_lookup_) node_of_.erase(id(node));
}

void IdMap::prepare_lookup(const Bitmap& deleted) {
  if (has_lookup_ || is_identity()) return;
  node_of_.clear();
  node_of_.reserve(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    const auto node = static_cast<NodeId>(i);
    if (deleted.contains(node)) continue;
    if (!node_of_.emplace(id(node), node).second) {
      const std::uint64_t twice = id(node);
      node_of_.clear();
      fail_duplicate(twice);
    }
  }
  has_lookup_ = true;
}

void IdMap::store(NodeId node, std::uint64_t id) {
  if (wide_.empty() && id > kNarrow) {
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_.clear();
  }
  size_ = std::max<std::size_t>(size_, node + std::size_t{1});
  if (wide_.empty()) {
    narrow_.resize(size_);
    narrow_[node] = static_cast<std::uint32_t>(id);
  } else {
    wide_.resize(size_);
    wide_[node] = id;
  }
}

void IdMap::spell_out() {
  narrow_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) narrow_[i] = static_cast<std::uint32_t>(i);
  has_lookup_ = false;
}

std::size_t IdMap::memory_bytes() const {
  constexpr std::size_t kMapEntry = 40;  // key, value, next pointer, allocation, bucket
  return narrow_.size() * 4 + wide_.size() * 8 + node_of_.size() * kMapEntry;
}

Bytes IdMap::to_bytes() const {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < size_; ++i) largest = std::max(largest, id(static_cast<NodeId>(i)));
  const auto width = static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(largest))));
  Bytes bytes(1 + (size_ * width + 7) / 8, 0);
  bytes[0] = static_cast<std::uint8_t>(width);
  for (std::size_t i = 0; i < size_; ++i) {
    write_bits(bytes, 8 + i * width, width, id(static_cast<NodeId>(i)));
  }
  return bytes;
}

IdMap IdMap::from_bytes(ByteView bytes, std::size_t count) {
  expect(!bytes.empty(), Reason::kTruncated, "ids: the section is empty");
  const unsigned width = bytes[0];
  expect(width >= 1 && width <= 63, Reason::kDamaged, "ids: more than 63 bits an id");
  expect((bytes.size() - 1) == (count * width + 7) / 8, Reason::kDamaged,
         "ids: the section has another length than its ids need");
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = read_bits(bytes, 8 + i * width, width);
  return IdMap(ids);
}

}  // namespace gossamer
