#include "search/calibration.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace gossamer {

namespace {

constexpr float kRecalls[] = {0.50f, 0.60f, 0.70f, 0.75f, 0.80f,  0.85f, 0.875f, 0.90f, 0.925f,
                              0.95f, 0.96f, 0.97f, 0.98f, 0.985f, 0.99f, 0.995f, 0.999f};
// Far more than any table this code writes.
constexpr std::size_t kMaxTables = 256;
constexpr std::size_t kMaxEntries = 1024;
// Far steeper than any growth that was measured.
constexpr float kMaxGrowth = 8.0f;

float blend(float a, float b, double share) {
  return static_cast<float>(static_cast<double>(a) +
                            (static_cast<double>(b) - static_cast<double>(a)) * share);
}

std::uint32_t blend(std::uint32_t a, std::uint32_t b, double share) {
  const double value =
      static_cast<double>(a) + (static_cast<double>(b) - static_cast<double>(a)) * share;
  return static_cast<std::uint32_t>(std::lround(value));
}

Effort blend(const Effort& a, const Effort& b, double share) {
  return {blend(a.rerank, b.rerank, share), blend(a.margin, b.margin, share),
          blend(a.beam, b.beam, share), blend(a.ratio, b.ratio, share),
          blend(a.batch, b.batch, share)};
}

// Where a curve first reaches the recall, between two trials.
std::optional<Trial> reach(const std::vector<Trial>& curve, double recall) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].recall < recall) continue;
    if (i == 0) return curve[0];
    const Trial& before = curve[i - 1];
    const Trial& after = curve[i];
    const double share = (recall - before.recall) / std::max(after.recall - before.recall, 1e-9);
    return Trial{blend(before.effort, after.effort, share), recall,
                 before.cost + (after.cost - before.cost) * share};
  }
  return std::nullopt;
}

Effort interpolate(const std::vector<Calibration::Entry>& entries, double recall) {
  const auto above = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
    return static_cast<double>(entry.recall) >= recall;
  });
  if (above == entries.end()) return entries.back().effort;
  if (above == entries.begin()) return above->effort;
  const auto& below = *(above - 1);
  const double span = static_cast<double>(above->recall) - static_cast<double>(below.recall);
  return blend(below.effort, above->effort, (recall - static_cast<double>(below.recall)) / span);
}

}  // namespace

std::optional<Effort> Calibration::effort_for(Strategy strategy, std::size_t k, double recall,
                                              std::size_t count) const {
  std::optional<Effort> effort = measured_effort(strategy, k, recall);
  if (effort && growth_ && strategy == Strategy::kScan) {
    const double times =
        static_cast<double>(std::max<std::size_t>(count, 1)) / static_cast<double>(growth_->count);
    effort->margin += growth_->margin * static_cast<float>(std::log(times));
  }
  return effort;
}

std::optional<Effort> Calibration::measured_effort(Strategy strategy, std::size_t k,
                                                   double recall) const {
  const Table* below = nullptr;  // the largest calibrated k up to k
  const Table* above = nullptr;  // the smallest from k on
  for (const Table& table : tables_) {
    if (table.strategy != strategy || table.entries.empty()) continue;
    if (table.k <= k && (below == nullptr || table.k > below->k)) below = &table;
    if (table.k >= k && (above == nullptr || table.k < above->k)) above = &table;
  }
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (below == nullptr || below == above) return interpolate(above->entries, recall);
  if (above == nullptr) return interpolate(below->entries, recall);
  const double share = std::log(static_cast<double>(k) / below->k) /
                       std::log(static_cast<double>(above->k) / below->k);
  return blend(interpolate(below->entries, recall), interpolate(above->entries, recall), share);
}

Bytes Calibration::to_bytes() const {
  ByteWriter out;
  out.put<std::uint32_t>(static_cast<std::uint32_t>(tables_.size()));
  for (const Table& table : tables_) {
    out.put<std::uint8_t>(static_cast<std::uint8_t>(table.strategy));
    out.put<std::uint32_t>(table.k);
    out.put<std::uint32_t>(static_cast<std::uint32_t>(table.entries.size()));
    for (const Entry& entry : table.entries) {
      out.put(entry.recall);
      out.put(entry.effort.rerank);
      out.put(entry.effort.margin);
      out.put(entry.effort.beam);
      out.put(entry.effort.ratio);
      out.put(entry.effort.batch);
      out.put(entry.cost);
    }
  }
  if (growth_) {
    out.put<std::uint64_t>(growth_->count);
    out.put(growth_->margin);
  }
  return out.take();
}

Calibration Calibration::from_bytes(ByteView bytes) {
  ByteReader in(bytes, "calibration");
  Calibration calibration;
  const auto table_count = in.get<std::uint32_t>();
  expect(table_count <= kMaxTables, Reason::kDamaged, "calibration: more tables than there can be");
  for (std::uint32_t t = 0; t < table_count; ++t) {
    Table table;
    const auto strategy = in.get<std::uint8_t>();
    expect(strategy < kStrategyCount, Reason::kDamaged, "calibration: unknown strategy");
    table.strategy = static_cast<Strategy>(strategy);
    table.k = in.get<std::uint32_t>();
    const auto entry_count = in.get<std::uint32_t>();
    expect(table.k > 0 && entry_count <= kMaxEntries, Reason::kDamaged,
           "calibration: a table is out of bounds");
    for (std::uint32_t i = 0; i < entry_count; ++i) {
      Entry entry{};
      entry.recall = in.get<float>();
      entry.effort.rerank = in.get<std::uint32_t>();
      entry.effort.margin = in.get<float>();
      entry.effort.beam = in.get<std::uint32_t>();
      entry.effort.ratio = in.get<float>();
      entry.effort.batch = in.get<std::uint32_t>();
      entry.cost = in.get<float>();
      expect(entry.recall >= 0 && entry.recall <= 1 && std::isfinite(entry.effort.margin) &&
                 entry.effort.ratio >= 0 && entry.effort.ratio <= 1,
             Reason::kDamaged, "calibration: an entry is out of bounds");
      table.entries.push_back(entry);
    }
    calibration.add(std::move(table));
  }
  if (in.remaining() > 0) {
    const auto count = in.get<std::uint64_t>();
    const auto margin = in.get<float>();
    expect(count > 0 && std::abs(margin) <= kMaxGrowth, Reason::kDamaged,
           "calibration: the growth of the margin is out of bounds");
    calibration.set_growth({count, margin});
  }
  in.expect_end();
  return calibration;
}

std::vector<Calibration::Entry> choose_efforts(std::span<const std::vector<Trial>> curves) {
  std::vector<Calibration::Entry> entries;
  for (const float recall : kRecalls) {
    std::optional<Trial> best;
    for (const std::vector<Trial>& curve : curves) {
      const std::optional<Trial> trial = reach(curve, static_cast<double>(recall));
      if (trial && (!best || trial->cost < best->cost)) best = trial;
    }
    if (!best) break;
    entries.push_back({recall, best->effort, static_cast<float>(best->cost)});
  }
  if (entries.empty()) {
    // Nothing reaches even the lowest recall: the most effort is the best there is.
    for (const std::vector<Trial>& curve : curves) {
      if (curve.empty()) continue;
      const Trial& last = curve.back();
      entries.push_back(
          {static_cast<float>(last.recall), last.effort, static_cast<float>(last.cost)});
      break;
    }
  }
  return entries;
}

}  // namespace gossamer
