// Any bytes as a package and as one of its sections: an error or JSON, never a crash, never slow.
//
// The first byte chooses what they are: the start of a file, a head that is framed as one, or a
// section and the letters of its rows.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/package.h"
#include "text/json.h"

using namespace gossamer;

namespace {

constexpr std::string_view kLetters[] = {"bt", "btin", "N", "nttnt"};

// What the core says is JSON, whatever it was made of.
void check_said(const std::string& said) {
  try {
    Json json;
    json.read(said, "what was said", Reason::kDamaged);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

void check_head(std::string_view file) {
  check_said(read_package_head({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()},
                               file.size()));
}

std::string framed(std::string_view head) {
  std::string file = "GSMPACK1";
  for (int byte = 0; byte < 4; ++byte) file += static_cast<char>(head.size() >> (8 * byte) & 0xff);
  return file.append(head).append(32, '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string said;
  try {
    switch (data[0] % 3) {
      case 0:
        check_head(input);
        return 0;
      case 1:
        check_head(framed(input));
        return 0;
      default:
        said = read_package_rows(input, kLetters[data[0] / 3 % 4]);
    }
  } catch (const Error&) {
    return 0;
  }
  check_said(said);
  return 0;
}
