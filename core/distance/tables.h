#pragma once

#include "distance/distance.h"

namespace gossamer {

// The tables of this architecture, whether or not this CPU can run them: see dispatch.cpp.
#if defined(__x86_64__)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
const Kernels& avx512vnni_kernels();
#elif defined(__aarch64__)
const Kernels& neon_kernels();
#elif defined(__wasm_simd128__)
const Kernels& wasm_kernels();
#endif

}  // namespace gossamer
