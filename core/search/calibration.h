#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "search/effort.h"

namespace gossamer {

// How much effort each recall costs, measured on sample queries against exact search.
class Calibration {
 public:
  struct Entry {
    float recall;
    Effort effort;
    float cost;  // vectors looked at for a query
  };
  struct Table {
    Strategy strategy;
    std::uint32_t k;
    std::vector<Entry> entries;  // by rising recall
  };

  // Tables that serve indexes of any size (those that ship with a model): the margin of a scan
  // rises by `margin` each time the vectors grow e-fold in number, from `count` on. The more there
  // are, the more of them lie near the k-th.
  struct Growth {
    std::uint64_t count;
    float margin;
  };

  void add(Table table) { tables_.push_back(std::move(table)); }
  void set_growth(const Growth& growth) { growth_ = growth; }
  const std::vector<Table>& tables() const { return tables_; }
  const std::optional<Growth>& growth() const { return growth_; }
  bool empty() const { return tables_.empty(); }

  // The effort that reaches this recall among `count` vectors; nothing if the strategy was not
  // calibrated. A recall beyond what was reached in calibration gives the largest effort that was
  // tried.
  std::optional<Effort> effort_for(Strategy strategy, std::size_t k, double recall,
                                   std::size_t count) const;

  Bytes to_bytes() const;
  static Calibration from_bytes(ByteView bytes);  // untrusted: kTruncated / kDamaged

 private:
  std::optional<Effort> measured_effort(Strategy strategy, std::size_t k, double recall) const;

  std::vector<Table> tables_;
  std::optional<Growth> growth_;
};

// One way of searching, tried on the sample queries.
struct Trial {
  Effort effort;
  double recall;
  double cost;
};

// Turns trials into a table: `curves` hold trials of rising effort, one curve for each setting of
// what is not the dial. For each recall the curve that reaches it at the least cost is taken.
std::vector<Calibration::Entry> choose_efforts(std::span<const std::vector<Trial>> curves);

}  // namespace gossamer
