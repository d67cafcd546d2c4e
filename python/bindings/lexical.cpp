#include "lexical.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "file_reader.h"
#include "lexical/postings.h"
#include "query/words.h"
#include "store/schema.h"
#include "store/text_store.h"

namespace gossamer {
namespace {

// What a thread reads files with.
struct Reading {
  FileReader files;
  std::vector<char> room;
};

// Reads a piece and counts it.
void count_piece(WordPass& pass, const WordPiece& piece, const TextStore& texts, Reading& own) {
  if (piece.segment == kVerbatim) {
    const auto size = static_cast<std::size_t>(piece.end - piece.begin);
    if (own.room.size() < size) own.room.resize(size);
    const std::size_t read =
        own.files.read(std::string(pass.path_of(piece)), piece.begin, {own.room.data(), size});
    pass.count(piece, {own.room.data(), read});
  } else {
    const Bytes text = texts.read(piece.segment, piece.begin, piece.end);
    pass.count(piece, {reinterpret_cast<const char*>(text.data()), text.size()});
  }
}

// The best chunks by their words with their scores, the terms and how many chunks hold each, how
// many chunks were counted, bytes that were read, and the rows of sources that could not be.
auto rank_words(const Collection& collection, const TextStore& texts, const nb::bytes& question,
                std::size_t best, unsigned threads, const std::optional<nb::bytes>& filter) {
  const LexicalQuery query(text_of(question));
  WordRanking ranking;
  std::set<std::size_t> unreadable;
  std::uint64_t bytes_read = 0;
  {
    const nb::gil_scoped_release release;
    Scope scope;
    if (filter) scope.allowed = collection.allow(string_of(*filter));
    WordPass pass(query, collection.layout(), scope);
    count_pieces(pass, texts, threads, nullptr);
    ranking = pass.rank(best);
    unreadable.insert(pass.unreadable_sources().begin(), pass.unreadable_sources().end());
    bytes_read = pass.bytes_read();
  }
  return std::make_tuple(to_numpy(std::move(ranking.ids)), to_numpy(std::move(ranking.scores)),
                         query.terms(), ranking.chunks_with, ranking.chunks, bytes_read,
                         std::vector<std::size_t>(unreadable.begin(), unreadable.end()));
}

void bind_terms(nb::module_& m) {
  m.def(
      "question_terms",
      [](const nb::bytes& question) { return LexicalQuery(text_of(question)).terms(); },
      nb::arg("question"), "What a question asks for: its terms, each once.");
  m.def(
      "find_terms",
      [](const nb::bytes& text, const nb::bytes& question) {
        return LexicalQuery(text_of(question)).find_in(text_of(text));
      },
      nb::arg("text"), nb::arg("question"), "Where terms of a question stand in a text, in bytes.");
  m.def(
      "spaced_terms", [](const nb::bytes& text) { return spaced_terms(text_of(text)); },
      nb::arg("text"), "The terms of a text, with spaces between them.");
}

void bind_postings(nb::module_& m) {
  nb::class_<PostingsWriter>(m, "PostingsWriter")
      .def(nb::init<>())
      .def(
          "add",
          [](PostingsWriter& self, std::uint32_t chunk, const nb::bytes& text) {
            self.add(chunk, text_of(text));
          },
          nb::arg("chunk"), nb::arg("text"))
      .def(
          "finish",
          [](const PostingsWriter& self, std::uint32_t chunks, const NumberRow& numbers) {
            return bytes_of(self.finish(chunks, {numbers.data(), numbers.size()}));
          },
          nb::arg("chunks"), nb::arg("numbers"));
}

void bind_ranking(nb::module_& m) {
  m.def("rank_words", &rank_words, nb::arg("collection"), nb::arg("texts"), nb::arg("question"),
        nb::arg("best"), nb::arg("threads"), nb::arg("filter").none(),
        "The chunks that answer a question best by their words.");
}

}  // namespace

void count_pieces(WordPass& pass, const TextStore& texts, unsigned threads, Progress* progress) {
  const std::span<const WordPiece> pieces = pass.pieces();
  if (progress) progress->start(pieces.size());
  std::vector<Reading> readings(resolve_threads(threads));
  const auto workers = static_cast<unsigned>(readings.size());
  parallel_for(pieces.size(), workers, 8, [&](std::size_t i, unsigned worker) {
    if (progress) progress->throw_if_cancelled();
    count_piece(pass, pieces[i], texts, readings[worker]);
    if (progress) progress->advance();
  });
}

}  // namespace gossamer

void bind_lexical(nanobind::module_& m) {
  gossamer::bind_terms(m);
  gossamer::bind_postings(m);
  gossamer::bind_ranking(m);
}
