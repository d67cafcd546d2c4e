#include "store/source_rows.h"

#include <algorithm>

#include "store/schema.h"

namespace gossamer {
namespace {

using Source = SourceColumns;
using Document = DocumentColumns;
using Chunk = ChunkColumns;

std::int64_t as_int(std::size_t value) { return static_cast<std::int64_t>(value); }

// The numbers of one row, in the order of its columns.
void append_row(Table& table, std::initializer_list<std::int64_t> values) {
  std::size_t column = 0;
  for (const std::int64_t value : values) table.columns[column++].push_back(value);
}

std::int64_t append_text(Table& table, std::size_t child, const std::string& text) {
  Bytes& content = table.children[child].content;
  content.insert(content.end(), text.begin(), text.end());
  return as_int(text.size());
}

void append_places(const DocumentRecord& document, Table& places) {
  std::int64_t before = 0;
  for (const NumberedPlace& place : document.places) {
    append_row(places, {place.offset - before, place.number});
    before = place.offset;
  }
}

// A chunk writes down the headings that it does not share with the one before.
void append_chunks(const DocumentRecord& document, Table& chunks) {
  std::size_t before = 0;
  const std::vector<TextSpan>* above = nullptr;
  for (const ChunkRecord& record : document.chunks) {
    const auto& [span, context] = record.place;
    std::size_t shared = 0;
    if (above != nullptr)
      while (shared < context.size() && shared < above->size() &&
             context[shared] == (*above)[shared])
        ++shared;
    for (std::size_t i = shared; i < context.size(); ++i)
      append_row(chunks.children[Chunk::kHeading], {as_int(span.start) - as_int(context[i].end),
                                                    as_int(context[i].end - context[i].start)});
    append_row(chunks, {as_int(span.start) - as_int(before), as_int(span.end - span.start),
                        as_int(shared), record.check, as_int(context.size() - shared)});
    before = span.end;
    above = &context;
  }
}

void append_document(const DocumentRecord& document, Strings& strings, Table& documents) {
  const TextSpan title = document.title_span;
  append_row(documents, {strings.number_of(document.kind), strings.number_of(document.unit),
                         document.segment == kVerbatim ? 0 : document.length, document.segment,
                         document.offset, as_int(title.start), as_int(title.end - title.start),
                         document.first_chunk, append_text(documents, Document::kKey, document.key),
                         append_text(documents, Document::kTitle, document.title),
                         append_text(documents, Document::kMetadata, document.metadata),
                         as_int(document.places.size()), as_int(document.chunks.size())});
  append_places(document, documents.children[Document::kPlace]);
  append_chunks(document, documents.children[Document::kChunk]);
}

RowRange range_of(const Ints& starts, std::size_t row) {
  return {static_cast<std::size_t>(starts[row]), static_cast<std::size_t>(starts[row + 1])};
}

// The row that owns a row of a child; the last of those that begin there, as others own nothing.
std::size_t owner_of(const Ints& starts, std::size_t child) {
  const auto after = std::upper_bound(starts.begin(), starts.end(), as_int(child));
  return static_cast<std::size_t>(after - starts.begin()) - 1;
}

}  // namespace

SourceName name_of(const SourceRecord& source) {
  return {path_of(source.root, source.name), !source.root.empty()};
}

void append_source(const SourceRecord& source, Strings& strings, Table& sources) {
  append_row(sources,
             {strings.number_of(source.root), strings.number_of(source.kind),
              static_cast<std::int64_t>(source.status), strings.number_of(source.reason),
              source.reader_version, source.size, source.time_ns,
              static_cast<std::int64_t>(source.content_hash),
              append_text(sources, Source::kName, source.name), as_int(source.documents.size())});
  for (const DocumentRecord& document : source.documents)
    append_document(document, strings, sources.children[Source::kDocument]);
}

SourceRows::SourceRows(const Table& sources, const Strings& strings)
    : sources_(sources),
      documents_(sources.children[Source::kDocument]),
      chunks_(documents_.children[Document::kChunk]),
      strings_(strings),
      names_(sources.starts(Source::kName)),
      first_documents_(sources.starts(Source::kDocument)),
      keys_(documents_.starts(Document::kKey)),
      titles_(documents_.starts(Document::kTitle)),
      metadata_(documents_.starts(Document::kMetadata)),
      first_places_(documents_.starts(Document::kPlace)),
      first_chunks_(documents_.starts(Document::kChunk)),
      first_headings_(chunks_.starts(Chunk::kHeading)) {}

SourceName SourceRows::name(std::size_t row) const {
  const std::int64_t root = sources_.columns[Source::kRoot][row];
  return {path_of(strings_[root], text(sources_, Source::kName, names_, row)), root != 0};
}

SourceRecord SourceRows::source(std::size_t row) const {
  SourceRecord record = source_alone(row);
  const RowRange documents = documents_of(row);
  for (std::size_t i = documents.first; i < documents.end; ++i) {
    record.documents.push_back(document_alone(i));
    record.documents.back().chunks = chunks(i);
  }
  return record;
}

SourceRecord SourceRows::source_alone(std::size_t row) const {
  const auto value = [&](std::size_t column) { return sources_.columns[column][row]; };
  SourceRecord record;
  record.root = strings_[value(Source::kRoot)];
  record.name = text(sources_, Source::kName, names_, row);
  record.kind = strings_[value(Source::kKind)];
  record.reason = strings_[value(Source::kReason)];
  record.status = static_cast<Status>(value(Source::kStatus));
  record.reader_version = value(Source::kReaderVersion);
  record.size = value(Source::kSize);
  record.time_ns = value(Source::kTime);
  record.content_hash = static_cast<std::uint64_t>(value(Source::kHash));
  return record;
}

DocumentRecord SourceRows::document_alone(std::size_t row) const {
  const auto value = [&](std::size_t column) { return documents_.columns[column][row]; };
  DocumentRecord record;
  record.kind = strings_[value(Document::kKind)];
  record.unit = strings_[value(Document::kUnit)];
  record.key = text(documents_, Document::kKey, keys_, row);
  record.title = text(documents_, Document::kTitle, titles_, row);
  record.metadata = text(documents_, Document::kMetadata, metadata_, row);
  record.segment = value(Document::kSegment);
  record.length = record.segment == kVerbatim ? sources_.columns[Source::kSize][source_of(row)]
                                              : value(Document::kLength);
  record.offset = value(Document::kOffset);
  const auto title = static_cast<std::size_t>(value(Document::kTitleStart));
  record.title_span = {title, title + static_cast<std::size_t>(value(Document::kTitleLength))};
  record.first_chunk = value(Document::kFirstChunk);
  const Table& places = documents_.children[Document::kPlace];
  std::int64_t at = 0;
  for (std::int64_t i = first_places_[row]; i < first_places_[row + 1]; ++i) {
    const auto place = static_cast<std::size_t>(i);
    at += places.columns[PlaceColumns::kGap][place];
    record.places.push_back({at, places.columns[PlaceColumns::kNumber][place]});
  }
  return record;
}

std::vector<ChunkRecord> SourceRows::chunks(std::size_t document) const {
  ChunkCursor cursor(*this, document);
  std::vector<ChunkRecord> records;
  for (std::size_t number = 0; number < chunks_of(document).size(); ++number)
    records.push_back(cursor.at(number));
  return records;
}

ChunkRecord SourceRows::ChunkCursor::at(std::size_t number) {
  while (next_ <= first_ + number) step();
  return {{{static_cast<std::size_t>(start_), static_cast<std::size_t>(end_)}, context_},
          static_cast<std::uint32_t>(rows_.chunks_.columns[Chunk::kCheck][next_ - 1])};
}

void SourceRows::ChunkCursor::step() {
  const Table& chunks = rows_.chunks_;
  const Table& headings = chunks.children[Chunk::kHeading];
  start_ = end_ + chunks.columns[Chunk::kGap][next_];
  end_ = start_ + chunks.columns[Chunk::kLength][next_];
  context_.resize(static_cast<std::size_t>(chunks.columns[Chunk::kShared][next_]));
  for (std::int64_t i = rows_.first_headings_[next_]; i < rows_.first_headings_[next_ + 1]; ++i) {
    const auto heading = static_cast<std::size_t>(i);
    const auto stop =
        static_cast<std::size_t>(start_ - headings.columns[HeadingColumns::kBefore][heading]);
    const auto length =
        static_cast<std::size_t>(headings.columns[HeadingColumns::kLength][heading]);
    context_.push_back({stop - length, stop});
  }
  ++next_;
}

RowRange SourceRows::documents_of(std::size_t source) const {
  return range_of(first_documents_, source);
}

RowRange SourceRows::chunks_of(std::size_t document) const {
  return range_of(first_chunks_, document);
}

RowRange SourceRows::chunks_of_source(std::size_t source) const {
  const RowRange documents = documents_of(source);
  return {static_cast<std::size_t>(first_chunks_[documents.first]),
          static_cast<std::size_t>(first_chunks_[documents.end])};
}

std::size_t SourceRows::source_of(std::size_t document) const {
  return owner_of(first_documents_, document);
}

std::size_t SourceRows::document_of(std::size_t chunk) const {
  return owner_of(first_chunks_, chunk);
}

std::string SourceRows::text(const Table& table, std::size_t child, const Ints& starts,
                             std::size_t row) const {
  const Bytes& content = table.children[child].content;
  return {content.begin() + starts[row], content.begin() + starts[row + 1]};
}

std::string path_of(const std::string& root, const std::string& name) {
  if (root.empty()) return name;
  return root.ends_with('/') ? root + name : root + '/' + name;
}

}  // namespace gossamer
