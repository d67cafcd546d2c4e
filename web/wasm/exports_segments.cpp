// The segments of an index: opened as one catalogue, written, and merged. See core/segments.ts.

#include <memory>

#include "segments.h"
#include "store/draft.h"
#include "store/merge.h"
#include "store/source_rows.h"
#include "store/verify.h"

namespace gossamer::wasm {
namespace {

constexpr std::size_t kBlockBytes = 1 << 13;  // small ones, of which a hit reads few

// A file that was made, and what its parts are views of.
struct MadeFile {
  std::shared_ptr<void> owner;
  FileImage image;
  std::vector<ByteView> parts;
};

MadeFile* make_file(std::shared_ptr<void> owner, auto&& finish) {
  auto made = std::make_unique<MadeFile>();
  made->owner = std::move(owner);
  finish(made->image);
  made->parts = made->image.finish();
  return made.release();
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
    record.segment = kHere;
    for (std::int64_t* field : {&record.length, &record.offset, &record.first_chunk})
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

// Texts that are kept are in the segment under way, at these offsets: one for each document.
void place_texts(SourceRecord& source, const double*& offsets) {
  for (DocumentRecord& document : source.documents) {
    const double offset = *offsets++;
    if (document.segment == kVerbatim) continue;
    document.segment = offset < 0 ? kAway : kHere;
    document.offset = offset < 0 ? 0 : static_cast<std::int64_t>(offset);
  }
}

}  // namespace

// The segments of an index, oldest first, whose files are taken over.
GOSSAMER_EXPORT(catalogue_open)
std::shared_ptr<Catalogue>* catalogue_open(SegmentFile** files, const double* numbers,
                                           std::size_t count) {
  return new std::shared_ptr<Catalogue>(
      std::make_shared<Catalogue>(take_segments(files, numbers, count)));
}

GOSSAMER_EXPORT(catalogue_free) void catalogue_free(std::shared_ptr<Catalogue>* catalogue) {
  delete catalogue;
}

GOSSAMER_EXPORT(catalogue_list)
SourceList* catalogue_list(const std::shared_ptr<Catalogue>* catalogue) {
  auto list = std::make_unique<SourceList>((*catalogue)->list());
  verify_sources(list->sources(), list->strings().size(), Origin::kOwn);
  return list.release();
}

GOSSAMER_EXPORT(catalogue_live)
std::size_t catalogue_live(const std::shared_ptr<Catalogue>* catalogue, std::size_t segment) {
  return (*catalogue)->parts()[segment].counts().sources;
}

GOSSAMER_EXPORT(catalogue_choose)
std::size_t catalogue_choose(const std::shared_ptr<Catalogue>* catalogue, std::size_t fresh) {
  const std::vector<std::size_t> chosen = segments_to_merge(**catalogue, fresh);
  std::vector<std::uint32_t>& words = given().words;
  words.assign(chosen.begin(), chosen.end());
  given().first = words.data();
  return words.size();
}

GOSSAMER_EXPORT(catalogue_merge)
MadeFile* catalogue_merge(const std::shared_ptr<Catalogue>* catalogue, const std::uint32_t* chosen,
                          std::size_t count) {
  auto image = std::make_shared<SegmentImage>(CodeStamp(), kBlockBytes, host_codecs());
  const std::vector<std::size_t> numbers(chosen, chosen + count);
  merge_segments(**catalogue, numbers, CodeStamp(), nullptr, false, 0, *image);
  return make_file(image, [&](FileImage& file) { image->finish(file); });
}

GOSSAMER_EXPORT(draft_new) std::shared_ptr<SegmentDraft>* draft_new() {
  return new std::shared_ptr<SegmentDraft>(
      std::make_shared<SegmentDraft>(CodeStamp(), kBlockBytes, host_codecs()));
}

GOSSAMER_EXPORT(draft_free) void draft_free(std::shared_ptr<SegmentDraft>* draft) { delete draft; }

GOSSAMER_EXPORT(draft_text)
std::size_t draft_text(std::shared_ptr<SegmentDraft>* draft, const std::uint8_t* text,
                       std::size_t size) {
  return static_cast<std::size_t>((*draft)->texts().add({text, size}));
}

// Records, see RecordReader.
GOSSAMER_EXPORT(draft_records)
void draft_records(std::shared_ptr<SegmentDraft>* draft, const std::uint8_t* records,
                   std::size_t size) {
  RecordReader in({records, size});
  while (!in.is_done()) (*draft)->add(in.source());
}

// Rows of a list, with the offsets of the texts of all their documents; below 0 for one that is
// away.
GOSSAMER_EXPORT(draft_rows)
void draft_rows(std::shared_ptr<SegmentDraft>* draft, const SourceList* list,
                const std::uint32_t* rows, std::size_t count, const double* offsets) {
  const SourceRows sources(list->sources(), list->strings());
  for (std::size_t i = 0; i < count; ++i) {
    SourceRecord source = sources.source(rows[i]);
    place_texts(source, offsets);
    (*draft)->add(std::move(source));
  }
}

// A source of the index again, read at another time. `time` is 64 bits.
GOSSAMER_EXPORT(draft_again)
void draft_again(std::shared_ptr<SegmentDraft>* draft, const std::shared_ptr<Catalogue>* catalogue,
                 std::size_t row, const std::int64_t* time, double version, const double* offsets) {
  const Catalogue::Place place = (*catalogue)->source(row);
  SourceRecord source = place.group->rows.source(place.row);
  source.time_ns = *time;
  source.reader_version = static_cast<std::int64_t>(version);
  place_texts(source, offsets);
  (*draft)->add(std::move(source));
}

// Takes a source of the index away.
GOSSAMER_EXPORT(draft_remove)
void draft_remove(std::shared_ptr<SegmentDraft>* draft, const std::shared_ptr<Catalogue>* catalogue,
                  std::size_t row) {
  const auto [segment, gone] = (*catalogue)->gone_of(row);
  (*draft)->gone().add(segment, gone);
}

GOSSAMER_EXPORT(draft_finish) MadeFile* draft_finish(std::shared_ptr<SegmentDraft>* draft) {
  const std::shared_ptr<SegmentDraft> whole = *draft;
  return make_file(whole, [&](FileImage& file) { whole->finish(file); });
}

// A segment of all rows of a list, in their order, without its texts: they stay where they are.
GOSSAMER_EXPORT(sources_segment) MadeFile* sources_segment(const SourceList* list) {
  return make_file(nullptr, [&](FileImage& file) {
    SegmentWriter writer(host_codecs().columns);
    const SourceRows sources(list->sources(), list->strings());
    for (std::size_t row = 0; row < sources.size(); ++row) {
      SourceRecord source = sources.source(row);
      for (DocumentRecord& document : source.documents)
        if (document.segment != kVerbatim && document.segment != kAway) document.segment = kHere;
      writer.add(source);
    }
    writer.finish(file);
  });
}

GOSSAMER_EXPORT(made_free) void made_free(MadeFile* made) { delete made; }

GOSSAMER_EXPORT(made_parts) std::size_t made_parts(const MadeFile* made) {
  return made->parts.size();
}

GOSSAMER_EXPORT(made_part) std::size_t made_part(const MadeFile* made, std::size_t number) {
  given().first = made->parts[number].data();
  return made->parts[number].size();
}

}  // namespace gossamer::wasm
