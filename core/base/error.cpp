#include "base/error.h"

#include <cstdlib>

namespace gossamer {

#if defined(__wasm__)

// Throws in JavaScript, so that it does not come back; frames on the way out are not unwound.
extern "C" __attribute__((import_module("host"), import_name("fail"))) void host_fail(
    int reason, const char* message, std::size_t length);

void fail(Reason reason, const std::string& message) {
  host_fail(static_cast<int>(reason), message.data(), message.size());
  std::abort();
}

#else

void fail(Reason reason, const std::string& message) {
#if defined(__cpp_exceptions)
  throw Error(reason, message);
#else
  (void)reason;
  (void)message;
  std::abort();
#endif
}

#endif

}  // namespace gossamer
