#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/sort.h"
#include "codes/scan_kernels.h"

namespace gossamer {

namespace {

// The best of a stream, kept in a buffer of about twice that many.
class Selection {
 public:
  explicit Selection(std::size_t best) : best_(best) { kept_.reserve(2 * best + kScanBlock); }

  // Nothing beyond this can be among the best.
  float threshold() const { return threshold_; }
  // True when the threshold fell.
  bool offer(Candidate candidate) {
    if (candidate.distance > threshold_) return false;
    kept_.push_back(candidate);
    if (kept_.size() < 2 * best_ + kScanBlock) return false;
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(best_ - 1);
    place_nth(kept_.begin(), last, kept_.end());
    threshold_ = last->distance;
    kept_.resize(best_);
    return true;
  }
  std::vector<Candidate> take() {
    sort_values(kept_.begin(), kept_.end());
    if (kept_.size() > best_) kept_.resize(best_);
    return std::move(kept_);
  }

 private:
  std::size_t best_;
  std::vector<Candidate> kept_;
  float threshold_ = std::numeric_limits<float>::infinity();
};

// Which of the 64 nodes of a block exist and are allowed.
std::uint64_t eligible(std::size_t block, std::size_t count, const Bitmap* allowed) {
  const std::size_t left = count - block * kScanBlock;
  std::uint64_t mask = left < kScanBlock ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
  if (allowed != nullptr) {
    const std::vector<std::uint64_t>& words = allowed->words();
    mask &= block < words.size() ? words[block] : 0;
  }
  return mask;
}

struct Codes {
  const std::uint8_t* data;
  std::size_t count;
  std::size_t stride;
  const Bitmap* allowed;

  std::size_t block_count() const { return (count + kScanBlock - 1) / kScanBlock; }
  const std::uint8_t* row(std::size_t node) const { return data + node * stride; }
};

void scan_floats(const Estimator& estimator, const Codes& codes, std::size_t first_block,
                 std::size_t last_block, Selection& selection) {
  for (std::size_t block = first_block; block < last_block; ++block) {
    std::uint64_t mask = eligible(block, codes.count, codes.allowed);
    while (mask != 0) {
      std::array<NodeId, Estimator::kTogether> nodes;
      std::array<const std::uint8_t*, Estimator::kTogether> rows;
      std::size_t taken = 0;
      for (; taken < nodes.size() && mask != 0; ++taken, mask &= mask - 1) {
        nodes[taken] =
            static_cast<NodeId>(block * kScanBlock) + static_cast<NodeId>(std::countr_zero(mask));
        rows[taken] = codes.row(nodes[taken]);
      }
      std::fill(rows.begin() + static_cast<std::ptrdiff_t>(taken), rows.end(), rows[0]);
      const auto estimates = estimator.estimate_together(rows);
      for (std::size_t i = 0; i < taken; ++i) selection.offer({estimates[i], nodes[i]});
    }
  }
}

// WebAssembly has no lookups in registers that pay: sixteen swizzles for a table of 256 entries are
// slower than sums of floats.
#if !defined(__wasm__)

// How far ahead of the rows being turned memory is asked for: turning is slower than streaming,
// but does not read in the order that the hardware foresees.
constexpr std::size_t kPrefetchedBlocks = 8;

// One query's pass over codes by bytes: what may be among the best is estimated again in floats.
class BytePass {
 public:
  BytePass(const Estimator& estimator, std::size_t best)
      : estimator_(estimator), tables_(estimator), selection_(best) {}

  // Looks at the blocks from `first_block` to `last_block`, at most a group.
  void visit(const ScanKernels& kernels, const Codes& codes, const std::uint8_t* columns,
             std::size_t first_block, std::size_t last_block) {
    if (limit_ < 0) return;
    const std::size_t first = first_block * kScanBlock;
    std::uint16_t start[kGroupCodes] = {};
    if (!tables_.coarse.empty())
      for (std::size_t i = 0; i < std::min(kGroupCodes, codes.count - first); ++i)
        start[i] = tables_.coarse[estimator_.coarse_id(codes.row(first + i))];
    std::uint64_t masks[kGroupBlocks];
    kernels.find_below(columns, tables_.entries.size() / kSubspaceCentroids, tables_.entries.data(),
                       start, static_cast<std::uint16_t>(limit_), masks);
    for (std::size_t block = first_block; block < last_block; ++block)
      offer_all(codes, block, masks[block - first_block]);
  }
  std::vector<Candidate> take() { return selection_.take(); }

 private:
  void offer_all(const Codes& codes, std::size_t block, std::uint64_t mask) {
    mask &= eligible(block, codes.count, codes.allowed);
    for (; mask != 0; mask &= mask - 1) {
      const std::size_t node =
          block * kScanBlock + static_cast<std::size_t>(std::countr_zero(mask));
      if (selection_.offer({estimator_.estimate(codes.row(node)), static_cast<NodeId>(node)}))
        limit_ = tables_.limit(selection_.threshold());
    }
  }

  const Estimator& estimator_;
  ByteTables tables_;
  Selection selection_;
  std::int32_t limit_ = 0xffff;
};

void prefetch_block(const Codes& codes, std::size_t block) {
  if ((block + 1) * kScanBlock > codes.count) return;
  const std::uint8_t* start = codes.row(block * kScanBlock);
  for (std::size_t line = 0; line < codes.stride; ++line) __builtin_prefetch(start + line * 64);
}

void turn_block(const ScanKernels& kernels, const Codes& codes, std::size_t skipped,
                std::size_t block, std::uint8_t* columns) {
  const std::size_t first = block * kScanBlock;
  const std::size_t pieces = codes.stride - skipped;
  prefetch_block(codes, block + kPrefetchedBlocks);
  if (codes.count - first >= kScanBlock) {
    kernels.to_columns(codes.row(first) + skipped, codes.stride, pieces, columns);
    return;
  }
  std::uint8_t padded[kScanBlock * kMaxCodeBytes] = {};
  std::memcpy(padded, codes.row(first), (codes.count - first) * codes.stride);
  kernels.to_columns(padded + skipped, codes.stride, pieces, columns);
}

std::vector<std::vector<Candidate>> scan_bytes(const ScanKernels& kernels,
                                               std::span<const Estimator> estimators,
                                               const Codes& codes, std::size_t best) {
  std::vector<BytePass> passes;
  passes.reserve(estimators.size());
  for (const Estimator& estimator : estimators) passes.emplace_back(estimator, best);
  const std::size_t skipped = estimators.front().coarse().empty() ? 0 : kCoarseBytes;
  std::vector<std::uint8_t> columns((codes.stride - skipped) * kGroupCodes);
  const std::size_t blocks = codes.block_count();
  for (std::size_t group = 0; group < blocks; group += kGroupBlocks) {
    const std::size_t end = std::min(blocks, group + kGroupBlocks);
    for (std::size_t block = group; block < end; ++block)
      turn_block(kernels, codes, skipped, block, columns.data() + (block - group) * kScanBlock);
    for (BytePass& pass : passes) pass.visit(kernels, codes, columns.data(), group, end);
  }
  std::vector<std::vector<Candidate>> found;
  for (BytePass& pass : passes) found.push_back(pass.take());
  return found;
}

std::vector<const ScanKernels*> find_tables() {
  std::vector<const ScanKernels*> tables{&scalar_scan_kernels()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) tables.push_back(&avx2_scan_kernels());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
    tables.push_back(&avx512_scan_kernels());
#elif defined(__aarch64__)
  tables.push_back(&neon_scan_kernels());
#endif
  return tables;
}

// What goes with the distance kernels of that name.
const ScanKernels* choose_table(std::string_view distance_name) {
  const auto tables = supported_scan_kernels();
  if (distance_name == "scalar" || tables.size() == 1) return nullptr;
#if defined(__x86_64__)
  if (distance_name == "avx2") return &avx2_scan_kernels();
#endif
  return tables.back();
}

#endif

}  // namespace

ByteTables::ByteTables(const Estimator& estimator) : origin(estimator.base()) {
  const std::span<const float> tables = estimator.tables();
  const std::size_t pieces = tables.size() / kSubspaceCentroids;
  std::vector<float> lowest(pieces);
  double widest = 0.0;
  double magnitude = std::fabs(origin);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const auto table = tables.subspan(piece * kSubspaceCentroids, kSubspaceCentroids);
    const auto [low, high] = std::minmax_element(table.begin(), table.end());
    lowest[piece] = *low;
    origin += static_cast<double>(*low);
    widest = std::max(widest, static_cast<double>(*high) - static_cast<double>(*low));
    magnitude +=
        std::max(std::fabs(static_cast<double>(*low)), std::fabs(static_cast<double>(*high)));
  }
  if (widest > 0.0) step = widest / 255.0;
  entries.resize(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const double above =
        static_cast<double>(tables[i]) - static_cast<double>(lowest[i / kSubspaceCentroids]);
    entries[i] = static_cast<std::uint8_t>(std::min(255.0, std::floor(above / step + 0.5)));
  }
  const std::span<const float> offsets = estimator.coarse();
  if (!offsets.empty()) {
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    origin += static_cast<double>(*low);
    magnitude +=
        std::max(std::fabs(static_cast<double>(*low)), std::fabs(static_cast<double>(*high)));
    for (const float offset : offsets)
      coarse.push_back(static_cast<std::uint16_t>(std::min(
          65535.0,
          std::floor((static_cast<double>(offset) - static_cast<double>(*low)) / step + 0.5))));
  }
  // Half a step for each table, and what float sums may lose.
  const double terms = static_cast<double>(pieces + 2);
  slack = 0.5 * terms + terms * 1.2e-7 * magnitude / step + 1.0;
}

std::int32_t ByteTables::limit(float threshold) const {
  const double sum = (static_cast<double>(threshold) - origin) / step + slack;
  if (!(sum < 65535.0)) return 0xffff;
  return sum < 0.0 ? -1 : static_cast<std::int32_t>(sum);
}

#if defined(__wasm__)
std::span<const ScanKernels* const> supported_scan_kernels() { return {}; }

const ScanKernels* scan_kernels() { return nullptr; }
#else
std::span<const ScanKernels* const> supported_scan_kernels() {
  static const std::vector<const ScanKernels*> tables = find_tables();
  return tables;
}

const ScanKernels* scan_kernels() {
  static const ScanKernels* const chosen = choose_table(kernels().name);
  return chosen;
}
#endif

std::vector<std::vector<Candidate>> scan_with(const ScanKernels* chosen,
                                              std::span<const Estimator> estimators,
                                              std::span<const std::uint8_t> codes,
                                              std::size_t count, std::size_t best,
                                              const Bitmap* allowed) {
  if (estimators.empty()) return {};
  const std::size_t stride = estimators.front().code_bytes();
  for (const Estimator& estimator : estimators)
    expect(estimator.code_bytes() == stride, Reason::kInvalidArgument,
           "queries scanned together must belong to one codebook");
  expect(codes.size() / stride >= count, Reason::kInvalidArgument,
         "there are fewer codes than the scan was told");
  best = std::min(best, count);
  if (best == 0) return std::vector<std::vector<Candidate>>(estimators.size());
  const Codes all{codes.data(), count, stride, allowed};
#if defined(__wasm__)
  (void)chosen;
#else
  if (chosen != nullptr) return scan_bytes(*chosen, estimators, all, best);
#endif
  std::vector<Selection> selections(estimators.size(), Selection(best));
  for (std::size_t group = 0; group < all.block_count(); group += kGroupBlocks)
    for (std::size_t i = 0; i < estimators.size(); ++i)
      scan_floats(estimators[i], all, group, std::min(all.block_count(), group + kGroupBlocks),
                  selections[i]);
  std::vector<std::vector<Candidate>> found;
  for (Selection& selection : selections) found.push_back(selection.take());
  return found;
}

std::vector<Candidate> scan(const Estimator& estimator, std::span<const std::uint8_t> codes,
                            std::size_t count, std::size_t best, const Bitmap* allowed) {
  return std::move(scan_with(scan_kernels(), {&estimator, 1}, codes, count, best, allowed)[0]);
}

std::vector<std::vector<Candidate>> scan_batch(std::span<const Estimator> estimators,
                                               std::span<const std::uint8_t> codes,
                                               std::size_t count, std::size_t best,
                                               const Bitmap* allowed) {
  return scan_with(scan_kernels(), estimators, codes, count, best, allowed);
}

}  // namespace gossamer
