#include "read_range.h"

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

std::size_t read_range(const std::string& path, std::uint64_t offset, std::span<char> bytes) {
  std::ifstream file(std::filesystem::path(std::u8string(path.begin(), path.end())),
                     std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(offset))) return 0;
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<std::size_t>(file.gcount());
}

#else

std::size_t read_range(const std::string& path, std::uint64_t offset, std::span<char> bytes) {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - bytes.size())
    return 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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
