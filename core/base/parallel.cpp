#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#if !defined(__wasm__)
#include <mutex>
#include <system_error>
#include <thread>
#endif

namespace gossamer {

namespace {

#if !defined(__wasm__)
void run_on_threads(std::size_t count, unsigned threads, std::size_t block,
                    FunctionRef<void(std::size_t, unsigned)> work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first_error;
  std::mutex error_mutex;
  const auto worker_loop = [&](unsigned worker) {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t begin = next.fetch_add(block);
        if (begin >= count) return;
        const std::size_t end = std::min(count, begin + block);
        for (std::size_t item = begin; item < end; ++item) work(item, worker);
      }
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!first_error) first_error = std::current_exception();
      failed.store(true);
    }
  };
  std::vector<std::thread> pool;
  try {
    for (unsigned worker = 1; worker < threads; ++worker) pool.emplace_back(worker_loop, worker);
  } catch (const std::system_error&) {
    // The machine gives no more threads: those that run do all the work.
  }
  worker_loop(0);
  for (std::thread& thread : pool) thread.join();
  if (first_error) std::rethrow_exception(first_error);
}
#endif

}  // namespace

void parallel_for(std::size_t count, unsigned threads, std::size_t block,
                  FunctionRef<void(std::size_t, unsigned)> work) {
  block = std::max<std::size_t>(block, 1);
#if !defined(__wasm__)
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, (count + block - 1) / block));
  if (threads > 1) return run_on_threads(count, threads, block, work);
#else
  (void)threads;
#endif
  for (std::size_t item = 0; item < count; ++item) work(item, 0);
}

unsigned resolve_threads(unsigned requested) {
#if defined(__wasm__)
  (void)requested;
  return 1;
#else
  const unsigned threads = requested > 0 ? requested : std::thread::hardware_concurrency();
  return std::clamp(threads, 1u, kMaxThreads);
#endif
}

}  // namespace gossamer
