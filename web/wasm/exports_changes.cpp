// Catalogues changed by a page, in one piece: see core/sources.ts. Each call that gives a list
// makes a new one.

#include "source_lists.h"
#include "storage/ids.h"
#include "store/source_rows.h"

namespace gossamer::wasm {
namespace {

SourceList* keep(SourceList list) { return new SourceList(std::move(list)); }

std::vector<std::size_t> to_rows(const std::uint32_t* rows, std::size_t count) {
  return {rows, rows + count};
}

std::vector<std::int64_t> to_ints(const double* numbers, std::size_t count) {
  std::vector<std::int64_t> ints(count);
  for (std::size_t i = 0; i < count; ++i) ints[i] = static_cast<std::int64_t>(numbers[i]);
  return ints;
}

// Records as JavaScript writes them, in the order of their fields: numbers as doubles, texts and
// lists behind their length, times and hashes in 64 bits.
class RecordReader {
 public:
  explicit RecordReader(ByteView bytes) : in_(bytes, "the records") {}

  bool is_done() const { return in_.remaining() == 0; }

  SourceRecord source() {
    SourceRecord record;
    for (std::string* field : {&record.root, &record.name, &record.kind, &record.reason})
      *field = text();
    record.status = static_cast<Status>(number());
    record.reader_version = number();
    record.size = number();
    record.time_ns = in_.get<std::int64_t>();
    record.content_hash = in_.get<std::uint64_t>();
    for (std::size_t left = count(); left > 0; --left) record.documents.push_back(document());
    return record;
  }

 private:
  std::int64_t number() { return static_cast<std::int64_t>(in_.get<double>()); }
  std::size_t count() { return static_cast<std::size_t>(number()); }
  std::string text() { return std::string(text_of(in_.take(count()))); }
  static std::string_view text_of(ByteView bytes) {
    return wasm::text_of(bytes.data(), bytes.size());
  }
  TextSpan span() {
    const std::size_t start = count();
    return {start, count()};
  }

  DocumentRecord document() {
    DocumentRecord record;
    for (std::string* field :
         {&record.kind, &record.unit, &record.key, &record.title, &record.metadata})
      *field = text();
    for (std::int64_t* field :
         {&record.length, &record.segment, &record.offset, &record.first_chunk})
      *field = number();
    record.title_span = span();
    for (std::size_t left = count(); left > 0; --left) {
      const std::int64_t offset = number();
      record.places.push_back({offset, number()});
    }
    for (std::size_t left = count(); left > 0; --left) record.chunks.push_back(chunk());
    return record;
  }

  ChunkRecord chunk() {
    ChunkRecord record{{span(), {}}, 0};
    record.check = static_cast<std::uint32_t>(number());
    for (std::size_t left = count(); left > 0; --left) record.place.context.push_back(span());
    return record;
  }

  ByteReader in_;
};

}  // namespace

GOSSAMER_EXPORT(sources_make)
SourceList* sources_make(const std::uint8_t* records, std::size_t size) {
  RecordReader in({records, size});
  Strings strings;
  Table sources(sources_schema());
  while (!in.is_done()) append_source(in.source(), strings, sources);
  return keep({std::move(strings), std::move(sources)});
}

GOSSAMER_EXPORT(sources_order) std::size_t sources_order(const SourceList* list) {
  const std::vector<std::size_t> order = list->order();
  std::vector<std::uint32_t>& words = given().words;
  words.assign(order.begin(), order.end());
  given().first = words.data();
  return words.size();
}

GOSSAMER_EXPORT(sources_take)
SourceList* sources_take(const SourceList* list, const std::uint32_t* rows, std::size_t count) {
  return keep(list->take(to_rows(rows, count)));
}

GOSSAMER_EXPORT(sources_join)
SourceList* sources_join(const SourceList* list, const SourceList* other) {
  return keep(list->join(*other));
}

GOSSAMER_EXPORT(sources_place_texts)
SourceList* sources_place_texts(const SourceList* list, const double* segments,
                                const double* offsets, std::size_t count) {
  return keep(list->place_texts(to_ints(segments, count), to_ints(offsets, count)));
}

// `times` are 64 bits each.
GOSSAMER_EXPORT(sources_touch)
SourceList* sources_touch(const SourceList* list, const double* rows, const std::int64_t* times,
                          const double* versions, std::size_t count) {
  std::vector<SourceList::Touch> touches(count);
  for (std::size_t i = 0; i < count; ++i)
    touches[i] = {static_cast<std::size_t>(rows[i]), times[i],
                  static_cast<std::int64_t>(versions[i])};
  return keep(list->touch(touches));
}

// The names stand end to end, one for each string.
GOSSAMER_EXPORT(sources_rename_roots)
SourceList* sources_rename_roots(const SourceList* list, const std::uint8_t* names,
                                 const std::uint32_t* lengths, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.emplace_back(text_of(names, lengths[i]));
    names += lengths[i];
  }
  return keep(list->rename_roots(texts));
}

GOSSAMER_EXPORT(sources_pack) std::size_t sources_pack(const SourceList* list) {
  Bytes& bytes = given().bytes;
  bytes = list->pack(columns_codec());
  given().first = bytes.data();
  return bytes.size();
}

GOSSAMER_EXPORT(sources_content) std::size_t sources_content(const SourceList* list) {
  Bytes& bytes = given().bytes;
  bytes.clear();
  list->give_content(
      [&](ByteView piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  given().first = bytes.data();
  return bytes.size();
}

// The ids of an engine's nodes, in their order, without those that are deleted: its sections of
// either, which may be absent, the second behind the first.
GOSSAMER_EXPORT(live_ids)
std::size_t live_ids(const std::uint8_t* sections, std::size_t ids_size, std::size_t deleted_size,
                     std::size_t nodes) {
  const ByteView deleted(sections + ids_size, deleted_size);
  expect(deleted.empty() || deleted.size() == (nodes + 63) / 64 * 8, Reason::kDamaged,
         "deleted nodes do not fit");
  const IdMap ids =
      ids_size == 0 ? IdMap::identity(nodes) : IdMap::from_bytes({sections, ids_size}, nodes);
  std::vector<std::uint64_t> live;
  for (std::size_t node = 0; node < nodes; ++node)
    if (deleted.empty() || (deleted[node / 8] >> (node % 8) & 1) == 0)
      live.push_back(ids.id(static_cast<NodeId>(node)));
  give_ids(live);
  return live.size();
}

}  // namespace gossamer::wasm
