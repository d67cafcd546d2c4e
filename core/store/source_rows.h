#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "store/records.h"
#include "store/strings.h"
#include "store/table.h"

namespace gossamer {

// What names a source: its path or id, and which of the two.
struct SourceName {
  std::string path;
  bool is_file = false;

  // The order in which sources stand: a text whose id is a file's path comes before the file.
  friend auto operator<=>(const SourceName&, const SourceName&) = default;
};
SourceName name_of(const SourceRecord& source);

// Writes a source, its documents and their chunks as rows at the end of the tables.
void append_source(const SourceRecord& source, Strings& strings, Table& sources);

struct RowRange {
  std::size_t first, end;
  std::size_t size() const { return end - first; }
};

// Tables of sources that were verified, and where the rows of children begin: for reading one
// source, document or chunk without the others.
class SourceRows {
 public:
  SourceRows(const Table& sources, const Strings& strings);

  std::size_t size() const { return sources_.size(); }
  SourceName name(std::size_t row) const;
  // All of it, documents and chunks included.
  SourceRecord source(std::size_t row) const;
  // Without its documents.
  SourceRecord source_alone(std::size_t row) const;
  // Without its chunks.
  DocumentRecord document_alone(std::size_t row) const;
  std::vector<ChunkRecord> chunks(std::size_t document) const;
  // Reads chunks of one document, one after the other: a stranger's may have very many.
  class ChunkCursor;

  // What belongs to what, by row: the first of those that a row owns, and the end of them.
  RowRange documents_of(std::size_t source) const;
  RowRange chunks_of(std::size_t document) const;
  RowRange chunks_of_source(std::size_t source) const;
  std::size_t source_of(std::size_t document) const;
  std::size_t document_of(std::size_t chunk) const;

 private:
  std::string text(const Table& table, std::size_t child, const Ints& starts,
                   std::size_t row) const;

  const Table& sources_;
  const Table& documents_;
  const Table& chunks_;
  const Strings& strings_;
  Ints names_, first_documents_, keys_, titles_, metadata_, first_places_, first_chunks_,
      first_headings_;
};

class SourceRows::ChunkCursor {
 public:
  ChunkCursor(const SourceRows& rows, std::size_t document)
      : rows_(rows), first_(rows.chunks_of(document).first), next_(first_) {}
  // By its number in the document; numbers do not fall.
  ChunkRecord at(std::size_t number);

 private:
  void step();

  const SourceRows& rows_;
  std::size_t first_, next_;
  std::int64_t start_ = 0, end_ = 0;
  std::vector<TextSpan> context_;
};

// A file's path from its root and its name below it.
std::string path_of(const std::string& root, const std::string& name);

}  // namespace gossamer
