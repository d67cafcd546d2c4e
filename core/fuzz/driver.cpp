// Runs a fuzz target where libFuzzer is not at hand (compilers other than clang). It understands
// the part of libFuzzer's command line that the Makefile uses, mutates inputs with a seeded
// generator and keeps those that reach code no input reached before.
//
//   NAME_fuzz [-max_total_time=S] [-runs=N] [-seed=N] [-max_len=N] [-artifact_prefix=P] FOLDER...
//   NAME_fuzz FILE...     runs each file once: how a saved crash is looked at
//
// The first folder receives the inputs that reached something new.

#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// One allocation of gigabytes for a file of bytes is a bug, so it must end the run.
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=2048"; }
// Undefined behaviour ends in SIGABRT, which is where its input is saved.
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using Input = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

constexpr std::size_t kCoverageSlots = 1 << 16;
constexpr unsigned kHangSeconds = 30;

// Which places in the code any input has reached, and whether the current one added to them.
std::array<bool, kCoverageSlots> reached;
bool reached_more = false;

struct Options {
  std::uint64_t max_total_time = 10;
  std::uint64_t runs = ~std::uint64_t{0};
  std::uint64_t seed = 1;
  std::uint64_t max_len = 1 << 20;
  std::string artifact_prefix = "crash-";
  std::vector<fs::path> paths;
};

// What a crash handler must know; plain pointers, since it runs in a broken process.
const Input* current_input = nullptr;
const std::string* artifact_prefix = nullptr;

void save(const fs::path& path, const Input& input) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

// Equal inputs have equal names, so that nothing is saved twice.
std::string name_of(const Input& input) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint8_t byte : input) hash = (hash ^ byte) * 0x100000001b3ULL;
  char name[17];
  std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(hash));
  return name;
}

void save_current_input() {
  if (current_input == nullptr || artifact_prefix == nullptr) return;
  const std::string path = *artifact_prefix + name_of(*current_input);
  save(path, *current_input);
  std::fprintf(stderr, "\nthe input that did it is in %s\n", path.c_str());
  current_input = nullptr;
}

void on_signal(int number) {
  std::fprintf(stderr, number == SIGALRM ? "one input took over %u s\n" : "aborted\n",
               kHangSeconds);
  save_current_input();
  _exit(1);
}

void run_once(const Input& input) {
  current_input = &input;
  alarm(kHangSeconds);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
  current_input = nullptr;
}

// True if this input reached what none before it did.
bool reaches_something_new(const Input& input) {
  reached_more = false;
  run_once(input);
  return reached_more;
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::size_t max_size) : random_(seed), max_size_(max_size) {}

  // One of the corpus with one to eight changes.
  Input mutate(const std::vector<Input>& corpus) {
    Input input = pick(corpus);
    for (std::size_t left = 1 + below(8); left > 0; --left) change(input, corpus);
    if (input.size() > max_size_) input.resize(max_size_);
    return input;
  }

  const Input& pick(const std::vector<Input>& corpus) { return corpus[below(corpus.size())]; }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }

  void change(Input& input, const std::vector<Input>& corpus) {
    if (input.empty()) return insert_noise(input);
    switch (below(7)) {
      case 0:
        input[below(input.size())] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        input[below(input.size())] = static_cast<std::uint8_t>(random_.next());
        break;
      case 2:
        input.resize(below(input.size() + 1));
        break;
      case 3:
        erase_range(input);
        break;
      case 4:
        write_integer(input);
        break;
      case 5:
        splice(input, pick(corpus));
        break;
      default:
        insert_noise(input);
        break;
    }
  }

  void erase_range(Input& input) {
    const std::size_t from = below(input.size());
    const std::size_t count = 1 + below(std::min<std::size_t>(input.size() - from, 64));
    const auto first = input.begin() + static_cast<std::ptrdiff_t>(from);
    input.erase(first, first + static_cast<std::ptrdiff_t>(count));
  }

  void insert_noise(Input& input) {
    Input noise(1 + below(16));
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random_.next());
    const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
    input.insert(input.begin() + at, noise.begin(), noise.end());
  }

  // Counts and offsets break at their borders: 0, all ones, powers of two and their neighbors.
  void write_integer(Input& input) {
    std::uint64_t value = std::uint64_t{1} << below(64);
    value += random_.next() % 3;
    value -= 1;
    if (below(4) == 0) value = ~std::uint64_t{0} - below(4);
    const std::size_t at = below(input.size());
    const std::size_t width = std::min(std::size_t{1} << below(4), input.size() - at);
    std::memcpy(input.data() + at, &value, width);
  }

  void splice(Input& input, const Input& other) {
    if (other.empty()) return;
    const auto from = static_cast<std::ptrdiff_t>(below(other.size()));
    const auto until =
        from + 1 +
        static_cast<std::ptrdiff_t>(below(other.size() - static_cast<std::size_t>(from)));
    const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
    if (below(2) == 0) input.resize(static_cast<std::size_t>(at));
    input.insert(input.begin() + at, other.begin() + from, other.begin() + until);
  }

  gossamer::Random random_;
  std::size_t max_size_;
};

Input read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

// In the order of their names, so that equal folders and seeds give equal runs.
std::vector<Input> read_folders(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());

  std::vector<Input> corpus{{}};
  for (const fs::path& file : files) corpus.push_back(read(file));
  return corpus;
}

bool parse_number(std::string_view argument, std::string_view name, std::uint64_t& value) {
  if (!argument.starts_with(name)) return false;
  value = std::stoull(std::string(argument.substr(name.size())));
  return true;
}

Options parse(int count, char** arguments) {
  constexpr std::string_view kPrefix = "-artifact_prefix=";
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (parse_number(argument, "-max_total_time=", options.max_total_time) ||
        parse_number(argument, "-runs=", options.runs) ||
        parse_number(argument, "-seed=", options.seed) ||
        parse_number(argument, "-max_len=", options.max_len))
      continue;
    if (argument.starts_with(kPrefix))
      options.artifact_prefix = argument.substr(kPrefix.size());
    else if (!argument.starts_with("-"))
      options.paths.emplace_back(argument);
  }
  return options;
}

void install_crash_handlers() {
  __sanitizer_set_death_callback(save_current_input);
  signal(SIGABRT, on_signal);
  signal(SIGALRM, on_signal);
}

void fuzz(const Options& options) {
  std::vector<Input> corpus = read_folders(options.paths);
  for (const Input& input : corpus) reaches_something_new(input);
  const std::size_t given = corpus.size();

  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(options.max_total_time);
  Mutator mutator(options.seed, static_cast<std::size_t>(options.max_len));
  std::uint64_t runs = 0;
  while (runs < options.runs && Clock::now() < end) {
    Input input = mutator.mutate(corpus);
    ++runs;
    if (!reaches_something_new(input)) continue;
    if (!options.paths.empty()) save(options.paths[0] / name_of(input), input);
    corpus.push_back(std::move(input));
  }
  std::printf("%llu inputs run from %zu given, %zu found that reach something new, no crash\n",
              static_cast<unsigned long long>(runs), given, corpus.size() - given);
}

}  // namespace

// Called by the instrumented code (not by this file) on every edge.
extern "C" void __sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  bool& is_reached = reached[(address * 0x9e3779b97f4a7c15ULL) >> 48];
  if (is_reached) return;
  is_reached = true;
  reached_more = true;
}

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  install_crash_handlers();
  if (!options.paths.empty() && fs::is_regular_file(options.paths[0])) {
    for (const fs::path& file : options.paths) run_once(read(file));
    std::printf("%zu files run, no crash\n", options.paths.size());
    return 0;
  }
  artifact_prefix = &options.artifact_prefix;
  fuzz(options);
  return 0;
}
