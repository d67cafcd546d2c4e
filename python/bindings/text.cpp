#include "text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/parallel.h"
#include "text/wordpiece.h"

namespace gossamer {
namespace {

// Texts handed to a worker at a time.
constexpr std::size_t kBlock = 8;

// The list keeps its texts alive, so that views of them may be used without the interpreter.
template <class T, class Make>
std::vector<nb::ndarray<nb::numpy, T>> for_each_text(const std::vector<nb::bytes>& texts,
                                                     unsigned threads, const Make& make) {
  std::vector<std::string_view> views;
  for (const nb::bytes& text : texts) views.push_back(text_of(text));
  std::vector<std::vector<T>> made(views.size());
  {
    nb::gil_scoped_release release;
    parallel_for(views.size(), resolve_threads(threads), kBlock,
                 [&](std::size_t i, unsigned) { made[i] = make(views[i]); });
  }
  std::vector<nb::ndarray<nb::numpy, T>> arrays;
  for (std::vector<T>& values : made) arrays.push_back(to_numpy(std::move(values)));
  return arrays;
}

auto token_starts(const WordPiece& pieces, const std::vector<nb::bytes>& texts, unsigned threads) {
  return for_each_text<std::uint32_t>(
      texts, threads, [&](std::string_view text) { return pieces.tokenize(text).starts; });
}

auto encode(const WordPiece& pieces, const std::vector<nb::bytes>& texts,
            const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
            unsigned threads) {
  return for_each_text<std::int64_t>(texts, threads, [&](std::string_view text) {
    const Tokens tokens = pieces.tokenize(text);
    std::vector<std::int64_t> ids = before;
    ids.reserve(before.size() + tokens.ids.size() + after.size());
    ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
    ids.insert(ids.end(), after.begin(), after.end());
    return ids;
  });
}

std::optional<std::uint32_t> id_of(const WordPiece& pieces, const std::string& piece) {
  const std::uint32_t id = pieces.id_of(piece);
  return id == Trie::kNone ? std::nullopt : std::optional(id);
}

}  // namespace
}  // namespace gossamer

void bind_text(nanobind::module_& m) {
  namespace nb = nanobind;
  using gossamer::WordPiece;
  nb::class_<WordPiece>(m, "WordPiece")
      .def(
          "__init__",
          [](WordPiece* self, const nb::bytes& vocabulary, bool lowercase,
             const std::vector<std::string>& specials) {
            new (self) WordPiece(gossamer::text_of(vocabulary), lowercase, specials);
          },
          nb::arg("vocabulary"), nb::arg("lowercase"), nb::arg("specials"))
      .def_prop_ro("size", &WordPiece::size)
      .def("id_of", &gossamer::id_of, nb::arg("piece"))
      .def("token_starts", &gossamer::token_starts, nb::arg("texts"), nb::arg("threads") = 1u)
      .def("encode", &gossamer::encode, nb::arg("texts"), nb::arg("before"), nb::arg("after"),
           nb::arg("threads") = 1u);
}
