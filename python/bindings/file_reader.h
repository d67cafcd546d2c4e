#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gossamer {

// Reads many files, one after the other. It keeps a folder open that the last one was in or below:
// the system finds the next one sooner from there than from the root.
class FileReader {
 public:
  FileReader() = default;
  FileReader(const FileReader&) = delete;
  ~FileReader();

  // Reads the bytes of a file from `offset` on into `bytes` and gives how many there were: fewer
  // where the file ends earlier, none where it cannot be opened or read. Never waits for a pipe.
  // `path` is as the system has it (Windows: UTF-8).
  std::size_t read(const std::string& path, std::uint64_t offset, std::span<char> bytes);

 private:
  int open(const std::string& path);

  std::string folder_path_;  // ends with a slash
  int folder_ = -1;
};

}  // namespace gossamer
