// What packages say of themselves, as JSON: see core/packages.ts.

#include "exports.h"
#include "store/package.h"

namespace gossamer::wasm {

GOSSAMER_EXPORT(package_head)
std::size_t package_head(const std::uint8_t* start, std::size_t size, double file_size) {
  return give_text(read_package_head({start, size}, static_cast<std::uint64_t>(file_size)));
}

// The letters stand behind the section.
GOSSAMER_EXPORT(package_rows)
std::size_t package_rows(const std::uint8_t* section, std::size_t size, std::size_t letters) {
  return give_text(read_package_rows(text_of(section, size), text_of(section + size, letters)));
}

}  // namespace gossamer::wasm
