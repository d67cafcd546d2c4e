#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gossamer {

// Writes JSON, value by value: commas and colons come by themselves.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  // What the next value is called; a plain word.
  JsonWriter& key(std::string_view name);

  // Bytes as names are kept: UTF-8 that may hold halves of pairs (surrogates). kDamaged for others.
  JsonWriter& text(std::string_view text);
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(std::uint64_t value);
  // To twelve places behind the point, as many as a distance or a score has meaning in.
  JsonWriter& decimal(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // JSON that is known to be whole.
  JsonWriter& raw(std::string_view json);

  std::string take() { return std::move(out_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace gossamer
