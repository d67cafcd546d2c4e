#include "storage/ids.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/sort.h"

namespace gossamer {

namespace {

// Where the number of bits an id takes would stand: the ids follow as runs.
constexpr std::uint8_t kRuns = 0;
constexpr std::uint64_t kNarrow = std::numeric_limits<std::uint32_t>::max();

std::uint64_t read_bits(ByteView bytes, std::uint64_t bit, unsigned width) {
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

// Small numbers of either sign as small numbers.
std::uint64_t fold_sign(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~(bits << 1) : bits << 1;
}

std::int64_t unfold_sign(std::uint64_t value) {
  const std::uint64_t bits = value >> 1;
  return static_cast<std::int64_t>((value & 1) != 0 ? ~bits : bits);
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

bool IdMap::counts_up() const {
  std::size_t node = 0;
  while (node < size_ && id(static_cast<NodeId>(node)) == node) ++node;
  return node == size_;
}

std::optional<NodeId> IdMap::find(std::uint64_t id) const {
  if (is_identity()) {
    return id < size_ ? std::optional(static_cast<NodeId>(id)) : std::nullopt;
  }
  const std::uint64_t* found = node_of_.find(id);
  return found == nullptr ? std::nullopt : std::optional(static_cast<NodeId>(*found));
}

void IdMap::check_unique() const {
  std::vector<std::uint64_t> sorted(narrow_.begin(), narrow_.end());
  sorted.insert(sorted.end(), wide_.begin(), wide_.end());
  sort_values(sorted.begin(), sorted.end());
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
  if (has_lookup_) node_of_.set(id, node);
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
    if (!node_of_.insert(id(node), node)) {
      const std::uint64_t twice = id(node);
      node_of_.clear();
      fail_duplicate(twice);
    }
  }
  has_lookup_ = true;
}

void IdMap::store(NodeId node, std::uint64_t id) {
  size_ = std::max<std::size_t>(size_, node + std::size_t{1});
  if (wide_.empty() && id > kNarrow) {
    wide_.assign(narrow_.begin(), narrow_.end());
    wide_.resize(size_);
    narrow_.clear();
  }
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
  return narrow_.size() * 4 + wide_.size() * 8 + node_of_.memory_bytes();
}

Bytes IdMap::to_bytes() const {
  Bytes runs = write_runs();
  Bytes packed = write_packed();
  return runs.size() < packed.size() ? std::move(runs) : std::move(packed);
}

// Ids that rise by one from node to node are a run: its length, and how far its first id lies from
// the one that would have gone on with the run before.
Bytes IdMap::write_runs() const {
  ByteWriter out;
  out.put(kRuns);
  std::uint64_t expected = 0;
  for (std::size_t begin = 0; begin < size_;) {
    const std::uint64_t first = id(static_cast<NodeId>(begin));
    std::size_t end = begin + 1;
    while (end < size_ && id(static_cast<NodeId>(end)) == first + (end - begin)) ++end;
    out.put_varint(end - begin);
    out.put_varint(fold_sign(static_cast<std::int64_t>(first - expected)));
    expected = first + (end - begin);
    begin = end;
  }
  return out.take();
}

Bytes IdMap::write_packed() const {
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
  if (bytes[0] == kRuns) return read_runs(bytes, count);
  const unsigned width = bytes[0];
  expect(width <= 63, Reason::kDamaged, "ids: more than 63 bits an id");
  expect(bytes.size() - 1 == (std::uint64_t{count} * width + 7) / 8, Reason::kDamaged,
         "ids: the section has another length than its ids need");
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i)
    ids[i] = read_bits(bytes, 8 + std::uint64_t{i} * width, width);
  return IdMap(ids);
}

IdMap IdMap::read_runs(ByteView bytes, std::size_t count) {
  ByteReader in(bytes.subspan(1), "ids");
  std::vector<std::uint64_t> ids;
  ids.reserve(count);
  std::uint64_t next = 0;
  while (ids.size() < count) {
    const std::uint64_t length = in.get_varint();
    expect(length >= 1 && length <= count - ids.size(), Reason::kDamaged,
           "ids: a run is longer than there are nodes");
    next += static_cast<std::uint64_t>(unfold_sign(in.get_varint()));
    expect(next <= kMaxId && length - 1 <= kMaxId - next, Reason::kDamaged,
           "ids: a run leaves the range of ids");
    for (std::uint64_t i = 0; i < length; ++i) ids.push_back(next++);
  }
  in.expect_end();
  return IdMap(ids);
}

}  // namespace gossamer
