#include "index/options.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/progress.h"
#include "graph/size.h"
#include "index.h"
#include "search/effort.h"

namespace nb = nanobind;
using namespace gossamer;

namespace {

void bind_enums(nb::module_& m) {
  nb::enum_<Metric>(m, "Metric")
      .value("ip", Metric::kInnerProduct)
      .value("cosine", Metric::kCosine)
      .value("l2", Metric::kL2);
  nb::enum_<Scalar>(m, "Scalar")
      .value("f32", Scalar::kF32)
      .value("f16", Scalar::kF16)
      .value("i8", Scalar::kI8);
  nb::enum_<Keep>(m, "Keep")
      .value("none", Keep::kNone)
      .value("hot", Keep::kHot)
      .value("all", Keep::kAll);
  nb::enum_<GraphKind>(m, "GraphKind")
      .value("none", GraphKind::kNone)
      .value("full", GraphKind::kFull)
      .value("hub", GraphKind::kHub)
      .value("slim", GraphKind::kSlim);
  nb::enum_<Strategy>(m, "Strategy")
      .value("auto", Strategy::kAuto)
      .value("scan", Strategy::kScan)
      .value("walk", Strategy::kWalk)
      .value("two_level", Strategy::kTwoLevel)
      .value("best_first", Strategy::kBestFirst)
      .value("lazy", Strategy::kLazy)
      .value("exact", Strategy::kExact);
}

void bind_records(nb::module_& m) {
  nb::class_<Effort>(m, "Effort")
      .def(nb::init<>())
      .def_rw("rerank", &Effort::rerank)
      .def_rw("margin", &Effort::margin)
      .def_rw("beam", &Effort::beam)
      .def_rw("ratio", &Effort::ratio)
      .def_rw("batch", &Effort::batch);
  nb::class_<BuildOptions>(m, "BuildOptions")
      .def(nb::init<>())
      .def_rw("max_degree", &BuildOptions::max_degree)
      .def_rw("effort", &BuildOptions::effort)
      .def_rw("level_probability", &BuildOptions::level_probability)
      .def_rw("simple_shrink", &BuildOptions::simple_shrink)
      .def_rw("seed", &BuildOptions::seed)
      .def_rw("threads", &BuildOptions::threads);
  nb::class_<HubOptions>(m, "HubOptions")
      .def(nb::init<>())
      .def_rw("max_degree", &HubOptions::max_degree)
      .def_rw("low_degree", &HubOptions::low_degree)
      .def_rw("hub_share", &HubOptions::hub_share)
      .def_rw("effort", &HubOptions::effort)
      .def_rw("threads", &HubOptions::threads);
  nb::class_<SlimParameters>(m, "SlimParameters")
      .def(nb::init<>())
      .def_rw("hub_share0", &SlimParameters::hub_share0)
      .def_rw("hub_degree0", &SlimParameters::hub_degree0)
      .def_rw("low_degree0", &SlimParameters::low_degree0)
      .def_rw("hub_share", &SlimParameters::hub_share)
      .def_rw("hub_degree", &SlimParameters::hub_degree)
      .def_rw("low_degree", &SlimParameters::low_degree)
      .def_rw("tradeoff_layer", &SlimParameters::tradeoff_layer)
      .def_rw("level_probability", &SlimParameters::level_probability);
  nb::class_<IndexOptions>(m, "IndexOptions")
      .def(nb::init<>())
      .def_rw("dim", &IndexOptions::dim)
      .def_rw("metric", &IndexOptions::metric)
      .def_rw("keep", &IndexOptions::keep)
      .def_rw("hot_budget", &IndexOptions::hot_budget)
      .def_rw("scalar", &IndexOptions::scalar)
      .def_rw("graph", &IndexOptions::graph)
      .def_rw("build", &IndexOptions::build)
      .def_rw("hub", &IndexOptions::hub)
      .def_rw("slim", &IndexOptions::slim)
      .def_rw("slim_by_in_degree", &IndexOptions::slim_by_in_degree)
      .def_rw("keep_source", &IndexOptions::keep_source);
}

void bind_progress(nb::module_& m) {
  nb::class_<Progress>(m, "Progress", "How far a long job is; the host polls it.")
      .def(nb::init<>())
      .def_prop_ro("phase", [](const Progress& p) { return std::string(p.phase.load()); })
      .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
      .def_prop_ro("total", [](const Progress& p) { return p.total.load(); })
      .def("cancel", [](Progress& p) { p.is_cancelled.store(true); }, "Asks the job to stop.");
}

void bind_sizes(nb::module_& m) {
  nb::class_<SlimSize>(m, "SlimSize")
      .def_ro("edge_count", &SlimSize::edge_count)
      .def_ro("chal_bytes", &SlimSize::chal_bytes)
      .def_ro("memory_bytes", &SlimSize::memory_bytes)
      .def_ro("disk_bytes", &SlimSize::disk_bytes);
  m.def("estimate_slim_bytes", &estimate_slim_bytes, nb::arg("node_count"), nb::arg("parameters"));
  m.def("propose_slim", &propose_slim, nb::arg("node_count"), nb::arg("byte_budget"));
}

}  // namespace

void bind_options(nb::module_& m) {
  bind_enums(m);
  bind_records(m);
  bind_progress(m);
  bind_sizes(m);
}
