#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lexical/postings.h"
#include "links/url.h"
#include "query/layout.h"
#include "store/catalogue.h"

namespace gossamer {

// A document with what is known of it.
struct DocumentFacts {
  std::size_t row;  // among all documents of the index
  std::size_t source_row;
  SourceRecord source;      // without its documents
  DocumentRecord document;  // without its chunks; its segment is kVerbatim, kAway, or a number
  std::string path;         // the file's, or the id of a text

  bool is_verbatim() const { return document.segment == kVerbatim; }
  bool is_away() const { return document.segment == kAway; }
};

// A chunk with what is known of it.
struct ChunkFacts {
  std::uint64_t id;
  std::shared_ptr<const DocumentFacts> document;
  ChunkSpan place;
  std::uint32_t check;
};

// Which documents may be found, by row.
using Allowed = std::vector<bool>;

// One state of an index, as questions see it. Any number of them may be asked at a time.
class Collection {
 public:
  // Files are read below these folders only: other texts that stand in files count as away.
  Collection(std::shared_ptr<const Catalogue> catalogue, std::vector<std::string> roots)
      : catalogue_(std::move(catalogue)), roots_(std::move(roots)) {}

  const Catalogue& catalogue() const { return *catalogue_; }
  // Made when first asked for: questions by meaning alone do without.
  const ChunkLayout& layout() const;
  // What a filter (JSON, see Filter::read) lets through; the last ones are remembered. In
  // WebAssembly filters are a module of their own, and it is the host who lets them be remembered.
  std::shared_ptr<const Allowed> allow(const std::string& filter) const;
  // Null if it is not remembered.
  std::shared_ptr<const Allowed> find_allowed(const std::string& filter) const;
  void remember(const std::string& filter, std::shared_ptr<const Allowed> allowed) const;

  // What is known of chunks, in the order of the ids (kUnknownId).
  std::vector<ChunkFacts> find(std::span<const std::uint64_t> ids) const;
  DocumentFacts document(std::size_t row) const;

  // The words of all chunks, where a file has them: the beginning of so many bytes.
  void attach_postings(ByteView head, std::uint64_t size) { postings_.emplace(head, size); }
  const PostingsView* postings() const { return postings_ ? &*postings_ : nullptr; }

  // Where people read what is here; before questions are asked.
  void set_site(Site site) { site_ = std::move(site); }
  const Site& site() const { return site_; }

 private:
  std::shared_ptr<const Catalogue> catalogue_;
  Roots roots_;
  Site site_;
  std::optional<PostingsView> postings_;
  mutable Mutex mutex_;
  mutable std::optional<ChunkLayout> layout_;
  mutable std::vector<std::pair<std::string, std::shared_ptr<const Allowed>>> filters_;
};

}  // namespace gossamer
