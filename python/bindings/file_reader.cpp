#include "file_reader.h"

#if defined(_WIN32)
#include <filesystem>
#include <fstream>
#else
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#endif

namespace gossamer {

#if defined(_WIN32)

FileReader::~FileReader() = default;

std::size_t FileReader::read(const std::string& path, std::uint64_t offset, std::span<char> bytes) {
  std::ifstream file(std::filesystem::path(std::u8string(path.begin(), path.end())),
                     std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(offset))) return 0;
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<std::size_t>(file.gcount());
}

#else

namespace {

// Two folders up: what is indexed often has a folder for each page.
std::size_t end_of_folder(const std::string& path) {
  const std::size_t last = path.rfind('/');
  if (last == path.npos || last == 0) return 0;
  const std::size_t before = path.rfind('/', last - 1);
  return before == path.npos ? last + 1 : before + 1;
}

}  // namespace

FileReader::~FileReader() {
  if (folder_ >= 0) ::close(folder_);
}

int FileReader::open(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (folder_ < 0 || !path.starts_with(folder_path_)) {
    if (folder_ >= 0) ::close(folder_);
    folder_path_ = path.substr(0, end_of_folder(path));
    // Where it cannot be opened, paths are taken as they are.
    folder_ = ::open(folder_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  if (folder_ < 0) return ::open(path.c_str(), kFlags);
  return ::openat(folder_, path.c_str() + folder_path_.size(), kFlags);
}

std::size_t FileReader::read(const std::string& path, std::uint64_t offset, std::span<char> bytes) {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - bytes.size())
    return 0;
  const int file = open(path);
  if (file < 0) return 0;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  ::close(file);
  return done;
}

#endif

}  // namespace gossamer
