#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chunking/cuts.h"
#include "lexical/bm25.h"
#include "store/catalogue.h"

namespace gossamer {

// Which files an index may be read from: its own folders.
class Roots {
 public:
  explicit Roots(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  // Whether a path is one of the folders or below one, without any way out of it.
  bool hold(const std::string& path) const;

 private:
  std::vector<std::string> folders_;
};

// Where all chunks of an index stand. Chunks are numbered in the order of their ids.
class ChunkLayout {
 public:
  struct Document {
    std::uint64_t first_id;
    std::uint64_t offset;       // of its text, in its segment
    std::uint32_t row;          // among all documents of the index
    std::uint32_t source;       // row of its source
    std::uint32_t first_chunk;  // number of its first chunk
    std::uint32_t chunk_count;
    std::uint32_t segment;  // kVerbatim, kAway, or that of its text
    std::uint32_t title_length;
    std::uint64_t title_start;
    std::uint64_t path_end;  // of its file among all paths; what is no file has none
    std::uint32_t path_length;

    std::uint32_t end_chunk() const { return first_chunk + chunk_count; }
    std::uint64_t id_of(ChunkNumber chunk) const { return first_id + (chunk - first_chunk); }
  };

  ChunkLayout(const Catalogue& catalogue, const Roots& roots);

  // By rising ids.
  std::span<const Document> documents() const { return documents_; }
  // Numbers of those whose text is here, as it lies in files and segments.
  std::span<const std::uint32_t> text_order() const { return text_order_; }
  bool has_away_texts() const { return text_order_.size() < documents_.size(); }

  // The file that a text is read from, where it is the file itself.
  std::string_view path_of(const Document& document) const {
    return std::string_view(paths_).substr(
        static_cast<std::size_t>(document.path_end) - document.path_length, document.path_length);
  }

  // Of all chunks whose text is here.
  std::uint64_t text_bytes() const;

  std::size_t chunk_count() const { return starts_.size(); }
  const Document& document_of(ChunkNumber chunk) const;
  std::uint64_t id_of(ChunkNumber chunk) const { return document_of(chunk).id_of(chunk); }
  // Nothing if there is no such chunk.
  std::optional<ChunkNumber> number_of(std::uint64_t id) const;
  TextSpan span(ChunkNumber chunk) const {
    return {static_cast<std::size_t>(starts_[chunk]),
            static_cast<std::size_t>(starts_[chunk]) + lengths_[chunk]};
  }
  // The title, where it is counted for a chunk; empty otherwise. One far off is left out: it would
  // have to be read for its own sake.
  TextSpan title_near(const Document& document, ChunkNumber chunk) const;
  // What is counted of a chunk: its title and itself.
  std::uint64_t counted_bytes(const Document& document, ChunkNumber chunk) const;

 private:
  void read_group(const LivePart& part, const Group& group, std::size_t source_row,
                  const Roots& roots);
  // Gives the length of a path that may be read; 0 for another.
  std::size_t add_path(const SourceName& name, const Roots& roots);
  void add_chunks(const Table& chunks, RowRange rows);
  void sort_by_id();

  std::vector<Document> documents_;
  std::vector<std::uint32_t> text_order_;
  std::vector<std::uint64_t> starts_;  // by number
  std::vector<std::uint32_t> lengths_;
  std::string paths_;  // end to end
};

}  // namespace gossamer
