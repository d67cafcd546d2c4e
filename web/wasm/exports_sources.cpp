// The catalogue of a segment, read and handed over as columns: see core/sources.ts.

#include <memory>

#include "segments.h"
#include "store/schema.h"
#include "store/verify.h"

namespace gossamer::wasm {
namespace {

// Fills memory with what packed bytes unpack to; 0 if they are something else.
extern "C" __attribute__((import_module("host"), import_name("unpack"))) int host_unpack(
    const std::uint8_t* packed, std::size_t packed_size, std::uint8_t* out, std::size_t size);

std::size_t give_text(const std::string& text) {
  Bytes& bytes = given().bytes;
  bytes.resize(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes.size();
}

// Times and hashes have more bits than JavaScript's numbers.
bool is_wide(const TableColumn& column) {
  return column.form == TableColumn::Form::kHash8 || column.name == "mtime_ns";
}

// Names a table, its columns and its children as JSON, with the number of its rows.
void describe(const Table& table, std::string& out) {
  out += "{\"count\":" + std::to_string(table.size()) + ",\"columns\":[";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn column = table.schema->column(i);
    out += i == 0 ? "\"" : ",\"";
    if (is_wide(column)) out += '*';
    out += column.name;
    out += '"';
  }
  out += "],\"children\":{";
  for (std::size_t i = 0; i < table.children.size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    out += table.schema->children[i].name;
    out += "\":";
    describe(table.children[i], out);
  }
  out += "}}";
}

double bits_of(std::int64_t value) {
  double bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double number_of(std::int64_t value) {
  constexpr auto kMost = static_cast<std::int64_t>(kMostNumber);
  expect(value >= -kMost && value <= kMost, Reason::kDamaged,
         "the catalogue has numbers beyond 2^53");
  return static_cast<double>(value);
}

void put_columns(const Table& table, Given& out) {
  out.bytes.insert(out.bytes.end(), table.content.begin(), table.content.end());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool keeps_bits = is_wide(table.schema->column(i));
    for (const std::int64_t value : table.columns[i])
      out.numbers.push_back(keeps_bits ? bits_of(value) : number_of(value));
  }
  for (const Table& child : table.children) put_columns(child, out);
}

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

GOSSAMER_EXPORT(sources_free) void sources_free(SourceList* list) { delete list; }

// What tables there are, as JSON.
GOSSAMER_EXPORT(sources_describe) std::size_t sources_describe(const SourceList* list) {
  std::string text;
  describe(list->sources(), text);
  const std::size_t size = give_text(text);
  given().first = given().bytes.data();
  return size;
}

// The strings, end to end, and how long each is.
GOSSAMER_EXPORT(sources_strings) std::size_t sources_strings(const SourceList* list) {
  Given& out = given();
  std::string texts;
  out.words.clear();
  for (std::size_t i = 0; i < list->strings().size(); ++i) {
    const std::string& text = list->strings()[static_cast<std::int64_t>(i)];
    texts += text;
    out.words.push_back(static_cast<std::uint32_t>(text.size()));
  }
  give_text(texts);
  out.first = out.words.data();
  out.second = out.bytes.data();
  return out.words.size();
}

// All columns, table by table, and all letters.
GOSSAMER_EXPORT(sources_columns) std::size_t sources_columns(const SourceList* list) {
  Given& out = given();
  out.numbers.clear();
  out.bytes.clear();
  put_columns(list->sources(), out);
  out.first = out.numbers.data();
  out.second = out.bytes.data();
  return out.numbers.size();
}

}  // namespace gossamer::wasm
