// Questions: a collection, sessions over it, and chunks that are read. See core/query.ts.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "open_index.h"
#include "query/needs.h"
#include "query/session.h"
#include "segments.h"
#include "store/verify.h"
#include "text/json.h"

namespace gossamer {

// See exports_filters.cpp.
std::shared_ptr<const Allowed> Collection::allow(const std::string& filter) const {
  std::shared_ptr<const Allowed> known = find_allowed(filter);
  expect(known != nullptr, Reason::kWrongState, "what the filter lets through was not given");
  return known;
}

// See core/query/session_scores.cpp: no model of a page scores.
void QuerySession::begin_scoring() { stage_ = Stage::kScore; }
void QuerySession::finish_scoring() {
  stage_ = Stage::kRead;
  read_next();
}
void QuerySession::need_scores(NeedsWriter&) const {}

namespace wasm {
namespace {

Collection* collect(std::vector<std::shared_ptr<const Segment>> segments) {
  return new Collection(std::make_shared<const Catalogue>(std::move(segments)), {});
}

// Parts of one stretch of memory, one after the other; a length below 0 is that of nothing.
template <class Part>
std::vector<Part> cut(const std::uint8_t* bytes, const double* lengths, std::size_t count) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) {
    if (lengths[i] < 0) {
      parts.emplace_back();
      continue;
    }
    const auto length = static_cast<std::size_t>(lengths[i]);
    parts.emplace_back(ByteView(bytes, length));
    bytes += length;
  }
  return parts;
}

// What a server said of chunks: a list of objects, null for one that it has not got.
std::vector<std::optional<AwayText>> read_away(std::string_view text) {
  Json json;
  json.read(text, "what the server said", Reason::kInvalidArgument);
  std::vector<std::optional<AwayText>> chunks;
  for (const std::size_t at : json.items(0)) {
    if (!json.values()[at].is(JsonValue::Kind::kObject)) {
      chunks.push_back(std::nullopt);
      continue;
    }
    AwayText chunk{};
    for (const std::size_t name_at : json.items(at)) {
      const std::string_view name = json.values()[name_at].text;
      const JsonValue& value = json.values()[name_at + 1];
      if (name == "id") chunk.id = static_cast<std::uint64_t>(value.integer);
      if (name == "title") chunk.title = value.text;
      if (name == "body") chunk.body = value.text;
      if (name == "embedded") chunk.embedded = value.text;
      if (name == "first") chunk.first = value.integer;
      if (name == "last") chunk.last = value.integer;
    }
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace

// What a list holds, which is taken over.
GOSSAMER_EXPORT(collection_of_list) Collection* collection_of_list(SourceList* list) {
  const std::unique_ptr<SourceList> taken(list);
  return collect({std::make_shared<const Segment>(std::move(*taken))});
}

// What segments hold, oldest first, whose files are taken over.
GOSSAMER_EXPORT(collection_of_segments)
Collection* collection_of_segments(SegmentFile** files, const double* numbers, std::size_t count) {
  return collect(take_segments(files, numbers, count));
}

// Where people read what is in it: the base, and how sites name pages behind it.
GOSSAMER_EXPORT(collection_set_site)
void collection_set_site(Collection* collection, const std::uint8_t* base, std::size_t size,
                         std::size_t style_size) {
  const UrlStyle style = Site::read_style(text_of(base + size, style_size));
  collection->set_site({std::string(text_of(base, size)), style});
}

GOSSAMER_EXPORT(collection_free) void collection_free(Collection* collection) { delete collection; }

// Sources, documents, chunks; then bytes of text that is here, and whether some is not.
GOSSAMER_EXPORT(collection_counts) void collection_counts(const Collection* collection) {
  const Counts& counts = collection->catalogue().counts();
  const ChunkLayout& layout = collection->layout();
  given().numbers = {static_cast<double>(counts.sources), static_cast<double>(counts.documents),
                     static_cast<double>(counts.chunks), static_cast<double>(layout.text_bytes()),
                     layout.has_away_texts() ? 1.0 : 0.0};
  given().first = given().numbers.data();
}

// The first chunks of so many documents, at even distances.
GOSSAMER_EXPORT(collection_sample)
std::size_t collection_sample(const Collection* collection, std::size_t count) {
  const std::span<const ChunkLayout::Document> documents = collection->layout().documents();
  const std::size_t step =
      std::max<std::size_t>(1, documents.size() / std::max<std::size_t>(1, count));
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < documents.size() && ids.size() < count; i += step)
    ids.push_back(documents[i].first_id);
  give_ids(ids);
  return ids.size();
}

GOSSAMER_EXPORT(collection_knows)
std::uint32_t collection_knows(const Collection* collection, const std::uint8_t* filter,
                               std::size_t size) {
  return collection->find_allowed(std::string(text_of(filter, size))) ? 1 : 0;
}

// What a filter lets through: a byte for each document, 1 if it does. The filter stands behind.
GOSSAMER_EXPORT(collection_remember)
void collection_remember(const Collection* collection, const std::uint8_t* allowed,
                         std::size_t count, std::size_t size) {
  expect(count == collection->catalogue().counts().documents, Reason::kInvalidArgument,
         "expected to be told of each document whether the filter lets it through");
  collection->remember(std::string(text_of(allowed + count, size)),
                       std::make_shared<const Allowed>(allowed, allowed + count));
}

// How many bytes of words must be at hand, by the first of them.
GOSSAMER_EXPORT(postings_head)
double postings_head(const std::uint8_t* start, std::size_t size, double all) {
  return static_cast<double>(
      PostingsView::head_bytes({start, size}, static_cast<std::uint64_t>(all)));
}

GOSSAMER_EXPORT(collection_attach_postings)
void collection_attach_postings(Collection* collection, const std::uint8_t* head, std::size_t size,
                                double all) {
  collection->attach_postings({head, size}, static_cast<std::uint64_t>(all));
}

// The filters that a question names, as a JSON list of texts: what they let through is remembered
// before it is asked.
GOSSAMER_EXPORT(question_filters)
std::size_t question_filters(const std::uint8_t* question, std::size_t size) {
  JsonWriter json;
  json.begin_array();
  for (const FileTest& test : read_question(text_of(question, size)).files) json.text(test.filter);
  return give_text(json.end_array().take());
}

GOSSAMER_EXPORT(session_new)
QuerySession* session_new(const Collection* collection, std::uint32_t has_vectors,
                          const std::uint8_t* query, std::size_t size) {
  return new QuerySession(*collection, has_vectors != 0, Query::read(text_of(query, size)));
}

GOSSAMER_EXPORT(session_free) void session_free(QuerySession* session) { delete session; }

GOSSAMER_EXPORT(session_needs) std::size_t session_needs(const QuerySession* session) {
  return give_text(session->needs());
}

GOSSAMER_EXPORT(session_answer) std::size_t session_answer(const QuerySession* session) {
  return give_text(session->answer());
}

GOSSAMER_EXPORT(session_question)
void session_question(QuerySession* session, const OpenIndex* vectors, const float* vector,
                      std::size_t size, const float* tokens, std::size_t tokens_size,
                      const std::uint32_t* starts, std::size_t count) {
  session->supply_question(*vectors->index, {vector, size}, {tokens, tokens_size}, {starts, count});
}

// The segment of a piece of text, and where it begins and ends there.
GOSSAMER_EXPORT(session_piece) void session_piece(QuerySession* session, std::size_t number) {
  const std::span<const WordPiece> pieces = session->pass().pieces();
  expect(number < pieces.size(), Reason::kInvalidArgument, "there is no such piece of text");
  given().numbers = {static_cast<double>(pieces[number].segment),
                     static_cast<double>(pieces[number].begin),
                     static_cast<double>(pieces[number].end)};
  given().first = given().numbers.data();
}

GOSSAMER_EXPORT(session_count)
void session_count(QuerySession* session, std::size_t number, const std::uint8_t* bytes,
                   std::size_t size) {
  WordPass& pass = session->pass();
  expect(number < pass.pieces().size(), Reason::kInvalidArgument, "there is no such piece of text");
  pass.count(pass.pieces()[number], text_of(bytes, size));
}

GOSSAMER_EXPORT(session_finish_words) void session_finish_words(QuerySession* session) {
  session->finish_words();
}

GOSSAMER_EXPORT(session_postings)
void session_postings(QuerySession* session, const std::uint8_t* bytes, const double* lengths,
                      std::size_t count) {
  session->supply_postings(cut<ByteView>(bytes, lengths, count));
}

GOSSAMER_EXPORT(session_vectors)
void session_vectors(QuerySession* session, const std::uint8_t* states, std::size_t count,
                     const float* rows, std::size_t size) {
  std::vector<Supplied> read;
  for (std::size_t i = 0; i < count; ++i) read.push_back(static_cast<Supplied>(states[i]));
  session->supply_vectors(read, {rows, size});
}

// The search that is to be supplied with rows; it goes with the session.
GOSSAMER_EXPORT(session_search) SearchBatch* session_search(QuerySession* session) {
  return &session->meaning().search();
}

GOSSAMER_EXPORT(session_finish_rows) void session_finish_rows(QuerySession* session) {
  session->finish_rows();
}

GOSSAMER_EXPORT(session_texts)
void session_texts(QuerySession* session, const std::uint8_t* bytes, const double* lengths,
                   std::size_t count) {
  session->supply_texts(cut<std::optional<ByteView>>(bytes, lengths, count));
}

GOSSAMER_EXPORT(session_embeddings)
void session_embeddings(QuerySession* session, const float* rows, std::size_t size,
                        const float* tokens, std::size_t tokens_size, const std::uint32_t* counts,
                        std::size_t count, const std::uint32_t* starts, std::size_t starts_size) {
  session->supply_embeddings({rows, size},
                             {{tokens, tokens_size}, {counts, count}, {starts, starts_size}});
}

GOSSAMER_EXPORT(session_chunks)
void session_chunks(QuerySession* session, const std::uint8_t* json, std::size_t size,
                    std::uint32_t is_answered) {
  session->supply_chunks(read_away(text_of(json, size)), is_answered != 0);
}

// Chunks that are read outside of a question.
GOSSAMER_EXPORT(reader_new)
PassageReader* reader_new(const Collection* collection, const double* ids, std::size_t count) {
  auto reader = std::make_unique<PassageReader>(*collection);
  reader->begin(to_ids(ids, count), false);
  return reader.release();
}

GOSSAMER_EXPORT(reader_free) void reader_free(PassageReader* reader) { delete reader; }

GOSSAMER_EXPORT(reader_needs) std::size_t reader_needs(const PassageReader* reader) {
  NeedsWriter needs;
  needs.texts(reader->texts());
  needs.chunks(reader->away());
  return give_text(needs.take());
}

GOSSAMER_EXPORT(reader_texts)
void reader_texts(PassageReader* reader, const std::uint8_t* bytes, const double* lengths,
                  std::size_t count) {
  reader->supply_texts(cut<std::optional<ByteView>>(bytes, lengths, count));
}

GOSSAMER_EXPORT(reader_chunks)
void reader_chunks(PassageReader* reader, const std::uint8_t* json, std::size_t size,
                   std::uint32_t is_answered) {
  reader->supply_away(read_away(text_of(json, size)), is_answered != 0);
}

GOSSAMER_EXPORT(reader_is_out_of_reach)
std::uint32_t reader_is_out_of_reach(const PassageReader* reader, double id) {
  return reader->is_out_of_reach(static_cast<std::uint64_t>(id)) ? 1 : 0;
}

// What a chunk says and what was embedded of it, whether its text is away, and where the text
// around it is; null if it is not what was indexed.
GOSSAMER_EXPORT(reader_passage)
std::size_t reader_passage(const PassageReader* reader, double id, double margin) {
  const Passage* passage = reader->find(static_cast<std::uint64_t>(id));
  if (passage == nullptr) return give_text("null");
  const TextNeed around = text_around(*passage, static_cast<std::size_t>(margin));
  NeedsWriter needs;
  needs.texts({&around, 1});
  JsonWriter json;
  json.begin_object()
      .key("title")
      .text(passage->title)
      .key("body")
      .text(passage->body)
      .key("embedded")
      .text(passage->embedded);
  json.key("is_away").boolean(passage->chunk.document->is_away()).key("around").raw(needs.take());
  return give_text(json.end_object().take());
}

}  // namespace wasm
}  // namespace gossamer
