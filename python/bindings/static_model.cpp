#include "text/static_model.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/parallel.h"
#include "index/model_file.h"
#include "text.h"

namespace gossamer {
namespace {

// Texts handed to a worker at a time.
constexpr std::size_t kBlock = 8;

// A row for each text, and how many tokens each has.
auto embed(const StaticModel& model, const std::vector<nb::bytes>& texts, unsigned threads) {
  std::vector<std::string_view> views;
  for (const nb::bytes& text : texts) views.push_back(text_of(text));
  std::vector<float> rows(views.size() * model.dim());
  std::vector<std::uint32_t> counts(views.size());
  {
    nb::gil_scoped_release release;
    parallel_for(views.size(), resolve_threads(threads), kBlock, [&](std::size_t i, unsigned) {
      const auto row = std::span(rows).subspan(i * model.dim(), model.dim());
      counts[i] = static_cast<std::uint32_t>(model.embed(views[i], row));
    });
  }
  return std::make_pair(to_numpy(std::move(rows), {views.size(), model.dim()}),
                        to_numpy(std::move(counts)));
}

// The rows of all tokens of the texts, how many tokens each text has, and where each token begins.
auto embed_tokens(const StaticModel& model, const std::vector<nb::bytes>& texts) {
  std::vector<std::string_view> views;
  for (const nb::bytes& text : texts) views.push_back(text_of(text));
  std::vector<float> rows;
  std::vector<std::uint32_t> counts, starts;
  {
    nb::gil_scoped_release release;
    for (const std::string_view text : views) {
      const StaticModel::Tokens tokens = model.embed_tokens(text);
      rows.insert(rows.end(), tokens.rows.begin(), tokens.rows.end());
      counts.push_back(static_cast<std::uint32_t>(tokens.starts.size()));
      starts.insert(starts.end(), tokens.starts.begin(), tokens.starts.end());
    }
  }
  const std::size_t count = starts.size();
  return std::make_tuple(to_numpy(std::move(rows), {count, model.dim()}),
                         to_numpy(std::move(counts)), to_numpy(std::move(starts)));
}

}  // namespace
}  // namespace gossamer

void bind_static_model(nanobind::module_& m) {
  namespace nb = nanobind;
  using gossamer::StaticModel;
  nb::class_<StaticModel>(m, "StaticModel")
      .def(
          "__init__",
          [](StaticModel* self, const nb::bytes& file) {
            new (self) StaticModel(gossamer::read_static_model(gossamer::view_of(file)));
          },
          nb::arg("file"))
      .def_prop_ro("dim", &StaticModel::dim)
      .def_prop_ro("max_tokens", &StaticModel::max_tokens)
      .def_prop_ro("description",
                   [](const StaticModel& model) { return gossamer::bytes_of(model.description()); })
      .def_prop_ro("tokenizer", &StaticModel::tokenizer, nb::rv_policy::reference_internal)
      .def("embed", &gossamer::embed, nb::arg("texts"), nb::arg("threads") = 1u)
      .def("embed_tokens", &gossamer::embed_tokens, nb::arg("texts"));
}
