// Any bytes as a filter and as a document: an error or an answer, never a crash, never slow.
//
// The first byte chooses what they are: an expression and the fields of a document, parted by a
// zero byte; a filter as JSON, and such fields; patterns and a path, a line each; metadata; a
// number.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "filters/filter.h"
#include "fuzz/input.h"
#include "text/decimal.h"
#include "text/unicode.h"

using namespace gossamer;
using namespace gossamer::fuzz;

namespace {

// As a text of JSON, with every byte that is no text of its own replaced.
std::string to_json(std::string_view text) {
  std::string json = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    if (point == U'"' || point == U'\\') json += '\\';
    append_utf8(json, point < 32 ? U' ' : point);
  }
  return json + "\"";
}

bool match(const Filter& filter, std::string_view given) {
  Json document;
  document.read(given, "a document", Reason::kInvalidArgument);
  std::vector<const JsonValue*> fields;
  for (const std::string_view name : filter.names()) {
    require(filter.asks_for(name), "a filter asks for what it names");
    fields.push_back(document.find(name));
  }
  return filter.matches(fields);
}

void check_filter(const std::string& given, std::string_view fields) {
  match(Filter::read(given), fields);
}

void check_negation(std::string_view expression, std::string_view fields) {
  const std::string plain(expression);
  const Filter filter = Filter::read("{\"where\":" + to_json(plain) + "}");
  const bool is_let_through = match(filter, fields);
  const std::string negated = "not (" + plain + ")";
  bool is_negated = false;
  try {
    is_negated = match(Filter::read("{\"where\":" + to_json(negated) + "}"), fields);
  } catch (const Error&) {
    return;  // one parenthesis too many, or too long
  }
  require(is_let_through != is_negated, "not is the opposite");
}

void check_patterns(std::string_view lines) {
  std::string patterns = "{\"paths\":[\"*\"", path = "{}";
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (lines.empty())
      path = "{\"path\":" + to_json(line) + "}";
    else
      patterns += "," + to_json(line);
  }
  check_filter(patterns + "]}", path);
}

void check_metadata(std::string_view text) {
  Json metadata;
  metadata.read_metadata(text);
  for (const std::size_t name : metadata.items(0)) {
    const JsonValue* found = metadata.find(metadata.values()[name].text);
    require(found >= &metadata.values()[name + 1], "the last of a name is found");
  }
}

void check_number(std::string_view text) {
  Json json;
  json.read(text, "a number", Reason::kInvalidArgument);
  const JsonValue& value = json.root();
  if (!value.is(JsonValue::Kind::kReal) || text.find_first_of("NI") != text.npos) return;
  require(read_decimal(value.written) == std::strtod(std::string(text).c_str(), nullptr),
          "numbers are those of the library");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view first = input.substr(0, input.find('\0'));
  const std::string_view second = input.substr(std::min(first.size() + 1, input.size()));
  try {
    switch (data[0] % 5) {
      case 0:
        check_negation(first, second.empty() ? "{\"year\":2024,\"a\":\"2024-05\"}" : second);
        break;
      case 1:
        check_filter(std::string(first), second);
        break;
      case 2:
        check_patterns(input);
        break;
      case 3:
        check_metadata(input);
        break;
      default:
        check_number(input);
    }
  } catch (const Error&) {
  }
  return 0;
}
