#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "chunking/chunks.h"
#include "chunking/context.h"
#include "links/anchors.h"
#include "text.h"
#include "text/wordpiece.h"

namespace gossamer {
namespace {

using NumberMatrix = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumberRow = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TokenStarts = nb::typed<nb::callable, nb::ndarray<nb::numpy, std::uint32_t>(nb::bytes)>;
using Pair = std::pair<std::size_t, std::size_t>;
using Chunk = std::tuple<std::size_t, std::size_t, std::vector<Pair>>;

FindTokens find_by(const WordPiece& pieces) {
  return [&pieces](std::string_view text) { return pieces.tokenize(text).starts; };
}

// A tokenizer that is not the core's.
FindTokens find_by(const TokenStarts& token_starts) {
  return [&token_starts](std::string_view text) {
    const auto starts = nb::cast<NumberRow>(token_starts(bytes_of(text)));
    return std::vector<std::uint32_t>(starts.data(), starts.data() + starts.size());
  };
}

// Rows of four: 1 for a definition or 0, start, end, start of its body or 0.
std::vector<Capture> captures_of(const NumberMatrix& rows) {
  expect(rows.shape(1) == 4, Reason::kInvalidArgument, "captures must be rows of four numbers");
  std::vector<Capture> captures;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const std::uint32_t* row = rows.data() + 4 * i;
    captures.push_back({row[0] != 0, row[1], row[2], row[3]});
  }
  return captures;
}

std::vector<Chunk> rows_of(const std::vector<ChunkSpan>& chunks) {
  std::vector<Chunk> rows;
  for (const ChunkSpan& chunk : chunks) {
    std::vector<Pair> context;
    for (const TextSpan& heading : chunk.context) context.emplace_back(heading.start, heading.end);
    rows.emplace_back(chunk.span.start, chunk.span.end, std::move(context));
  }
  return rows;
}

auto chunk_by_pieces(const nb::bytes& text, const std::string& markup, const NumberMatrix& rows,
                     const WordPiece& tokenizer, std::size_t size, const nb::bytes& line) {
  const std::vector<Capture> captures = captures_of(rows);
  const ChunkOptions options{size, text_of(line), markup, captures};
  const std::string_view whole = text_of(text);
  std::vector<ChunkSpan> chunks;
  {
    const nb::gil_scoped_release release;
    chunks = chunk_document(whole, options, find_by(tokenizer));
  }
  return rows_of(chunks);
}

auto chunk_by_function(const nb::bytes& text, const std::string& markup, const NumberMatrix& rows,
                       const TokenStarts& token_starts, std::size_t size, const nb::bytes& line) {
  const std::vector<Capture> captures = captures_of(rows);
  const ChunkOptions options{size, text_of(line), markup, captures};
  return rows_of(chunk_document(text_of(text), options, find_by(token_starts)));
}

nb::bytes embedded_text_of(const nb::bytes& line, const std::vector<nb::bytes>& headings,
                           const nb::bytes& body) {
  std::vector<std::string_view> views;
  for (const nb::bytes& heading : headings) views.push_back(text_of(heading));
  const std::string text = embedded_text(shorten_line(text_of(line)), views, text_of(body));
  return bytes_of(text);
}

using Given = std::pair<std::size_t, nb::bytes>;

nb::bytes anchors_of(const nb::bytes& text, const std::string& markup, bool has_slugs,
                     const std::vector<Given>& given, const std::vector<Pair>& innermost) {
  std::vector<GivenAnchor> anchors;
  for (const auto& [offset, id] : given) anchors.push_back({offset, text_of(id)});
  std::vector<TextSpan> headings;
  for (const auto& [start, end] : innermost) headings.push_back({start, end});
  return bytes_of(write_anchors(text_of(text), {markup, has_slugs, anchors, headings}));
}

}  // namespace
}  // namespace gossamer

void bind_chunking(nanobind::module_& m) {
  namespace nb = nanobind;
  m.def("chunk_document", &gossamer::chunk_by_pieces, nb::arg("text"), nb::arg("markup"),
        nb::arg("captures"), nb::arg("tokenizer"), nb::arg("size"), nb::arg("line"));
  m.def("chunk_document", &gossamer::chunk_by_function, nb::arg("text"), nb::arg("markup"),
        nb::arg("captures"), nb::arg("token_starts"), nb::arg("size"), nb::arg("line"));
  m.def(
      "context_line",
      [](const nb::bytes& name, const nb::bytes& title) {
        return gossamer::bytes_of(
            gossamer::context_line(gossamer::text_of(name), gossamer::text_of(title)));
      },
      nb::arg("name"), nb::arg("title"));
  m.def("write_anchors", &gossamer::anchors_of, nb::arg("text"), nb::arg("markup"),
        nb::arg("has_slugs"), nb::arg("given"), nb::arg("innermost"));
  m.def("embedded_text", &gossamer::embedded_text_of, nb::arg("line"), nb::arg("headings"),
        nb::arg("body"));
}
