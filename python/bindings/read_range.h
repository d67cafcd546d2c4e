#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gossamer {

// Reads the bytes of a file from `offset` on into `bytes` and gives how many there were: fewer
// where the file ends earlier, none where it cannot be opened or read. Never waits for a pipe.
// `path` is as the system has it (Windows: UTF-8).
std::size_t read_range(const std::string& path, std::uint64_t offset, std::span<char> bytes);

}  // namespace gossamer
