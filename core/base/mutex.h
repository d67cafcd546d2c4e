#pragma once

#if !defined(__wasm__)
#include <mutex>
#include <shared_mutex>
#endif

namespace gossamer {

// Locks that cost nothing where there are no threads.
#if defined(__wasm__)
struct Mutex {
  void lock() {}
  void unlock() {}
};
struct SharedMutex : Mutex {
  void lock_shared() {}
  void unlock_shared() {}
};
template <class M>
struct ReadLock {
  explicit ReadLock(M&) {}
};
template <class M>
struct WriteLock {
  explicit WriteLock(M&) {}
};
#else
using Mutex = std::mutex;
using SharedMutex = std::shared_mutex;
template <class M>
using ReadLock = std::shared_lock<M>;
template <class M>
using WriteLock = std::unique_lock<M>;
#endif

}  // namespace gossamer
