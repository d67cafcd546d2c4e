#include "query.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "arrays.h"
#include "query/snippet.h"

namespace gossamer {
namespace {

auto tuple_of(const Snippet& snippet) {
  return std::make_tuple(bytes_of(snippet.text), snippet.highlights, snippet.line,
                         snippet.first_line);
}

auto choose(const nb::bytes& text, const nb::bytes& words, std::size_t max_lines,
            std::size_t max_characters) {
  return tuple_of(choose_snippet(show(text_of(text), Marks::kNone), LexicalQuery(text_of(words)),
                                 nullptr, max_lines, max_characters));
}

auto show_whole(const nb::bytes& text, const nb::bytes& words) {
  return tuple_of(whole_snippet(show(text_of(text), Marks::kNone), LexicalQuery(text_of(words))));
}

}  // namespace
}  // namespace gossamer

void bind_query(nanobind::module_& m) {
  namespace nb = nanobind;
  m.def("choose_snippet", &gossamer::choose, nb::arg("text"), nb::arg("words"),
        nb::arg("max_lines"), nb::arg("max_characters"),
        "The lines of a text that hold most of a question's words: their text, spans of characters "
        "to highlight, the best line, the first line.");
  m.def("whole_snippet", &gossamer::show_whole, nb::arg("text"), nb::arg("words"),
        "The same of a whole text.");
}
