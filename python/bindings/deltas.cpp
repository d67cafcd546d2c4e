#include "deltas.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.h"
#include "index/delta.h"
#include "storage/container.h"

using namespace gossamer;

namespace {

nb::bytes join(const std::vector<nb::bytes>& deltas) {
  std::vector<ByteView> views;
  for (const nb::bytes& delta : deltas) views.push_back(view_of(delta));
  return bytes_of(release_for([&] { return join_packed_deltas(views); }));
}

// Kind, length and checksum of each section; only the header and the table are read.
std::vector<std::tuple<std::uint32_t, std::size_t, std::uint32_t>> sections(const ByteRow& file) {
  std::vector<std::tuple<std::uint32_t, std::size_t, std::uint32_t>> found;
  const Container container = Container::parse({file.data(), file.size()});
  for (const Container::Entry& entry : container.entries()) {
    found.emplace_back(static_cast<std::uint32_t>(entry.kind), entry.bytes.size(), entry.checksum);
  }
  return found;
}

}  // namespace

void bind_deltas(nb::module_& m) {
  nb::class_<DeltaBytes>(m, "DeltaBytes")
      .def_ro("graph", &DeltaBytes::graph)
      .def_ro("nodes", &DeltaBytes::nodes)
      .def_ro("codes", &DeltaBytes::codes)
      .def_ro("vectors", &DeltaBytes::vectors);
  m.def("join_deltas", &join, nb::arg("deltas"));
  m.def(
      "measure_delta", [](const nb::bytes& delta) { return measure_delta(view_of(delta)); },
      nb::arg("delta"));
  m.def("sections", &sections, nb::arg("file").noconvert());
}
