#include "base/error.h"

#include <cstdlib>

namespace gossamer {

void fail(Reason reason, const std::string& message) {
#if defined(__cpp_exceptions)
  throw Error(reason, message);
#else
  (void)reason;
  (void)message;
  std::abort();
#endif
}

}  // namespace gossamer
