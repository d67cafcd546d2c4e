#include "store/package.h"

#include <nanobind/stl/string_view.h>

#include "arrays.h"
#include "store.h"

using namespace gossamer;

void bind_package(nb::module_& m) {
  m.attr("PACKAGE_START") = nb::int_(kPackageStart);
  m.def(
      "read_package_head",
      [](const nb::bytes& start, std::uint64_t file_size) {
        return bytes_of(read_package_head(view_of(start), file_size));
      },
      nb::arg("start"), nb::arg("file_size"));
  m.def(
      "read_package_rows",
      [](const nb::bytes& section, std::string_view letters) {
        return bytes_of(read_package_rows(text_of(section), letters));
      },
      nb::arg("section"), nb::arg("letters"));
}
