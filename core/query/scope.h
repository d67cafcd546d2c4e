#pragma once

#include <memory>
#include <set>

#include "query/collection.h"

namespace gossamer {

// What a question may find.
struct Scope {
  std::shared_ptr<const Allowed> allowed;  // by row of document; null where there is no filter
  std::set<std::size_t> stale;             // rows of sources whose text is not what was indexed
  std::set<std::uint64_t> excluded;        // chunks

  bool holds_all() const { return !allowed && stale.empty() && excluded.empty(); }
  bool holds(const ChunkLayout::Document& document) const {
    return (!allowed || (*allowed)[document.row]) && !stale.contains(document.source);
  }
};

}  // namespace gossamer
