#include "filters/refuse.h"

#include <string>

#include "base/error.h"

namespace gossamer {

void refuse(std::initializer_list<std::string_view> parts) {
  std::string message;
  for (const std::string_view part : parts) message += part;
  fail(Reason::kInvalidArgument, message);
}

}  // namespace gossamer
