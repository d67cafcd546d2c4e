#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace gossamer {

// How far a long job is. The core only writes numbers; the host polls them from another
// thread, so that no callback ever leaves the core, and may ask the job to stop.
struct Progress {
  std::atomic<const char*> phase{""};  // what is being done, in a word or two
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{0};
  std::atomic<bool> is_cancelled{false};

  void start(std::uint64_t steps) {
    done.store(0, std::memory_order_relaxed);
    total.store(steps, std::memory_order_relaxed);
  }
  void advance(std::uint64_t steps = 1) { done.fetch_add(steps, std::memory_order_relaxed); }
  bool cancelled() const { return is_cancelled.load(std::memory_order_relaxed); }
  void throw_if_cancelled() const {
    if (cancelled()) fail(Reason::kCancelled, "the job was cancelled before it finished");
  }
};

}  // namespace gossamer
