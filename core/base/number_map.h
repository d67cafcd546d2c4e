#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gossamer {

// Numbers by numbers: open addressing in one array, so that an entry costs some twenty bytes and
// one class serves everywhere. Keys are below 2^63.
class NumberMap {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear();
  // Makes room for so many entries.
  void reserve(std::size_t count);
  // Null if the key is not there; valid until the map changes.
  const std::uint64_t* find(std::uint64_t key) const;
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }
  // False if the key is there already: its value stays.
  bool insert(std::uint64_t key, std::uint64_t value = 0);
  void set(std::uint64_t key, std::uint64_t value);
  void erase(std::uint64_t key);
  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  struct Slot {
    std::uint64_t key = kFree;
    std::uint64_t value = 0;
  };

  std::size_t home(std::uint64_t key) const;
  // Where a key is, or the free slot where it would be.
  std::size_t place_of(std::uint64_t key) const;
  void resize(std::size_t slots);

  std::vector<Slot> slots_;  // none, or a power of two
  std::size_t size_ = 0;
};

}  // namespace gossamer
