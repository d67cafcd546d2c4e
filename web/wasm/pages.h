#pragma once

#include <cstddef>

namespace gossamer::wasm {

// Large blocks, in whole pages of 64 KiB: the library's allocator would round each up to a power of
// two. They lie side by side, and those that were freed are used again.
inline constexpr std::size_t kPageBytes = 64 * 1024;

// Null if there is no such room.
void* take_pages(std::size_t bytes);
// False if the memory is none of take_pages().
bool free_pages(void* memory);

}  // namespace gossamer::wasm
