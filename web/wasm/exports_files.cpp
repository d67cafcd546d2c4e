// Files of segments, as far as they are here, and what they hold: see core/sources.ts.

#include <memory>

#include "segments.h"
#include "store/old_texts.h"
#include "store/verify.h"

namespace gossamer::wasm {
namespace {

// Fills memory with what packed bytes unpack to; 0 if they are something else.
extern "C" __attribute__((import_module("host"), import_name("unpack"))) int host_unpack(
    const std::uint8_t* packed, std::size_t packed_size, std::uint8_t* out, std::size_t size);

}  // namespace

const Codecs& host_codecs() {
  static const Codecs codecs{
      {[](ByteView) { return Bytes(); },
       [](ByteView packed, std::span<std::uint8_t> out) {
         return host_unpack(packed.data(), packed.size(), out.data(), out.size()) != 0;
       }},
      {[](ByteView, ByteView) { return Bytes(); },
       [](ByteView packed, ByteView dictionary, std::span<std::uint8_t> text) {
         return dictionary.empty() && codecs.columns.unpack(packed, text);
       },
       nullptr}};
  return codecs;
}

std::size_t give_blocks(std::span<const Block> blocks) {
  std::vector<double>& numbers = given().numbers;
  numbers.clear();
  for (const Block& block : blocks) {
    for (const double value :
         {static_cast<double>(block.size), static_cast<double>(block.packed_size),
          static_cast<double>(block.checksum), block.is_packed ? 1.0 : 0.0})
      numbers.push_back(value);
  }
  given().first = numbers.data();
  return numbers.size();
}

std::vector<std::shared_ptr<const Segment>> take_segments(SegmentFile** files,
                                                          const double* numbers,
                                                          std::size_t count) {
  std::vector<std::shared_ptr<const Segment>> segments;
  for (std::size_t i = 0; i < count; ++i) {
    const std::shared_ptr<SegmentFile> file(files[i]);
    const auto segment =
        std::make_shared<Segment>(static_cast<std::uint64_t>(numbers[i]), std::move(file->sections),
                                  Origin::kOwn, host_codecs());
    // Which keeps the bytes that it is a view of.
    segments.emplace_back(segment.get(), [segment, file](const Segment*) {});
  }
  return segments;
}

// Begins with the head of a file, whose bytes are taken over.
GOSSAMER_EXPORT(segment_new)
SegmentFile* segment_new(std::uint8_t* head, std::size_t size, double file_size) {
  auto file = std::make_unique<SegmentFile>();
  file->taken.emplace_back(head);
  file->sections = Container::parse_head({head, size}, static_cast<std::uint64_t>(file_size));
  return file.release();
}

GOSSAMER_EXPORT(segment_free) void segment_free(SegmentFile* file) { delete file; }

// One section, whose bytes are taken over.
GOSSAMER_EXPORT(segment_attach)
void segment_attach(SegmentFile* file, std::uint32_t kind, std::uint8_t* bytes, std::size_t size) {
  file->taken.emplace_back(bytes);
  file->sections.attach(static_cast<SectionKind>(kind), {bytes, size});
}

// All sources of a stranger's segment, whose texts have this number.
GOSSAMER_EXPORT(segment_sources)
SourceList* segment_sources(const SegmentFile* file, double number) {
  const SegmentGroups groups(file->sections, Origin::kOther, host_codecs().columns);
  auto list = std::make_unique<SourceList>();
  const Ints strings = list->number_strings(groups.strings());
  std::uint64_t budget = groups.budget();
  for (std::size_t group = 0; group < groups.group_count(); ++group)
    list->append_all(strings, groups.read_apart(group, &budget)->sources,
                     static_cast<std::int64_t>(number));
  verify_sources(list->sources(), list->strings().size(), Origin::kOther);
  return list.release();
}

GOSSAMER_EXPORT(segment_blocks) std::size_t segment_blocks(const SegmentFile* file) {
  return give_blocks(read_blocks(file->sections, Origin::kOther, host_codecs().columns));
}

// What packages, and indexes and single files of version 1 hold.
GOSSAMER_EXPORT(sources_read)
SourceList* sources_read(const std::uint8_t* bytes, std::size_t size, bool is_own) {
  const Origin origin = is_own ? Origin::kOwn : Origin::kOther;
  return new SourceList(SourceList::read({bytes, size}, origin, host_codecs().columns));
}

GOSSAMER_EXPORT(sources_free) void sources_free(SourceList* list) { delete list; }

// The blocks of texts of version 1, whose head and tail stand one behind the other.
GOSSAMER_EXPORT(old_blocks)
std::size_t old_blocks(const std::uint8_t* bytes, std::size_t head, std::size_t tail,
                       double file_size) {
  const BlockView texts =
      read_old_texts({bytes, head}, {bytes + head, tail}, static_cast<std::uint64_t>(file_size),
                     host_codecs().texts);
  return give_blocks(texts.blocks());
}

}  // namespace gossamer::wasm
