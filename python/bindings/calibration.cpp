#include "search/calibration.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "index.h"
#include "index/model_pack.h"

using namespace gossamer;

namespace {

// For each k the margin of a scan and its cost by rising recall.
using ScanRow = std::tuple<float, float, float>;
using ScanTable = std::pair<std::uint32_t, std::vector<ScanRow>>;

// Goes through bytes, so that tables of a host are checked like those of a file.
Calibration make_calibration(const std::vector<ScanTable>& tables, std::uint64_t count,
                             float growth) {
  Calibration calibration;
  for (const auto& [k, rows] : tables) {
    Calibration::Table table{Strategy::kScan, k, {}};
    for (const auto& [recall, margin, cost] : rows) {
      Effort effort;
      effort.margin = margin;
      table.entries.push_back({recall, effort, cost});
    }
    calibration.add(std::move(table));
  }
  if (growth != 0) calibration.set_growth({count, growth});
  return Calibration::from_bytes(calibration.to_bytes());
}

std::vector<ScanTable> scan_tables(const Calibration& calibration) {
  std::vector<ScanTable> tables;
  for (const Calibration::Table& table : calibration.tables()) {
    if (table.strategy != Strategy::kScan) continue;
    std::vector<ScanRow> rows;
    for (const Calibration::Entry& entry : table.entries) {
      rows.emplace_back(entry.recall, entry.effort.margin, entry.cost);
    }
    tables.emplace_back(table.k, std::move(rows));
  }
  return tables;
}

}  // namespace

void bind_calibration(nb::module_& m) {
  nb::class_<Calibration>(m, "Calibration")
      .def(nb::init<>())
      .def_static(
          "from_bytes",
          [](const nb::bytes& data) { return Calibration::from_bytes(view_of(data)); },
          nb::arg("data"))
      .def("to_bytes", [](const Calibration& self) { return bytes_of(self.to_bytes()); })
      .def("scan_tables", &scan_tables)
      .def_prop_ro("is_empty", &Calibration::empty);
  m.def("make_calibration", &make_calibration, nb::arg("tables"), nb::arg("count"),
        nb::arg("growth"));
  m.def(
      "pack_codebook",
      [](std::shared_ptr<Codebook> codebook, const Calibration& calibration) {
        return bytes_of(ModelPack{std::move(codebook), calibration}.to_bytes());
      },
      nb::arg("codebook"), nb::arg("calibration"));
  m.def(
      "unpack_codebook",
      [](const nb::bytes& data) {
        ModelPack pack = ModelPack::from_bytes(view_of(data));
        return std::make_pair(std::const_pointer_cast<Codebook>(pack.codebook),
                              std::move(pack.calibration));
      },
      nb::arg("data"));
}
