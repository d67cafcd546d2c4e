#include "filters.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "filters/filter.h"

using namespace gossamer;

namespace {

bool matches(const Filter& filter, const nb::bytes& given) {
  Json values;
  values.read(text_of(given), "what a document has", Reason::kInvalidArgument);
  std::vector<const JsonValue*> fields;
  for (const std::string_view name : filter.names()) fields.push_back(values.find(name));
  return filter.matches(fields);
}

std::vector<nb::bytes> names_of(const Filter& filter) {
  std::vector<nb::bytes> names;
  for (const std::string_view name : filter.names()) names.push_back(bytes_of(name));
  return names;
}

}  // namespace

void bind_filters(nb::module_& m) {
  nb::class_<Filter>(m, "Filter")
      .def_static(
          "read",
          [](const nb::bytes& given) {
            return std::unique_ptr<Filter>(new Filter(Filter::read(text_of(given))));
          },
          nb::arg("given"))
      .def_prop_ro("names", &names_of)
      .def("matches", &matches, nb::arg("fields"));
}
