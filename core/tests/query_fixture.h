#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/blake2b.h"
#include "base/random.h"
#include "chunking/context.h"
#include "index/index.h"
#include "query/collection.h"
#include "small_codebook.h"
#include "store/draft.h"
#include "store/text_store.h"

namespace gossamer::testing {

// Packs nothing.
inline const Codecs kPlainCodecs{
    {[](ByteView) { return Bytes(); }, [](ByteView, std::span<std::uint8_t>) { return false; }},
    {[](ByteView, ByteView) { return Bytes(); },
     [](ByteView, ByteView, std::span<std::uint8_t>) { return false; }, nullptr}};

inline constexpr std::size_t kWordDim = 8;
inline const std::string kFolder = "/lib";

inline ByteView view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A vector made of the words of a text, of length 1: texts that share words are near each other.
inline std::vector<float> vector_of(std::string_view text) {
  std::vector<float> vector(kWordDim, 1e-3f);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n.,#", at), text.size());
    if (end > at) {
      Random random(check_of(text.substr(at, end - at)));
      for (float& value : vector) value += static_cast<float>(random.normal());
    }
    at = end + 1;
  }
  float length = 0;
  for (const float value : vector) length += value * value;
  for (float& value : vector) value /= std::sqrt(length);
  return vector;
}

// Where the words of a text begin, and a vector of each, of some other length.
struct WordVectors {
  std::vector<float> rows;
  std::vector<std::uint32_t> starts;
};
inline WordVectors word_vectors_of(std::string_view text) {
  WordVectors words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n.,#", at), text.size());
    if (end > at) {
      for (const float value : vector_of(text.substr(at, end - at)))
        words.rows.push_back(value * static_cast<float>(1 + at % 7));
      words.starts.push_back(static_cast<std::uint32_t>(at));
    }
    at = end + 1;
  }
  return words;
}

// A document of a library.
struct Writing {
  std::string name;  // of a file below kFolder, or the id of a text
  std::string text;  // with a title that stands behind it
  bool is_file = false;
  std::int64_t segment = kHere;
  std::string title = {};
  TextSpan title_span{0, 0};
  std::vector<ChunkSpan> chunks = {};  // its paragraphs, if there are none
  std::vector<NumberedPlace> places = {};
  std::string metadata = {}, key = {}, unit = "line";
};

// What stands between empty lines, up to where a title stands behind the text.
inline std::vector<ChunkSpan> paragraphs_of(const Writing& writing) {
  const bool is_behind =
      !writing.title_span.empty() && writing.title_span.end == writing.text.size();
  const std::size_t length = is_behind ? writing.title_span.start : writing.text.size();
  std::vector<ChunkSpan> chunks;
  for (std::size_t at = 0; at < length;) {
    const std::size_t end = std::min(writing.text.find("\n\n", at), length);
    if (end > at) chunks.push_back({{at, end}, {}});
    at = end + 2;
  }
  return chunks;
}

// A chunk as it was indexed.
struct Written {
  std::string name, title, body, embedded;
};

// Documents in the segments of an index, and where their texts are.
class Library {
 public:
  // Several documents of one name and step are those of one source.
  void put(const Writing& writing) {
    if (!draft_) draft_ = std::make_unique<SegmentDraft>(CodeStamp(), 64, kPlainCodecs);
    SourceRecord& source = pending_[writing.name];
    source.root = writing.is_file ? kFolder : "";
    source.name = writing.name;
    source.kind = "text";
    source.size = static_cast<std::int64_t>(writing.text.size());
    source.content_hash = check_of(writing.text);
    source.documents.push_back(document_of(writing));
    if (writing.segment == kVerbatim) files[kFolder + '/' + writing.name] = writing.text;
  }
  void remove(const std::string& name, bool is_file) {
    if (!draft_) draft_ = std::make_unique<SegmentDraft>(CodeStamp(), 64, kPlainCodecs);
    const auto row = catalogue_->find({is_file ? kFolder + '/' + name : name, is_file});
    const auto [segment, gone] = catalogue_->gone_of(row.value());
    draft_->gone().add(segment, gone);
  }
  // Makes a segment of what was put and removed.
  void commit() {
    for (auto& [name, source] : pending_) draft_->add(std::move(source));
    pending_.clear();
    FileImage image;
    draft_->finish(image);
    auto file = std::make_shared<Bytes>();
    for (const ByteView part : image.finish()) file->insert(file->end(), part.begin(), part.end());
    draft_.reset();
    kept_.push_back(file);
    const std::uint64_t number = 10 + segments_.size();
    segments_.push_back(
        std::make_shared<const Segment>(number, *file, Origin::kOther, kPlainCodecs));
    texts.add(number, std::make_shared<const BlockView>(Container::parse(*file), Origin::kOther,
                                                        kPlainCodecs.columns, kPlainCodecs.texts));
    catalogue_ = std::make_shared<const Catalogue>(segments_);
  }

  std::shared_ptr<const Catalogue> catalogue() const { return catalogue_; }
  // Codes of all chunks, whose vectors are made of the texts that were embedded.
  std::unique_ptr<Index> index(Keep keep = Keep::kNone) const {
    const std::vector<std::uint64_t> ids = catalogue_->ids();
    std::vector<float> vectors;
    for (const std::uint64_t id : ids) {
      const std::vector<float> one = vector_of(written.at(id).embedded);
      vectors.insert(vectors.end(), one.begin(), one.end());
    }
    IndexOptions options;
    options.dim = kWordDim;
    options.metric = Metric::kL2;
    options.keep = keep;
    options.scalar = Scalar::kF32;
    options.graph = GraphKind::kNone;
    BuildRun run;
    run.calibration_queries = 0;
    run.threads = 1;
    return Index::build(options, codebook(), vectors.data(), ids.size(), ids.data(), nullptr, 0,
                        run, nullptr);
  }
  // The id of the first chunk of a source.
  std::uint64_t id_of(const std::string& name) const {
    for (const auto& [id, chunk] : written)
      if (chunk.name == name) return id;
    fail(Reason::kUnknownId, "the library has no '" + name + "'");
  }

  TextStore texts;
  std::map<std::string, std::string> files;  // as they are on the disk, by path
  std::map<std::uint64_t, Written> written;  // by id; what was removed too

 private:
  static std::shared_ptr<const Codebook> codebook() {
    static const auto made = [] {
      std::vector<float> sample;
      for (int i = 0; i < 300; ++i) {
        const std::vector<float> one = vector_of(std::to_string(i));
        sample.insert(sample.end(), one.begin(), one.end());
      }
      return small_codebook(sample, kWordDim, Metric::kL2);
    }();
    return made;
  }

  DocumentRecord document_of(const Writing& writing) {
    DocumentRecord document;
    document.kind = "text";
    document.unit = writing.unit;
    document.key = writing.key;
    document.title = writing.title;
    document.metadata = writing.metadata;
    document.length = static_cast<std::int64_t>(writing.text.size());
    document.segment = writing.segment;
    if (writing.segment == kHere)
      document.offset = static_cast<std::int64_t>(draft_->texts().add(view_of(writing.text)));
    document.title_span = writing.title_span;
    document.places = writing.places;
    document.first_chunk = next_id_;
    for (const ChunkSpan& place : writing.chunks.empty() ? paragraphs_of(writing) : writing.chunks)
      document.chunks.push_back({place, check_of(write_down(writing, place))});
    return document;
  }

  const std::string& write_down(const Writing& writing, const ChunkSpan& place) {
    const auto words = [&](TextSpan span) {
      return std::string_view(writing.text).substr(span.start, span.end - span.start);
    };
    std::vector<std::string_view> headings;
    for (const TextSpan heading : place.context) headings.push_back(words(heading));
    const std::string title =
        writing.title_span.empty() ? writing.title : std::string(words(writing.title_span));
    const std::string line = shorten_line(context_line(writing.is_file ? writing.name : "", title));
    const std::string body(words(place.span));
    Written& one = written[static_cast<std::uint64_t>(next_id_++)];
    one = {writing.name, title, body, embedded_text(line, headings, body)};
    return one.embedded;
  }

  std::int64_t next_id_ = 1;
  std::unique_ptr<SegmentDraft> draft_;
  std::map<std::string, SourceRecord> pending_;
  std::vector<std::shared_ptr<Bytes>> kept_;
  std::vector<std::shared_ptr<const Segment>> segments_;
  std::shared_ptr<const Catalogue> catalogue_ =
      std::make_shared<const Catalogue>(std::vector<std::shared_ptr<const Segment>>());
};

// A library of all kinds of sources in three segments, of whose sources some are gone.
struct SmallLibrary : Library {
  SmallLibrary() {
    put({.name = "gone", .text = "A lease that nobody has signed.\n\nMore of it."});
    put({.name = "old.txt",
         .text = "The lease was due in winter.",
         .is_file = true,
         .segment = kVerbatim});
    put({.name = "tea",
         .text = "Tea leaves\n\nGreen tea is steamed.\n\nBlack tea is rolled and dried.",
         .title_span = {0, 10},
         .metadata = R"({"lang":"en","year":2021})"});
    commit();
    const std::string lease = "# Lease\n\nRent is due on the first.\n\nThe lease ends in March.\n";
    put({.name = "lease.md",
         .text = lease,
         .is_file = true,
         .segment = kVerbatim,
         .title_span = {2, 7},
         .chunks = {{{0, 34}, {}}, {{36, 60}, {{2, 7}}}}});
    put({.name = "letters.mbox",
         .text = "The landlord writes about rent.About the flat",
         .is_file = true,
         .title_span = {31, 45},
         .places = {{0, 1}, {20, 2}},
         .key = "7",
         .unit = "message"});
    put({.name = "letters.mbox",
         .text = "The tenant answers, and pays in tea.",
         .is_file = true,
         .title = "Answer",
         .key = "8",
         .unit = "message"});
    put({.name = "away",
         .text = "Far away the rent is higher.\n\nNobody drinks tea there.",
         .segment = kAway,
         .metadata = R"({"lang":"en","year":2024})"});
    commit();
    remove("gone", false);
    remove("old.txt", true);
    put({.name = "müller/notiz.txt",
         .text = "Notes on tea.\n\nPay the rent.\n\nCall the landlord.",
         .is_file = true,
         .segment = kVerbatim,
         .metadata = R"({"lang":"de"})"});
    commit();
  }
};

// A library whose words are many, without texts that are elsewhere.
struct LargeLibrary : Library {
  LargeLibrary() {
    Random random(3);
    for (int i = 0; i < 60; ++i) {
      std::string text = "Title " + std::to_string(i);
      for (int chunk = 0; chunk < 1 + i % 5; ++chunk) {
        text += "\n\n";
        for (std::uint64_t words = 3 + random.below(40); words > 0; --words)
          text += "word" + std::to_string(random.below(50)) + ' ';
      }
      const bool is_file = i % 3 == 0;
      put({.name = "n" + std::to_string(i),
           .text = text,
           .is_file = is_file,
           .segment = is_file ? kVerbatim : kHere,
           .title_span = i % 2 == 0 ? TextSpan{0, 7} : TextSpan{0, 0}});
      if (i % 20 == 19) commit();
    }
    remove("n1", false);
    remove("n3", true);
    commit();
  }
};

}  // namespace gossamer::testing
