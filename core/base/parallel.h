#pragma once

#include <cstddef>

#include "base/function_ref.h"

namespace gossamer {

// Calls work(item, worker) once for each item in [0, count), on `threads` workers numbered from 0
// (each worker is one thread, so per-worker scratch needs no lock). Items are handed out in blocks
// of `block`, in order. One thread, or a build without threads, runs everything in line and in
// order. The first exception stops the rest and is thrown again here.
void parallel_for(std::size_t count, unsigned threads, std::size_t block,
                  FunctionRef<void(std::size_t item, unsigned worker)> work);

// No job is spread over more: each worker has scratch of its own.
inline constexpr unsigned kMaxThreads = 256;

// 0 means "as many as the machine has".
unsigned resolve_threads(unsigned requested);

}  // namespace gossamer
