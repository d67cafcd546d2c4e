#include "text/json_writer.h"

#include <cmath>

#include "base/error.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_escape(std::string& out, unsigned unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

bool is_tail(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

// Half of a pair, written as a character of its own; 0 for anything else.
unsigned half_of_pair(std::string_view text, std::size_t at) {
  if (text.size() - at < 3 || text[at] != '\xED' || !is_tail(text[at + 1]) ||
      !is_tail(text[at + 2]) || static_cast<std::uint8_t>(text[at + 1]) < 0xA0)
    return 0;
  return 0xD000u | (static_cast<std::uint8_t>(text[at + 1]) & 0x3Fu) << 6 |
         (static_cast<std::uint8_t>(text[at + 2]) & 0x3Fu);
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view text) {
  separate();
  out_ += '"';
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      append_escape(out_, byte);
      ++at;
    } else if (byte < 0x80) {
      out_ += text[at++];
    } else if (const unsigned half = half_of_pair(text, at); half != 0) {
      append_escape(out_, half);
      at += 3;
    } else {
      const std::size_t start = at;
      const char32_t point = next_point(text, at);
      expect(point != kReplacement || text.substr(start, at - start) == "\xEF\xBF\xBD",
             Reason::kDamaged, "a name in the catalogue is no text");
      out_ += text.substr(start, at - start);
    }
  }
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) { return raw(std::to_string(value)); }
JsonWriter& JsonWriter::number(std::uint64_t value) { return raw(std::to_string(value)); }

JsonWriter& JsonWriter::decimal(double value) {
  constexpr double kMost = 9e6;
  if (!std::isfinite(value)) return null();
  if (std::abs(value) >= kMost) {
    constexpr double kMostWhole = 9e18;
    return number(static_cast<std::int64_t>(std::fmin(std::fmax(value, -kMostWhole), kMostWhole)));
  }
  const auto parts = static_cast<std::int64_t>(std::llround(std::abs(value) * 1e12));
  constexpr std::int64_t kOne = 1'000'000'000'000;
  separate();
  if (value < 0 && parts > 0) out_ += '-';
  out_ += std::to_string(parts / kOne);
  std::string behind = std::to_string(kOne + parts % kOne);
  behind[0] = '.';
  out_ += behind;
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace gossamer
