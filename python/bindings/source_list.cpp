#include "store/source_list.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "store.h"
#include "store/segment_file.h"

using namespace gossamer;

namespace {

// Columns as views of a list, which stays as long as any of them.
nb::object table_of(const Table& table, nb::handle owner) {
  const auto view = [&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const std::size_t shape[1] = {values.size()};
    return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), 1, shape, owner));
  };
  if (table.schema->is_bytes) return view(table.content);
  nb::dict columns, children;
  for (std::size_t number = 0; number < table.columns.size(); ++number) {
    const std::string_view name = table.schema->column(number).name;
    columns[nb::str(name.data(), name.size())] = view(table.columns[number]);
  }
  for (std::size_t number = 0; number < table.children.size(); ++number) {
    const std::string_view name = table.schema->children[number].name;
    children[nb::str(name.data(), name.size())] = table_of(table.children[number], owner);
  }
  return nb::make_tuple(columns, children);
}

std::vector<nb::bytes> strings_of(const SourceList& list) {
  std::vector<nb::bytes> words;
  for (std::size_t i = 0; i < list.strings().size(); ++i)
    words.push_back(bytes_of(list.strings()[static_cast<std::int64_t>(i)]));
  return words;
}

std::vector<std::size_t> rows_of(const IdRow& rows) {
  return {rows.data(), rows.data() + rows.size()};
}

std::span<const std::int64_t> numbers_of(const IntRow& row) { return {row.data(), row.size()}; }

}  // namespace

void bind_source_list(nb::module_& m) {
  nb::class_<SourceList>(m, "SourceList")
      .def(nb::init<>())
      .def_static(
          "read",
          [](const nb::bytes& data, bool is_own, const Codecs& codecs) {
            return SourceList::read(view_of(data), is_own ? Origin::kOwn : Origin::kOther,
                                    codecs.columns);
          },
          nb::arg("data"), nb::arg("is_own"), nb::arg("codecs"))
      .def(
          "pack",
          [](const SourceList& self, const Codecs& codecs) {
            return bytes_of(self.pack(codecs.columns));
          },
          nb::arg("codecs"))
      .def_prop_ro("words", &strings_of)
      .def("tables",
           [](nb::handle_t<SourceList> self) {
             return table_of(nb::cast<const SourceList&>(self).sources(), self);
           })
      .def("text_lengths",
           [](const SourceList& self) {
             Ints lengths = self.text_lengths();
             const std::size_t count = lengths.size();
             return to_numpy(std::move(lengths), {count});
           })
      .def("order",
           [](const SourceList& self) {
             const std::vector<std::size_t> order = self.order();
             return to_numpy(std::vector<std::uint64_t>(order.begin(), order.end()),
                             {order.size()});
           })
      .def(
          "take",
          [](const SourceList& self, const IdRow& rows) { return self.take(rows_of(rows)); },
          nb::arg("rows"))
      .def("join", &SourceList::join, nb::arg("other"))
      .def(
          "place_texts",
          [](const SourceList& self, const IntRow& segments, const IntRow& offsets) {
            return self.place_texts(numbers_of(segments), numbers_of(offsets));
          },
          nb::arg("segments"), nb::arg("offsets"))
      .def("put_texts_away", &SourceList::put_texts_away)
      .def(
          "rename_roots",
          [](const SourceList& self, const std::vector<nb::bytes>& names) {
            std::vector<std::string> texts;
            for (const nb::bytes& name : names) texts.push_back(string_of(name));
            return self.rename_roots(texts);
          },
          nb::arg("names"))
      .def(
          "give_content",
          [](const SourceList& self, const nb::typed<nb::callable, void(nb::bytes)>& take_piece) {
            self.give_content([&](ByteView piece) { take_piece(bytes_of(piece)); });
          },
          nb::arg("take_piece"));
}
