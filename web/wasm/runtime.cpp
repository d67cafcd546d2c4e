// What every module needs: memory for JavaScript to write to, and how things fail.

#include <cstdlib>
#include <new>

#include "exports.h"
#include "pages.h"

namespace gossamer {

// As in core/base/error.cpp; called directly where there may be no memory for a std::string.
extern "C" __attribute__((import_module("host"), import_name("fail"))) void host_fail(
    int reason, const char* message, std::size_t length);

namespace wasm {
namespace {

[[noreturn]] void fail_plainly(Reason reason, std::string_view message) {
  host_fail(static_cast<int>(reason), message.data(), message.size());
  std::abort();
}

constexpr std::size_t kLarge = 4 * kPageBytes;

void* take(std::size_t size, std::size_t alignment) {
  if (size >= kLarge) return take_pages(size);  // pages are aligned as far as anybody needs
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate(std::size_t size, std::size_t alignment) {
  void* memory = take(size, alignment);
  if (memory == nullptr)
    fail_plainly(
        Reason::kTooLarge,
        "there is not enough memory for this; close other indexes, or set a memory budget");
  return memory;
}

void free_memory(void* memory) {
  if (!free_pages(memory)) std::free(memory);
}

}  // namespace

void Free::operator()(std::uint8_t* memory) const { free_memory(memory); }

Given& given() {
  static Given given;
  return given;
}

std::size_t give_text(std::string_view text) {
  Bytes& bytes = given().bytes;
  bytes.assign(text.begin(), text.end());
  given().first = bytes.data();
  return bytes.size();
}

std::vector<std::uint64_t> to_ids(const double* numbers, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint64_t>(numbers[i]);
  return ids;
}

double to_number(std::uint64_t id) {
  expect(id <= kMostNumber, Reason::kTooLarge,
         "the index has an id above 2^53 - 1, which JavaScript cannot hold");
  return static_cast<double>(id);
}

void give_ids(std::span<const std::uint64_t> ids) {
  std::vector<double>& numbers = given().numbers;
  numbers.clear();
  for (const std::uint64_t id : ids) numbers.push_back(to_number(id));
  given().first = numbers.data();
}

GOSSAMER_EXPORT(alloc) void* alloc(std::size_t size) { return allocate(size, 1); }
GOSSAMER_EXPORT(release) void release(void* memory) { free_memory(memory); }
GOSSAMER_EXPORT(first) const void* first() { return given().first; }
GOSSAMER_EXPORT(second) const void* second() { return given().second; }

}  // namespace wasm
}  // namespace gossamer

void* operator new(std::size_t size) { return gossamer::wasm::allocate(size, 1); }
void* operator new[](std::size_t size) { return gossamer::wasm::allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return gossamer::wasm::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { gossamer::wasm::free_memory(memory); }
void operator delete[](void* memory) noexcept { gossamer::wasm::free_memory(memory); }
void operator delete(void* memory, std::size_t) noexcept { gossamer::wasm::free_memory(memory); }
void operator delete[](void* memory, std::size_t) noexcept { gossamer::wasm::free_memory(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  gossamer::wasm::free_memory(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  gossamer::wasm::free_memory(memory);
}

// Where the standard library would throw: a container that was asked for more than it can hold.
// Its own version would bring all of printf.
_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) _NOEXCEPT {
  gossamer::wasm::fail_plainly(gossamer::Reason::kTooLarge,
                               "this takes more than the memory of a page can hold");
}
_LIBCPP_END_NAMESPACE_STD
