#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gossamer {

// A value of JSON. Texts are UTF-8 in which a lone surrogate stands as three bytes, as in the
// store.
struct JsonValue {
  enum class Kind : std::uint8_t { kNothing, kBool, kInteger, kReal, kText, kList, kObject };

  Kind kind = Kind::kNothing;
  std::int64_t integer = 0;  // 0 or 1 of a kBool
  double real = 0;
  std::string text;
  std::vector<JsonValue> items;  // of a list; of an object names and values in turn, each name once
  std::size_t begin = 0, end = 0;  // where it stands in what was read

  static JsonValue of(std::string text);
  static JsonValue of(std::int64_t integer);
  bool is(Kind other) const { return kind == other; }
  // What an object has under a name; nullptr if it has nothing there.
  const JsonValue* find(std::string_view name) const;
};

// A number as JSON and filters write it. An integer of more than 64 bits is a kReal.
JsonValue read_number(std::string_view written);

// What a text says that is JSON to the letter, but for NaN and Infinity, which Python writes. Of
// several members of one name the last counts. Where it is none, `reason`: "`what` is no JSON".
JsonValue read_json(std::string_view text, std::string_view what, Reason reason);

// Metadata of a document as the catalogue keeps it: an object of texts, numbers and true or false;
// nothing is an empty one. kDamaged for anything else.
JsonValue read_metadata(std::string_view text);

}  // namespace gossamer
