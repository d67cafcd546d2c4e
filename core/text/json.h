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
  std::string_view text;     // of a kText
  std::string_view written;  // as it stands in what was read
  std::size_t end = 0;       // among the values of its document, behind those that it holds

  bool is(Kind other) const { return kind == other; }
};

// A number as JSON and filters write it. An integer of more than 64 bits is a kReal.
JsonValue read_number(std::string_view written);

// What a text says that is JSON to the letter, but for NaN and Infinity, which Python writes. The
// text must outlive it.
class Json {
 public:
  Json() = default;
  Json(const Json&) = delete;  // values are views of it

  // In place of what was read before. Where it is none, `reason`: "`what` is no JSON".
  void read(std::string_view text, std::string_view what, Reason reason);
  // The same of a stranger's, with this message where it is none, or holds more values than `most`.
  void read_or(std::string_view text, std::size_t most, Reason reason, std::string_view message);
  // Metadata of a document as the catalogue keeps it: an object of texts, numbers and true or
  // false; nothing is an empty one. kDamaged for anything else.
  void read_metadata(std::string_view text);

  // All values, each before those that it holds. An object holds names and values in turn.
  const std::vector<JsonValue>& values() const { return values_; }
  const JsonValue& root() const { return values_[0]; }
  // The places of what a list or an object at a place holds: of its items, or of its names.
  std::vector<std::size_t> items(std::size_t at) const;
  // What the outermost object has under a name, the last of several; nullptr if there is none.
  const JsonValue* find(std::string_view name) const;

 private:
  friend class JsonList;
  void clear_for(std::string_view text);

  std::vector<JsonValue> values_;
  std::string texts_;  // those that were written with escapes
};

// A list of JSON of which one value is held at a time. The text must outlive it.
class JsonList {
 public:
  // Where it is none, or one of its values holds more than `most` in all, `reason` with this
  // message.
  JsonList(std::string_view text, std::size_t most, Reason reason, std::string_view message);

  // Reads the next value in place of the one before; false behind the last.
  bool next();
  const Json& value() const { return value_; }

 private:
  std::string_view text_, message_;
  std::size_t most_, at_ = 0;
  Reason reason_;
  Json value_;
};

}  // namespace gossamer
