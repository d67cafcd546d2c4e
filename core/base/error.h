#pragma once

#include <stdexcept>
#include <string>

namespace gossamer {

// Why something failed. The same words in C++, Python and TypeScript.
enum class Reason {
  kInvalidArgument,   // a value outside what the call accepts
  kWrongDimension,    // a vector of another length than the index holds
  kNotFinite,         // NaN or infinity in a vector
  kEmpty,             // nothing was given where something is needed
  kDuplicateId,       // an id that is in use already
  kUnknownId,         // an id the index does not hold
  kWrongState,        // the call does not fit what happened before it
  kMissingCodebook,   // the index needs a shared codebook that was not given
  kCodebookMismatch,  // another codebook than the one the index was built with
  kNotGossamer,       // the bytes are not a Gossamer file at all
  kUnknownVersion,    // a format version this build does not read
  kTruncated,         // fewer bytes than the file says it has
  kDamaged,           // a checksum or an invariant of the format does not hold
  kTooLarge,          // more than the format or this machine can hold
  kCancelled,         // the host asked a long job to stop
};

// The one type the core throws. `what()` says what was expected, what came and what to do.
class Error : public std::runtime_error {
 public:
  Error(Reason reason, const std::string& message) : std::runtime_error(message), reason_(reason) {}
  Reason reason() const noexcept { return reason_; }

 private:
  Reason reason_;
};

// The only way the core fails: a build without exceptions (Wasm) replaces this one function.
[[noreturn]] void fail(Reason reason, const std::string& message);

inline void expect(bool holds, Reason reason, const char* message) {
  if (!holds) fail(reason, message);
}

}  // namespace gossamer
