#include "base/number_map.h"

#include <utility>

namespace gossamer {

void NumberMap::clear() {
  slots_.clear();
  size_ = 0;
}

void NumberMap::reserve(std::size_t count) {
  const std::size_t slots = std::bit_ceil(count + count / 2 + 2);
  if (slots > slots_.size()) resize(slots);
}

const std::uint64_t* NumberMap::find(std::uint64_t key) const {
  if (size_ == 0 || key == kFree) return nullptr;
  const Slot& slot = slots_[place_of(key)];
  return slot.key == key ? &slot.value : nullptr;
}

bool NumberMap::insert(std::uint64_t key, std::uint64_t value) {
  reserve(size_ + 1);
  Slot& slot = slots_[place_of(key)];
  if (slot.key == key) return false;
  slot = {key, value};
  ++size_;
  return true;
}

void NumberMap::set(std::uint64_t key, std::uint64_t value) {
  if (!insert(key, value)) slots_[place_of(key)].value = value;
}

// Entries behind the gap move into it as far as they may, so that none is cut off from its home.
void NumberMap::erase(std::uint64_t key) {
  if (!contains(key)) return;
  const std::size_t mask = slots_.size() - 1;
  std::size_t gap = place_of(key);
  for (std::size_t at = (gap + 1) & mask; slots_[at].key != kFree; at = (at + 1) & mask) {
    const std::size_t steps = (at - home(slots_[at].key)) & mask;
    if (steps < ((at - gap) & mask)) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = {};
  --size_;
}

// Fibonacci hashing: runs of keys spread over all slots.
std::size_t NumberMap::home(std::uint64_t key) const {
  const auto bits = static_cast<unsigned>(std::bit_width(slots_.size()) - 1);
  return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ULL >> (64 - bits));
}

std::size_t NumberMap::place_of(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = home(key);
  while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

void NumberMap::resize(std::size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before)
    if (slot.key != kFree) slots_[place_of(slot.key)] = slot;
}

}  // namespace gossamer
