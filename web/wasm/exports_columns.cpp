// A catalogue handed over as columns: see core/sources.ts.

#include <memory>

#include "segments.h"
#include "store/schema.h"

namespace gossamer::wasm {
namespace {

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

// What tables there are, as JSON.
GOSSAMER_EXPORT(sources_describe) std::size_t sources_describe(const SourceList* list) {
  std::string text;
  describe(list->sources(), text);
  return give_text(text);
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
