#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chunking/chunks.h"

namespace gossamer {

// Whether a source is indexed, and if not, whether by choice.
enum class Status : std::uint8_t { kIndexed, kSkipped, kFailed };

struct ChunkRecord {
  ChunkSpan place;      // in the text of its document
  std::uint32_t check;  // of the text as it was embedded
};

// Where a numbered place of a document begins: a page, a row, a message.
struct NumberedPlace {
  std::int64_t offset;
  std::int64_t number;
};

struct DocumentRecord {
  std::string kind;  // what a filter on `type` compares
  std::string unit;  // what places count
  std::string key;   // names the document within its file, where a file holds several
  std::string title;
  std::string metadata;      // JSON, or nothing
  std::int64_t length = 0;   // of its text, in bytes
  std::int64_t segment = 0;  // where its text is: kVerbatim, kAway, or stored
  std::int64_t offset = 0;
  TextSpan title_span{0, 0};  // where the text holds the title; empty if it does not
  std::vector<NumberedPlace> places;
  std::int64_t first_chunk = 0;  // ids of its chunks are consecutive
  std::vector<ChunkRecord> chunks;
};

// A file that was read, or a text that a program gave.
struct SourceRecord {
  std::string root;  // the folder that was added; empty for a text
  std::string name;  // the path below it, or the id of the text
  std::string kind;
  std::string reason;  // why it is not indexed
  Status status = Status::kIndexed;
  std::int64_t reader_version = 0;
  std::int64_t size = 0;
  std::int64_t time_ns = 0;
  std::uint64_t content_hash = 0;
  std::vector<DocumentRecord> documents;
};

}  // namespace gossamer
