#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/error.h"
#include "distance/distance.h"
#include "distance/tables.h"

namespace gossamer {

#if defined(__wasm_simd128__)

// What a module was compiled for is what it runs: there is nothing to choose, and nowhere to say.
std::span<const Kernels* const> supported_kernels() {
  static const Kernels* const tables[] = {&wasm_kernels()};
  return tables;
}

const Kernels& choose_kernels(const char*) { return wasm_kernels(); }

const Kernels& kernels() { return wasm_kernels(); }

#else

namespace {

#if defined(__x86_64__)

// Asked by hand, because not every compiler's __builtin_cpu_supports knows the name.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// Zen 4 converts halves faster in 256-bit registers, Intel in 512-bit ones: with two rows to
// convert that decides. (All of AMD's CPUs with AVX-512 have VNNI, so this is the only table.)
Kernels tuned_avx512vnni() {
  Kernels table = avx512vnni_kernels();
  if (__builtin_cpu_is("amd")) {
    table.inner_product_f16 = avx2_kernels().inner_product_f16;
    table.l2_f16 = avx2_kernels().l2_f16;
  }
  return table;
}

void add_tables(std::vector<const Kernels*>& tables) {
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (has_avx2) tables.push_back(&avx2_kernels());
  if (has_avx512) tables.push_back(&avx512_kernels());
  if (has_avx512 && __builtin_cpu_supports("avx512vnni")) {
    static const Kernels tuned = tuned_avx512vnni();
    tables.push_back(&tuned);
  }
}

#elif defined(__aarch64__)

void add_tables(std::vector<const Kernels*>& tables) { tables.push_back(&neon_kernels()); }

#else

void add_tables(std::vector<const Kernels*>&) {}

#endif

std::vector<const Kernels*> find_tables() {
  std::vector<const Kernels*> tables{&scalar_kernels()};
  add_tables(tables);
  return tables;
}

[[noreturn]] void fail_unsupported(std::string_view name) {
  std::string message = "GOSSAMER_KERNELS is \"" + std::string(name) + "\"; this machine supports";
  const char* separator = " ";
  for (const Kernels* table : supported_kernels()) {
    message += separator + std::string(table->name);
    separator = ", ";
  }
  fail(Reason::kInvalidArgument, message + "; name one of them, or unset it for the fastest");
}

}  // namespace

std::span<const Kernels* const> supported_kernels() {
  static const std::vector<const Kernels*> tables = find_tables();
  return tables;
}

const Kernels& choose_kernels(const char* name) {
  if (name == nullptr || *name == '\0') return *supported_kernels().back();
  for (const Kernels* table : supported_kernels())
    if (std::string_view(table->name) == name) return *table;
  fail_unsupported(name);
}

const Kernels& kernels() {
  static const Kernels& chosen = choose_kernels(std::getenv("GOSSAMER_KERNELS"));
  return chosen;
}

#endif

}  // namespace gossamer
