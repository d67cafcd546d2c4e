#include "pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace gossamer::wasm {
namespace {

struct Region {
  std::size_t first;  // page
  std::size_t count;
  bool is_free;
};

// All that was ever taken, by address; few enough to be looked through.
Region* regions = nullptr;
std::size_t region_count = 0;
std::size_t region_room = 0;

bool make_room() {
  if (region_count < region_room) return true;
  const std::size_t room = 2 * region_room + 16;
  auto* moved = static_cast<Region*>(std::realloc(regions, room * sizeof(Region)));
  if (moved == nullptr) return false;
  regions = moved;
  region_room = room;
  return true;
}

void insert(std::size_t place, const Region& region) {
  std::copy_backward(regions + place, regions + region_count, regions + region_count + 1);
  regions[place] = region;
  ++region_count;
}

// Joins a free region with the one behind it, if that is free and begins where this one ends.
void join(std::size_t place) {
  if (place + 1 >= region_count) return;
  Region& region = regions[place];
  const Region& next = regions[place + 1];
  if (!region.is_free || !next.is_free || region.first + region.count != next.first) return;
  region.count += next.count;
  std::copy(regions + place + 2, regions + region_count, regions + place + 1);
  --region_count;
}

void* address_of(const Region& region) {
  return reinterpret_cast<void*>(region.first * kPageBytes);
}

}  // namespace

void* take_pages(std::size_t bytes) {
  const std::size_t count = bytes / kPageBytes + (bytes % kPageBytes != 0 ? 1 : 0);
  if (!make_room()) return nullptr;
  std::size_t best = region_count;
  for (std::size_t i = 0; i < region_count; ++i) {
    const Region& region = regions[i];
    if (!region.is_free || region.count < count) continue;
    if (best == region_count || region.count < regions[best].count) best = i;
  }
  if (best == region_count) {
    const std::size_t first = __builtin_wasm_memory_grow(0, count);
    if (first == ~std::size_t{0}) return nullptr;
    insert(region_count, {first, count, false});  // memory grows at its end
    return address_of(regions[region_count - 1]);
  }
  const std::size_t left = regions[best].count - count;
  regions[best].count = count;
  regions[best].is_free = false;
  if (left > 0) insert(best + 1, {regions[best].first + count, left, true});
  return address_of(regions[best]);
}

bool free_pages(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address % kPageBytes != 0) return false;
  for (std::size_t i = 0; i < region_count; ++i) {
    if (regions[i].first != address / kPageBytes || regions[i].is_free) continue;
    regions[i].is_free = true;
    join(i);
    if (i > 0) join(i - 1);
    return true;
  }
  return false;
}

}  // namespace gossamer::wasm
