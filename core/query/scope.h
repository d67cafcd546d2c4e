#pragma once

#include <memory>
#include <set>
#include <vector>

#include "query/collection.h"

namespace gossamer {

// What a question may find.
struct Scope {
  std::shared_ptr<const Allowed> allowed;  // by row of document; null where there is no filter
  std::set<std::size_t> stale;             // rows of sources whose text is not what was indexed
  std::set<std::uint64_t> excluded;        // chunks
  // By number of chunk: those that hold what a question requires; null where it requires nothing.
  std::shared_ptr<const std::vector<bool>> chunks;
  // How far down a ranking a chunk may stand and still gain from another one.
  std::size_t depth = 100;
  // How many more than an answer needs are ranked exactly, as some are copies of others.
  std::size_t spare = 0;

  bool holds_all() const { return !allowed && stale.empty() && excluded.empty() && !chunks; }
  bool holds(const ChunkLayout::Document& document) const {
    return (!allowed || (*allowed)[document.row]) && !stale.contains(document.source);
  }
  // Whether a chunk of a document that it holds is not to be looked at.
  bool leaves_out(const ChunkLayout::Document& document, ChunkNumber chunk) const {
    return !excluded.empty() && excluded.contains(document.id_of(chunk));
  }
  // Whether it is no answer.
  bool excludes(const ChunkLayout::Document& document, ChunkNumber chunk) const {
    return (chunks && !(*chunks)[chunk]) || leaves_out(document, chunk);
  }
  // The chunks that may be found, by rising ids.
  std::vector<std::uint64_t> ids(const ChunkLayout& layout) const {
    std::vector<std::uint64_t> ids;
    for (const ChunkLayout::Document& document : layout.documents()) {
      if (!holds(document)) continue;
      for (ChunkNumber chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
        if (!excludes(document, chunk)) ids.push_back(document.id_of(chunk));
    }
    return ids;
  }
};

}  // namespace gossamer
