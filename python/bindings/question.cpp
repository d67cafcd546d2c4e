#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "base/progress.h"
#include "index/index.h"
#include "lexical.h"
#include "query/needs.h"
#include "query/session.h"
#include "store.h"
#include "store/text_store.h"

using namespace gossamer;

namespace {

// Every call lets other threads of Python run: what it waits for may be held by one that asks
// Python to unpack something.
using Free = nb::call_guard<nb::gil_scoped_release>;

// What a server says of a chunk: id, title, body, embedded text, first and last line.
using AwayTuple =
    std::tuple<std::uint64_t, nb::bytes, nb::bytes, nb::bytes, std::int64_t, std::int64_t>;

std::vector<std::optional<AwayText>> read_away(const std::vector<std::optional<AwayTuple>>& given) {
  std::vector<std::optional<AwayText>> chunks;
  for (const std::optional<AwayTuple>& one : given) {
    if (one) {
      const auto& [id, title, body, embedded, first, last] = *one;
      chunks.push_back(
          AwayText{id, string_of(title), string_of(body), string_of(embedded), first, last});
    } else {
      chunks.push_back(std::nullopt);
    }
  }
  return chunks;
}

// Views of bytes that the list keeps.
std::vector<std::optional<ByteView>> views_of(const std::vector<std::optional<nb::bytes>>& given) {
  std::vector<std::optional<ByteView>> views;
  for (const std::optional<nb::bytes>& one : given)
    views.push_back(one ? std::optional(view_of(*one)) : std::nullopt);
  return views;
}

// Calls a function without the lock of Python, and gives its text as bytes.
template <class Give>
nb::bytes text_from(const Give& give) {
  std::string text;
  {
    const nb::gil_scoped_release release;
    text = give();
  }
  return bytes_of(text);
}

void count_words(QuerySession& session, const TextStore& texts, unsigned threads,
                 Progress* progress) {
  const nb::gil_scoped_release release;
  count_pieces(session.pass(), texts, threads, progress);
  session.finish_words();
}

void supply_ranking(QuerySession& session, const IdRow& ids, const std::vector<nb::bytes>& terms,
                    std::vector<std::uint64_t> chunks_with) {
  std::vector<std::string> names;
  for (const nb::bytes& term : terms) names.push_back(string_of(term));
  const nb::gil_scoped_release release;
  session.supply_ranking(view_of(ids), std::move(names), std::move(chunks_with));
}

void supply_vectors(QuerySession& session, const ByteRow& states, const FloatMatrix& rows) {
  std::vector<Supplied> read;
  for (std::size_t i = 0; i < states.size(); ++i) {
    expect(states.data()[i] <= static_cast<std::uint8_t>(Supplied::kOutOfReach),
           Reason::kInvalidArgument, "there is no such state of a vector");
    read.push_back(static_cast<Supplied>(states.data()[i]));
  }
  const nb::gil_scoped_release release;
  session.supply_vectors(read, {rows.data(), rows.size()});
}

using Ids = nb::ndarray<nb::numpy, std::uint64_t>;

std::optional<Ids> allowed_ids(const QuerySession& session) {
  std::optional<std::vector<std::uint64_t>> ids;
  {
    const nb::gil_scoped_release release;
    ids = session.allowed_ids();
  }
  if (!ids) return std::nullopt;
  const std::size_t count = ids->size();
  return to_numpy(*std::move(ids), {count});
}

std::unique_ptr<Collection> make_collection(std::shared_ptr<Catalogue> catalogue,
                                            const std::vector<nb::bytes>& roots) {
  std::vector<std::string> folders;
  for (const nb::bytes& root : roots) folders.push_back(string_of(root));
  return std::make_unique<Collection>(std::move(catalogue), std::move(folders));
}

std::unique_ptr<QuerySession> make_session(const Collection& collection, bool has_vectors,
                                           const nb::bytes& query) {
  const std::string_view json = text_of(query);
  const nb::gil_scoped_release release;
  return std::make_unique<QuerySession>(collection, has_vectors, Query::read(json));
}

// Of each document, by row, whether a filter lets it through.
nb::ndarray<nb::numpy, bool> allow(const Collection& collection, const nb::bytes& filter) {
  const std::string given = string_of(filter);
  std::shared_ptr<const Allowed> allowed;
  {
    const nb::gil_scoped_release release;
    allowed = collection.allow(given);
  }
  auto* rows = new bool[allowed->size()];
  std::copy(allowed->begin(), allowed->end(), rows);
  const nb::capsule owner(rows, [](void* data) noexcept { delete[] static_cast<bool*>(data); });
  return nb::ndarray<nb::numpy, bool>(rows, {allowed->size()}, owner);
}

const ChunkLayout& layout_of(const Collection& collection) {
  const nb::gil_scoped_release release;
  return collection.layout();
}

// The files that words are counted in, unless a filter leaves them out.
std::vector<nb::bytes> files_of(const Collection& collection) {
  const ChunkLayout& layout = layout_of(collection);
  std::vector<nb::bytes> files;
  for (const std::uint32_t number : layout.text_order()) {
    const ChunkLayout::Document& document = layout.documents()[number];
    if (document.segment == kVerbatim) files.push_back(bytes_of(layout.path_of(document)));
  }
  return files;
}

void bind_collection(nb::module_& m) {
  nb::class_<Collection>(m, "Collection")
      .def(nb::new_(&make_collection), nb::arg("catalogue"), nb::arg("roots"),
           nb::keep_alive<0, 2>())
      .def("allow", &allow, nb::arg("filter"))
      .def(
          "set_site",
          [](Collection& self, const nb::bytes& base, const nb::bytes& style) {
            self.set_site({string_of(base), Site::read_style(text_of(style))});
          },
          nb::arg("base"), nb::arg("style"))
      .def("files", &files_of)
      .def(
          "count_document",
          [](const Collection& self, std::uint64_t first_id, const nb::bytes& text,
             PostingsWriter& words) {
            const nb::gil_scoped_release release;
            count_document(self.layout(), first_id, text_of(text), words);
          },
          nb::arg("first_id"), nb::arg("text"), nb::arg("words"))
      .def_static(
          "postings_head_bytes",
          [](const nb::bytes& start, std::uint64_t size) {
            return PostingsView::head_bytes(view_of(start), size);
          },
          nb::arg("start"), nb::arg("size"))
      .def(
          "attach_postings",
          [](Collection& self, const nb::bytes& head, std::uint64_t size) {
            self.attach_postings(view_of(head), size);
          },
          nb::arg("head"), nb::arg("size"))
      .def_prop_ro("has_away_texts",
                   [](const Collection& self) { return layout_of(self).has_away_texts(); });
}

// What is read for a question, and for chunks alone.
template <class Reader>
void bind_texts(nb::class_<Reader>& bound,
                void (Reader::*supply)(std::span<const std::optional<AwayText>>, bool)) {
  bound
      .def(
          "supply_texts",
          [](Reader& self, const std::vector<std::optional<nb::bytes>>& spans) {
            const std::vector<std::optional<ByteView>> views = views_of(spans);
            const nb::gil_scoped_release release;
            self.supply_texts(views);
          },
          nb::arg("spans"))
      .def(
          "supply_chunks",
          [supply](Reader& self, const std::vector<std::optional<AwayTuple>>& chunks,
                   bool is_answered) {
            const std::vector<std::optional<AwayText>> texts = read_away(chunks);
            const nb::gil_scoped_release release;
            (self.*supply)(texts, is_answered);
          },
          nb::arg("chunks"), nb::arg("is_answered"));
}

void bind_session(nb::module_& m) {
  nb::class_<QuerySession> bound(m, "QuerySession");
  bind_texts(bound, &QuerySession::supply_chunks);
  bound.attr("most_tokens") = QuestionTokens::kMostTokens;
  bound
      .def(nb::new_(&make_session), nb::arg("collection"), nb::arg("has_vectors"), nb::arg("query"),
           nb::keep_alive<0, 2>())
      .def("needs",
           [](const QuerySession& self) { return text_from([&] { return self.needs(); }); })
      .def("answer",
           [](const QuerySession& self) { return text_from([&] { return self.answer(); }); })
      .def(
          "supply_question",
          [](QuerySession& self, const Index& vectors, const FloatRow& vector,
             const FloatMatrix& tokens, const NumberRow& starts) {
            const nb::gil_scoped_release release;
            self.supply_question(vectors, {vector.data(), vector.size()},
                                 {tokens.data(), tokens.size()}, {starts.data(), starts.size()});
          },
          nb::arg("vectors"), nb::arg("vector"), nb::arg("tokens"), nb::arg("starts"),
          nb::keep_alive<1, 2>())
      .def("count_words", &count_words, nb::arg("texts"), nb::arg("threads"),
           nb::arg("progress").none())
      .def("supply_ranking", &supply_ranking, nb::arg("ids"), nb::arg("terms"),
           nb::arg("chunks_with"))
      .def("read_words", &QuerySession::count_words, Free())
      .def(
          "supply_postings",
          [](QuerySession& self, const std::vector<nb::bytes>& ranges) {
            std::vector<ByteView> views;
            for (const nb::bytes& range : ranges) views.push_back(view_of(range));
            const nb::gil_scoped_release release;
            self.supply_postings(views);
          },
          nb::arg("ranges"))
      .def("allowed_ids", &allowed_ids)
      .def("supply_vectors", &supply_vectors, nb::arg("states"), nb::arg("rows"))
      .def(
          "supply_embeddings",
          [](QuerySession& self, const FloatMatrix& rows, const FloatMatrix& tokens,
             const NumberRow& counts, const NumberRow& starts) {
            const nb::gil_scoped_release release;
            self.supply_embeddings({rows.data(), rows.size()}, {{tokens.data(), tokens.size()},
                                                                {counts.data(), counts.size()},
                                                                {starts.data(), starts.size()}});
          },
          nb::arg("rows"), nb::arg("tokens"), nb::arg("counts"), nb::arg("starts"))
      .def(
          "supply_scores",
          [](QuerySession& self, const FloatRow& scores) {
            const nb::gil_scoped_release release;
            self.supply_scores({scores.data(), scores.size()});
          },
          nb::arg("scores"));
}

// Chunks that are read outside of a question.

std::string needs_of(const PassageReader& reader) {
  NeedsWriter needs;
  needs.texts(reader.texts());
  needs.chunks(reader.away());
  return needs.take();
}

// Path, title, body, embedded text, first and last line.
using TextTuple =
    std::tuple<nb::bytes, nb::bytes, nb::bytes, nb::bytes, std::int64_t, std::int64_t>;

TextTuple text_tuple(const Passage& passage) {
  return {bytes_of(passage.chunk.document->path),
          bytes_of(passage.title),
          bytes_of(passage.body),
          bytes_of(passage.embedded),
          passage.first,
          passage.last};
}

std::vector<std::optional<TextTuple>> texts_of(const PassageReader& reader, const IdRow& ids) {
  std::vector<std::optional<TextTuple>> texts;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Passage* passage = reader.find(ids.data()[i]);
    texts.push_back(passage ? std::optional(text_tuple(*passage)) : std::nullopt);
  }
  return texts;
}

std::string hit_of(const PassageReader& reader, std::uint64_t id) {
  const Passage* passage = reader.find(id);
  expect(passage != nullptr, Reason::kWrongState, "the chunk was not read");
  JsonWriter json;
  const Showing showing{LexicalQuery(""), nullptr, false, &reader.collection().site()};
  write_hit(json, {*passage, {id, 0, 0, 0}, std::nullopt}, 1, showing);
  return json.take();
}

std::string needs_around(const PassageReader& reader, std::uint64_t id, std::size_t margin) {
  const Passage* passage = reader.find(id);
  expect(passage != nullptr, Reason::kWrongState, "the chunk was not read");
  const TextNeed need = text_around(*passage, margin);
  NeedsWriter needs;
  needs.texts({&need, 1});
  return needs.take();
}

void bind_passages(nb::module_& m) {
  nb::class_<PassageReader> bound(m, "PassageReader");
  bind_texts(bound, &PassageReader::supply_away);
  bound.def(nb::init<const Collection&>(), nb::arg("collection"), nb::keep_alive<1, 2>())
      .def(
          "begin",
          [](PassageReader& self, const IdRow& ids, bool with_places) {
            const nb::gil_scoped_release release;
            self.begin({ids.data(), ids.size()}, with_places);
          },
          nb::arg("ids"), nb::arg("with_places"))
      .def("needs",
           [](const PassageReader& self) { return text_from([&] { return needs_of(self); }); })

      .def("texts", &texts_of, nb::arg("ids"))
      .def(
          "around",
          [](const PassageReader& self, std::uint64_t id, std::size_t margin) {
            return text_from([&] { return needs_around(self, id, margin); });
          },
          nb::arg("id"), nb::arg("margin"))
      .def(
          "hit",
          [](const PassageReader& self, std::uint64_t id) {
            return text_from([&] { return hit_of(self, id); });
          },
          nb::arg("id"));
}

}  // namespace

void bind_question(nb::module_& m) {
  m.def(
      "is_safe_url", [](const nb::bytes& url) { return is_safe_url(text_of(url)); },
      nb::arg("url"));
  bind_collection(m);
  bind_session(m);
  bind_passages(m);
}
