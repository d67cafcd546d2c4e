#include "storage/container.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "arrays.h"
#include "store.h"

using namespace gossamer;

namespace {

using ByteArray = nb::ndarray<nb::numpy, const std::uint8_t>;

ByteArray array_of(ByteView bytes, nb::handle owner) {
  const std::size_t shape[1] = {bytes.size()};
  return ByteArray(bytes.data(), 1, shape, owner);
}

// A file in the making, and what its parts point into.
struct ContainerParts {
  FileImage image;
  std::vector<ByteRow> sections;
  std::vector<ByteView> parts;
};

nb::list container_parts(const std::vector<std::pair<std::uint32_t, ByteRow>>& sections,
                         std::size_t least) {
  auto made = std::make_unique<ContainerParts>();
  for (const auto& [kind, bytes] : sections) {
    made->sections.push_back(bytes);
    made->image.add_view(static_cast<SectionKind>(kind), {bytes.data(), bytes.size()});
  }
  made->parts = made->image.finish(least);
  const std::vector<ByteView> parts = made->parts;
  const nb::capsule owner(
      made.release(), [](void* memory) noexcept { delete static_cast<ContainerParts*>(memory); });
  nb::list arrays;
  for (const ByteView part : parts) arrays.append(array_of(part, owner));
  return arrays;
}

}  // namespace

void bind_container(nb::module_& m) {
  nb::class_<Container>(m, "Container")
      .def(nb::new_(
               [](const ByteRow& file) { return Container::parse({file.data(), file.size()}); }),
           nb::arg("file"), nb::keep_alive<0, 2>())
      .def_prop_ro("lengths",
                   [](const Container& self) {
                     nb::typed<nb::dict, int, int> lengths;
                     for (const Container::Entry& entry : self.entries())
                       lengths[nb::int_(static_cast<int>(entry.kind))] = entry.length;
                     return lengths;
                   })
      .def_prop_ro("offsets",
                   [](const Container& self) {
                     nb::typed<nb::dict, int, int> offsets;
                     for (const Container::Entry& entry : self.entries())
                       offsets[nb::int_(static_cast<int>(entry.kind))] = entry.offset;
                     return offsets;
                   })
      .def(
          "has",
          [](const Container& self, std::uint32_t kind) {
            return self.has(static_cast<SectionKind>(kind));
          },
          nb::arg("kind"))
      .def(
          "section",
          [](nb::handle_t<Container> self, std::uint32_t kind) {
            const auto& container = nb::cast<const Container&>(self);
            return array_of(container.required(static_cast<SectionKind>(kind)), self);
          },
          nb::arg("kind"));
  m.def("container_parts", &container_parts, nb::arg("sections"), nb::arg("least"),
        nb::sig("def container_parts(sections: Sequence[tuple[int, "
                "numpy.typing.NDArray[numpy.uint8]]], least: int) -> "
                "list[numpy.typing.NDArray[numpy.uint8]]"));
}
