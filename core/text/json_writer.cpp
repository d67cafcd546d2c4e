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
    } else if (is_half(text, at)) {
      append_escape(out_, static_cast<unsigned>(next_stored_point(text, at)));
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
