#pragma once

#include <array>
#include <string>

#include "base/error.h"

namespace gossamer::testing {

// The reason an action fails with; "none" if it does not.
template <class Action>
std::string reason_of(const Action& action) {
  static constexpr std::array kNames = {
      "invalid argument",  "wrong dimension", "not finite",      "empty",
      "duplicate id",      "unknown id",      "wrong state",     "missing codebook",
      "codebook mismatch", "not gossamer",    "unknown version", "truncated",
      "damaged",           "too large",       "cancelled"};
  try {
    action();
  } catch (const Error& error) {
    return kNames[static_cast<std::size_t>(error.reason())];
  }
  return "none";
}

}  // namespace gossamer::testing
