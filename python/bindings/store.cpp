#include "store.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "errors.h"
#include "index/index.h"
#include "store/catalogue.h"
#include "store/draft.h"
#include "store/merge.h"
#include "store/old_texts.h"
#include "store/schema.h"
#include "store/text_store.h"
#include "store/verify.h"

using namespace gossamer;

namespace {

Bytes copy_of(const nb::object& given) {
  const auto bytes = nb::cast<nb::bytes>(given);
  const ByteView view = view_of(bytes);
  return {view.begin(), view.end()};
}

// Fills the whole span with what a function of the host gave; false if it gave None.
bool fill(const nb::object& given, std::span<std::uint8_t> out) {
  if (given.is_none()) return false;
  const auto bytes = nb::cast<nb::bytes>(given);
  if (bytes.size() != out.size()) return false;
  std::copy_n(view_of(bytes).begin(), out.size(), out.begin());
  return true;
}

// The host's functions; they may be called from any thread.
using Pack = nb::typed<nb::callable, nb::bytes(nb::bytes)>;
using Unpack = nb::typed<nb::callable, std::optional<nb::bytes>(nb::bytes, std::size_t)>;
using PackText = nb::typed<nb::callable, nb::bytes(nb::bytes, nb::bytes)>;
using PrepareBase = nb::typed<nb::callable, nb::object(nb::bytes)>;
using PackAfter = nb::typed<nb::callable, nb::bytes(nb::bytes, nb::object)>;
using UnpackAfter =
    nb::typed<nb::callable, std::optional<nb::bytes>(nb::bytes, nb::object, std::size_t)>;
using UnpackText =
    nb::typed<nb::callable, std::optional<nb::bytes>(nb::bytes, nb::bytes, std::size_t)>;

std::unique_ptr<Codecs> make_codecs(Pack pack, Unpack unpack, PackText pack_text,
                                    UnpackText unpack_text, PrepareBase prepare,
                                    PackAfter pack_after, UnpackAfter unpack_after,
                                    std::size_t base_bytes) {
  auto codecs = std::make_unique<Codecs>();
  codecs->columns.pack = [pack](ByteView bytes) {
    const nb::gil_scoped_acquire gil;
    return copy_of(pack(bytes_of(bytes)));
  };
  codecs->columns.unpack = [unpack](ByteView packed, std::span<std::uint8_t> out) {
    const nb::gil_scoped_acquire gil;
    return fill(unpack(bytes_of(packed), out.size()), out);
  };
  codecs->texts.pack = [pack_text](ByteView text, ByteView dictionary) {
    const nb::gil_scoped_acquire gil;
    return copy_of(pack_text(bytes_of(text), bytes_of(dictionary)));
  };
  codecs->texts.unpack = [unpack_text](ByteView packed, ByteView dictionary,
                                       std::span<std::uint8_t> out) {
    const nb::gil_scoped_acquire gil;
    return fill(unpack_text(bytes_of(packed), bytes_of(dictionary), out.size()), out);
  };
  codecs->texts.prepare = [prepare](ByteView base) {
    const nb::gil_scoped_acquire gil;
    return TextCodec::Prepared(new nb::object(prepare(bytes_of(base))), [](void* object) {
      const nb::gil_scoped_acquire again;
      delete static_cast<nb::object*>(object);
    });
  };
  codecs->texts.pack_after = [pack_after](ByteView text, const TextCodec::Prepared& base) {
    const nb::gil_scoped_acquire gil;
    return copy_of(pack_after(bytes_of(text), *static_cast<nb::object*>(base.get())));
  };
  codecs->texts.unpack_after = [unpack_after](ByteView packed, const TextCodec::Prepared& base,
                                              std::span<std::uint8_t> out) {
    const nb::gil_scoped_acquire gil;
    const nb::object& known = *static_cast<nb::object*>(base.get());
    return fill(unpack_after(bytes_of(packed), known, out.size()), out);
  };
  codecs->texts.base_bytes = base_bytes;
  return codecs;
}

// The parts of a file as they will be written, and what they point into.
class SegmentParts {
 public:
  template <class Made>
  explicit SegmentParts(std::shared_ptr<Made> made) : owner_(made) {
    made->finish(image_);
    parts_ = image_.finish();
  }

  std::size_t size() const { return parts_.size(); }
  nb::ndarray<nb::numpy, const std::uint8_t> part(std::size_t i, nb::handle owner) const {
    const std::size_t shape[1] = {parts_[i].size()};
    return nb::ndarray<nb::numpy, const std::uint8_t>(parts_[i].data(), 1, shape, owner);
  }

 private:
  std::shared_ptr<void> owner_;
  FileImage image_;
  std::vector<ByteView> parts_;
};

// Sources in and out, as tuples: Python has records of its own.

using ChunkTuple = std::tuple<std::size_t, std::size_t,
                              std::vector<std::pair<std::size_t, std::size_t>>, std::uint32_t>;

ChunkRecord read_chunk(const nb::handle& given) {
  const auto [start, end, context, check] = nb::cast<ChunkTuple>(given);
  ChunkRecord record{{{start, end}, {}}, check};
  for (const auto& [first, last] : context) record.place.context.push_back({first, last});
  return record;
}

DocumentRecord read_document(const nb::tuple& given) {
  DocumentRecord record;
  std::size_t at = 0;
  for (std::string* text :
       {&record.kind, &record.unit, &record.key, &record.title, &record.metadata})
    *text = string_of(nb::cast<nb::bytes>(given[at++]));
  record.length = nb::cast<std::int64_t>(given[at++]);
  const auto segment = nb::cast<std::int64_t>(given[at++]);
  record.segment = segment == kVerbatim || segment == kAway ? segment : kHere;
  record.offset = nb::cast<std::int64_t>(given[at++]);
  const auto [start, end] = nb::cast<std::pair<std::size_t, std::size_t>>(given[at++]);
  record.title_span = {start, end};
  for (const auto& [offset, number] :
       nb::cast<std::vector<std::pair<std::int64_t, std::int64_t>>>(given[at++]))
    record.places.push_back({offset, number});
  record.first_chunk = nb::cast<std::int64_t>(given[at++]);
  for (const nb::handle chunk : given[at]) record.chunks.push_back(read_chunk(chunk));
  return record;
}

SourceRecord read_source(const nb::tuple& given) {
  SourceRecord record;
  std::size_t at = 0;
  for (std::string* text : {&record.root, &record.name, &record.kind, &record.reason})
    *text = string_of(nb::cast<nb::bytes>(given[at++]));
  record.status = static_cast<Status>(nb::cast<std::uint8_t>(given[at++]));
  record.reader_version = nb::cast<std::int64_t>(given[at++]);
  record.size = nb::cast<std::int64_t>(given[at++]);
  record.time_ns = nb::cast<std::int64_t>(given[at++]);
  record.content_hash = nb::cast<std::uint64_t>(given[at++]);
  for (const nb::handle document : given[at])
    record.documents.push_back(read_document(nb::cast<nb::tuple>(document)));
  return record;
}

using SourceTuple = std::tuple<nb::bytes, nb::bytes, nb::bytes, nb::bytes, int, std::int64_t,
                               std::int64_t, std::int64_t, std::uint64_t>;
using DocumentTuple =
    std::tuple<nb::bytes, nb::bytes, nb::bytes, nb::bytes, nb::bytes, std::int64_t, std::int64_t,
               std::int64_t, std::pair<std::size_t, std::size_t>,
               std::vector<std::pair<std::int64_t, std::int64_t>>, std::int64_t, std::size_t>;
using Numbers = nb::ndarray<nb::numpy, std::int64_t>;
using ChunkTuples = std::tuple<Numbers, Numbers, Numbers, Numbers,
                               std::vector<std::vector<std::pair<std::size_t, std::size_t>>>>;

SourceTuple source_tuple(const Catalogue& catalogue, std::size_t row) {
  const Catalogue::Place place = catalogue.source(row);
  const SourceRecord source = place.group->rows.source_alone(place.row);
  return SourceTuple(bytes_of(source.root), bytes_of(source.name), bytes_of(source.kind),
                     bytes_of(source.reason), static_cast<int>(source.status),
                     source.reader_version, source.size, source.time_ns, source.content_hash);
}

DocumentTuple document_tuple(const Catalogue& catalogue, std::size_t row) {
  const Catalogue::Place place = catalogue.document(row);
  const DocumentRecord document = place.group->rows.document_alone(place.row);
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const NumberedPlace& one : document.places) places.emplace_back(one.offset, one.number);
  const std::int64_t segment = document.segment == kHere
                                   ? static_cast<std::int64_t>(place.part->segment->number())
                                   : document.segment;
  return DocumentTuple(bytes_of(document.kind), bytes_of(document.unit), bytes_of(document.key),
                       bytes_of(document.title), bytes_of(document.metadata), document.length,
                       segment, document.offset,
                       std::pair(document.title_span.start, document.title_span.end), places,
                       document.first_chunk, place.group->rows.chunks_of(place.row).size());
}

// Where each chunk is: rows of documents, starts, ends, checks, and the headings above it.
ChunkTuples locate(const Catalogue& catalogue, const IdRow& ids) {
  const std::size_t count = ids.size();
  std::vector<std::int64_t> documents(count), starts(count), ends(count), checks(count);
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> contexts(count);
  std::vector<ChunkRecord> chunks;
  std::optional<std::size_t> read;  // the document that they are of
  for (const std::size_t i : catalogue.in_order({ids.data(), count})) {
    const Catalogue::ChunkPlace place = catalogue.chunk(ids.data()[i]);
    if (read != place.document_row) chunks = place.document.group->rows.chunks(place.document.row);
    read = place.document_row;
    const ChunkRecord& chunk = chunks[place.number];
    documents[i] = static_cast<std::int64_t>(place.document_row);
    starts[i] = static_cast<std::int64_t>(chunk.place.span.start);
    ends[i] = static_cast<std::int64_t>(chunk.place.span.end);
    checks[i] = chunk.check;
    for (const TextSpan& heading : chunk.place.context)
      contexts[i].emplace_back(heading.start, heading.end);
  }
  return ChunkTuples(to_numpy(std::move(documents), {count}), to_numpy(std::move(starts), {count}),
                     to_numpy(std::move(ends), {count}), to_numpy(std::move(checks), {count}),
                     contexts);
}

// Rows of documents alone: of one chunk, or of all there are.
nb::ndarray<nb::numpy, std::int64_t> document_rows(const Catalogue& catalogue, const IdRow& ids) {
  std::vector<std::int64_t> rows(ids.size());
  for (const std::size_t i : catalogue.in_order({ids.data(), ids.size()}))
    rows[i] = static_cast<std::int64_t>(catalogue.chunk(ids.data()[i]).document_row);
  const std::size_t count = rows.size();
  return to_numpy(std::move(rows), {count});
}

// Size and time of a file as it was read, and the version of its reader.
std::tuple<std::int64_t, std::int64_t, std::int64_t> stat_of(const Catalogue& catalogue,
                                                             std::size_t row) {
  const Catalogue::Place place = catalogue.source(row);
  const auto& columns = place.group->sources.columns;
  return {columns[SourceColumns::kSize][place.row], columns[SourceColumns::kTime][place.row],
          columns[SourceColumns::kReaderVersion][place.row]};
}

// What a source counts for: its status, documents, chunks, and bytes of text.
std::tuple<int, std::size_t, std::size_t, std::int64_t> tally(const Catalogue& catalogue,
                                                              std::size_t row) {
  const Catalogue::Place place = catalogue.source(row);
  const SourceRows& rows = place.group->rows;
  const RowRange documents = rows.documents_of(place.row);
  std::int64_t bytes = 0;
  for (std::size_t i = documents.first; i < documents.end; ++i)
    bytes += rows.document_alone(i).length;
  return {static_cast<int>(rows.source_alone(place.row).status), documents.size(),
          rows.chunks_of_source(place.row).size(), bytes};
}

nb::ndarray<nb::numpy, std::uint8_t> codes_of(const Catalogue& catalogue, const IdRow& ids) {
  std::vector<std::uint8_t> codes;
  const std::size_t width = catalogue.stamp().bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Catalogue::ChunkPlace place = catalogue.chunk(ids.data()[i]);
    const Segment& segment = *place.document.part->segment;
    const ByteView code = segment.codes().subspan(place.row * width, width);
    codes.insert(codes.end(), code.begin(), code.end());
  }
  return to_numpy(std::move(codes), {ids.size(), width});
}

CodeStamp stamp_of(const Codebook& codebook) {
  return {static_cast<std::uint32_t>(codebook.code_bytes()), codebook.fingerprint()};
}

using StampPair = std::pair<std::uint32_t, std::uint64_t>;  // length, fingerprint of the codebook
CodeStamp stamp_from(const StampPair& given) { return {given.first, given.second}; }

std::unique_ptr<Index> open_codes(const Catalogue& catalogue, std::shared_ptr<Codebook> codebook,
                                  const Calibration* calibration) {
  const nb::gil_scoped_release release;
  IndexOptions options;
  options.dim = codebook->dim();
  options.metric = codebook->metric();
  options.scalar = Scalar::kF32;
  expect(catalogue.stamp().bytes > 0, Reason::kDamaged, "the segments of the index have no codes");
  expect(catalogue.stamp() == stamp_of(*codebook), Reason::kCodebookMismatch,
         "the index was built with another codebook than the one given");
  const std::vector<std::uint64_t> ids = catalogue.ids();
  return Index::assemble(options, std::move(codebook), catalogue.codes(), Graph(), ids,
                         calibration == nullptr ? Calibration() : *calibration);
}

std::unique_ptr<SegmentParts> merge(const Catalogue& catalogue,
                                    const std::vector<std::size_t>& chosen,
                                    const StampPair& given_stamp,
                                    const std::optional<std::pair<IdRow, ByteMatrix>>& given,
                                    bool packs_anew, std::size_t block_bytes, const Codecs& codecs,
                                    std::int64_t id_shift) {
  for (const std::size_t number : chosen)
    expect(number < catalogue.parts().size(), Reason::kInvalidArgument,
           "there is no segment of this number");
  const CodeStamp stamp = stamp_from(given_stamp);
  auto image = std::make_shared<SegmentImage>(stamp, block_bytes, codecs);
  GivenCodes codes;
  if (given) {
    const auto& [ids, rows] = *given;
    expect(rows.shape(0) == ids.size() && rows.shape(1) == stamp.bytes, Reason::kInvalidArgument,
           "there are more or fewer codes than ids");
    for (std::size_t i = 0; i < ids.size(); ++i) codes.places.set(ids.data()[i], i);
    codes.codes = {rows.data(), rows.size()};
  }
  const nb::gil_scoped_release release;
  merge_segments(catalogue, chosen, stamp, given ? &codes : nullptr, packs_anew, id_shift, *image);
  return std::make_unique<SegmentParts>(std::move(image));
}

// Sources of a list, with other places of their texts.
void add_all(SegmentDraft& draft, const SourceList& list, const IntRow& segments,
             const IntRow& offsets) {
  const SourceList placed =
      list.place_texts({segments.data(), segments.size()}, {offsets.data(), offsets.size()});
  const SourceRows rows(placed.sources(), placed.strings());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    SourceRecord source = rows.source(row);
    for (DocumentRecord& one : source.documents)
      if (one.segment != kVerbatim && one.segment != kAway) one.segment = kHere;
    draft.add(std::move(source));
  }
}

SourceName name_from(bool is_file, const nb::bytes& path) { return {string_of(path), is_file}; }

// What the parts of a file take: its catalogue, codes and texts.
std::tuple<std::size_t, std::size_t, std::size_t> part_bytes(const Segment& segment) {
  std::size_t codes = 0, texts = 0;
  const Container file = Container::parse(segment.bytes());
  for (const SectionKind kind : {SectionKind::kCodes, SectionKind::kCodeStamp})
    codes += file.bytes(kind).size();
  for (const SectionKind kind :
       {SectionKind::kBlocks, SectionKind::kBlockDirectory, SectionKind::kDictionaries})
    texts += file.bytes(kind).size();
  return {segment.bytes().size() - codes - texts, codes, texts};
}

// Texts of version 1 that are open, by the number of their file.
struct OldTexts {
  std::uint64_t number;
  BlockView texts;
};

// What has texts: a segment, or a file of version 1.
using TextFile = std::variant<std::shared_ptr<Segment>, std::shared_ptr<OldTexts>>;

std::unique_ptr<TextStore> make_text_store(const std::vector<TextFile>& files) {
  auto store = std::make_unique<TextStore>();
  for (const TextFile& file : files) {
    if (const auto* segment = std::get_if<std::shared_ptr<Segment>>(&file))
      store->add((*segment)->number(), {*segment, &(*segment)->texts()});
    else if (const auto* old = std::get_if<std::shared_ptr<OldTexts>>(&file))
      store->add((*old)->number, {*old, &(*old)->texts});
  }
  return store;
}

nb::bytes read_text(const TextStore& store, std::int64_t segment, std::int64_t start,
                    std::int64_t end) {
  Bytes text;
  {
    const nb::gil_scoped_release release;
    text = store.read(static_cast<std::uint64_t>(segment), static_cast<std::uint64_t>(start),
                      static_cast<std::uint64_t>(end));
  }
  return bytes_of(text);
}

// The segment that is some of the sections of a file; the others are not its own.
std::shared_ptr<Segment> segment_in(std::uint64_t number, const ByteRow& file,
                                    const std::vector<std::uint32_t>& kinds, const Codecs& codecs) {
  const ByteView bytes(file.data(), file.size());
  const Container whole = Container::parse(bytes);
  Container part = Container::parse_head(bytes, bytes.size());
  for (const std::uint32_t given : kinds) {
    const auto kind = static_cast<SectionKind>(given);
    if (whole.has(kind)) part.attach(kind, whole.bytes(kind));
  }
  return std::make_shared<Segment>(number, std::move(part), Origin::kOther, codecs);
}

// Where among the packed blocks of a segment a part of its text is: from where on, how many bytes.
std::pair<std::uint64_t, std::uint64_t> packed_range(const Segment& segment, std::uint64_t start,
                                                     std::uint64_t end) {
  const std::span<const Block> blocks = segment.texts().blocks_between(start, end);
  if (blocks.empty()) return {0, 0};
  const std::uint64_t first = blocks.front().at;
  return {first, blocks.back().at + blocks.back().packed_size - first};
}

void bind_segments(nb::module_& m) {
  nb::class_<Codecs>(m, "Codecs")
      .def(nb::new_(&make_codecs), nb::arg("pack"), nb::arg("unpack"), nb::arg("pack_text"),
           nb::arg("unpack_text"), nb::arg("prepare"), nb::arg("pack_after"),
           nb::arg("unpack_after"), nb::arg("base_bytes"));
  nb::class_<Segment>(m, "Segment", nb::is_weak_referenceable())
      .def(nb::new_(
               [](std::uint64_t number, const ByteRow& file, bool is_own, const Codecs& codecs) {
                 return std::make_shared<Segment>(number, ByteView(file.data(), file.size()),
                                                  is_own ? Origin::kOwn : Origin::kOther, codecs);
               }),
           nb::arg("number"), nb::arg("file"), nb::arg("is_own"), nb::arg("codecs"),
           nb::keep_alive<0, 3>(), nb::keep_alive<0, 5>())
      .def_static("of_stranger", &segment_in, nb::arg("number"), nb::arg("file"), nb::arg("kinds"),
                  nb::arg("codecs"), nb::keep_alive<0, 2>(), nb::keep_alive<0, 4>())
      .def("packed_range", &packed_range, nb::arg("start"), nb::arg("end"))
      .def_prop_ro("number", &Segment::number)
      .def_prop_ro("text_bytes", [](const Segment& self) { return self.texts().size(); })
      .def_prop_ro("unpacked_bytes",
                   [](const Segment& self) { return self.sources().unpacked_bytes(); })
      .def_prop_ro("file",
                   [](nb::handle_t<Segment> self) {
                     const ByteView bytes = nb::cast<const Segment&>(self).bytes();
                     const std::size_t shape[1] = {bytes.size()};
                     return nb::ndarray<nb::numpy, const std::uint8_t>(bytes.data(), 1, shape,
                                                                       self);
                   })
      .def("part_bytes", &part_bytes);
  nb::class_<OldTexts>(m, "OldTexts")
      .def(nb::new_([](std::uint64_t number, const ByteRow& file, const Codecs& codecs) {
             return std::shared_ptr<OldTexts>(new OldTexts{
                 number, read_old_texts(ByteView(file.data(), file.size()), codecs.texts)});
           }),
           nb::arg("number"), nb::arg("file"), nb::arg("codecs"), nb::keep_alive<0, 3>(),
           nb::keep_alive<0, 4>())
      .def_ro("number", &OldTexts::number)
      .def_prop_ro("text_bytes", [](const OldTexts& self) { return self.texts.size(); });
  // Keeps the list, which keeps the files.
  nb::class_<TextStore>(m, "TextStore")
      .def(nb::new_(&make_text_store), nb::arg("files"), nb::keep_alive<0, 2>())
      .def_prop_ro("lengths", &TextStore::sizes)
      .def("read", &read_text, nb::arg("segment"), nb::arg("start"), nb::arg("end"));
  nb::class_<SegmentParts>(m, "SegmentParts").def("parts", [](nb::handle_t<SegmentParts> self) {
    const auto& parts = nb::cast<const SegmentParts&>(self);
    std::vector<nb::ndarray<nb::numpy, const std::uint8_t>> all;
    for (std::size_t i = 0; i < parts.size(); ++i) all.push_back(parts.part(i, self));
    return all;
  });
}

void bind_draft(nb::module_& m) {
  nb::class_<SegmentDraft>(m, "SegmentDraft")
      .def(nb::new_([](const StampPair& stamp, std::size_t block_bytes, const Codecs& codecs) {
             return std::make_shared<SegmentDraft>(stamp_from(stamp), block_bytes, codecs);
           }),
           nb::arg("stamp"), nb::arg("block_bytes"), nb::arg("codecs"), nb::keep_alive<0, 4>())
      .def(
          "add_text",
          [](SegmentDraft& self, const nb::bytes& text) { return self.texts().add(view_of(text)); },
          nb::arg("text"))
      .def(
          "add", [](SegmentDraft& self, const nb::tuple& source) { self.add(read_source(source)); },
          nb::arg("source"), nb::sig("def add(self, source: tuple[object, ...]) -> None"))
      .def("add_all", &add_all, nb::arg("sources"), nb::arg("segments"), nb::arg("offsets"))
      .def("add_again", &SegmentDraft::add_again, nb::arg("catalogue"), nb::arg("row"),
           nb::arg("mtime_ns"), nb::arg("reader_version"))
      .def(
          "add_codes",
          [](SegmentDraft& self, const IdRow& ids, const ByteMatrix& codes) {
            self.add_codes({ids.data(), ids.size()}, {codes.data(), codes.size()});
          },
          nb::arg("ids"), nb::arg("codes"))
      .def(
          "remove",
          [](SegmentDraft& self, const Catalogue& catalogue, std::size_t row) {
            const auto [segment, gone] = catalogue.gone_of(row);
            self.gone().add(segment, gone);
          },
          nb::arg("catalogue"), nb::arg("row"))
      .def(
          "has",
          [](const SegmentDraft& self, bool is_file, const nb::bytes& path) {
            return self.has(name_from(is_file, path));
          },
          nb::arg("is_file"), nb::arg("path"))
      .def_prop_ro("is_empty", &SegmentDraft::empty)
      .def_prop_ro("chunk_count", &SegmentDraft::chunk_count)
      .def_prop_ro("text_bytes", [](SegmentDraft& self) { return self.texts().size(); })
      .def_prop_ro("packed_bytes", [](SegmentDraft& self) { return self.texts().packed_bytes(); })
      .def("finish", [](std::shared_ptr<SegmentDraft> self) {
        const nb::gil_scoped_release release;
        return std::make_unique<SegmentParts>(self);
      });
}

void bind_catalogue(nb::module_& m) {
  nb::class_<Catalogue>(m, "Catalogue")
      .def(nb::new_([](const std::vector<std::shared_ptr<Segment>>& segments) {
             return std::make_shared<Catalogue>(
                 std::vector<std::shared_ptr<const Segment>>(segments.begin(), segments.end()));
           }),
           nb::arg("segments"))
      .def_static(
          "of_list",
          [](const SourceList& list) {
            return std::make_shared<Catalogue>(
                std::vector<std::shared_ptr<const Segment>>{std::make_shared<const Segment>(list)});
          },
          nb::arg("list"))
      .def_prop_ro("counts",
                   [](const Catalogue& self) {
                     const Counts& counts = self.counts();
                     return std::tuple(counts.sources, counts.documents, counts.chunks);
                   })
      .def(
          "find",
          [](const Catalogue& self, bool is_file, const nb::bytes& path) {
            return self.find(name_from(is_file, path));
          },
          nb::arg("is_file"), nb::arg("path"))
      .def(
          "files_below",
          [](const Catalogue& self, const nb::bytes& path) {
            return self.files_below(string_of(path));
          },
          nb::arg("path"))
      .def("source", &source_tuple, nb::arg("row"))
      .def("stat", &stat_of, nb::arg("row"))
      .def("tally", &tally, nb::arg("row"))
      .def("document", &document_tuple, nb::arg("row"))
      .def(
          "documents_of",
          [](const Catalogue& self, std::size_t source) {
            const RowRange rows = self.documents_of(source);
            return std::pair(rows.first, rows.end);
          },
          nb::arg("source"))
      .def("source_of", &Catalogue::source_of, nb::arg("document"))
      .def("locate", &locate, nb::arg("ids"))
      .def("document_rows", &document_rows, nb::arg("ids"))
      .def("ids",
           [](const Catalogue& self) {
             std::vector<std::uint64_t> ids = self.ids();
             const std::size_t count = ids.size();
             return to_numpy(std::move(ids), {count});
           })
      .def_prop_ro("stamp",
                   [](const Catalogue& self) {
                     const CodeStamp stamp = self.stamp();
                     return StampPair(stamp.bytes, stamp.codebook);
                   })
      .def("codes_of", &codes_of, nb::arg("ids"))
      .def("open_codes", &open_codes, nb::arg("codebook"), nb::arg("calibration").none(),
           nb::keep_alive<0, 1>())
      .def("listing",
           [](const Catalogue& self) {
             const nb::gil_scoped_release release;
             return self.list();
           })
      .def("verify", &Catalogue::verify, nb::call_guard<nb::gil_scoped_release>())
      .def("segments_to_merge", &segments_to_merge, nb::arg("fresh"))
      .def("merge", &merge, nb::arg("chosen"), nb::arg("stamp"), nb::arg("given").none(),
           nb::arg("packs_anew"), nb::arg("block_bytes"), nb::arg("codecs"),
           nb::arg("id_shift") = 0, nb::keep_alive<0, 1>(), nb::keep_alive<0, 7>());
}

}  // namespace

void bind_store(nb::module_& m) {
  bind_segments(m);
  bind_draft(m);
  bind_catalogue(m);
}
