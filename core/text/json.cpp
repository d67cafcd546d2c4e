#include "text/json.h"

#include <algorithm>
#include <limits>
#include <string>

#include "text/decimal.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

constexpr int kMostDepth = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_between(char32_t point, char32_t first, char32_t last) {
  return point - first <= last - first;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view what, Reason reason,
         std::vector<JsonValue>& values, std::string& texts)
      : text_(text), what_(what), reason_(reason), values_(values), texts_(texts) {}
  // Of no more values than these; fails with this message.
  Reader(std::string_view text, std::size_t most, std::string_view message, Reason reason,
         std::vector<JsonValue>& values, std::string& texts)
      : text_(text),
        message_(message),
        reason_(reason),
        most_(most),
        values_(values),
        texts_(texts) {}

  void read() {
    read_value(0);
    skip_space();
    if (at_ < text_.size()) fail_here();
  }

  // The value of a list that begins or goes on at a place, which moves behind it; false at its end.
  bool read_next(std::size_t& at) {
    at_ = at;
    skip_space();
    if (!take(at == 0 ? '[' : ',')) {
      if (at == 0 || !take(']')) fail_here();
      skip_space();
      if (at_ < text_.size()) fail_here();
      return false;
    }
    skip_space();
    if (at == 0 && next() == ']') {
      at = at_;
      return read_next(at);
    }
    values_.clear();
    texts_.clear();
    read_value(1);
    at = at_;
    return true;
  }

 private:
  void read_value(int depth) {
    skip_space();
    const std::size_t begin = at_, place = values_.size();
    if (place == most_) fail_here();
    values_.emplace_back();
    JsonValue value;
    if (take('"')) {
      value = read_text();
    } else if (next() == '-' || is_digit(next())) {
      value = read_signed();
    } else if (next() == '{' || next() == '[') {
      value.kind = next() == '{' ? Kind::kObject : Kind::kList;
      read_items(value.is(Kind::kObject), depth);
    } else {
      value = read_word();
    }
    value.written = text_.substr(begin, at_ - begin);
    value.end = values_.size();
    values_[place] = value;
  }

  void read_items(bool is_object, int depth) {
    if (depth == kMostDepth) fail_here();
    const char close = is_object ? '}' : ']';
    ++at_;
    skip_space();
    if (take(close)) return;
    do {
      if (is_object) {
        skip_space();
        if (next() != '"') fail_here();
        read_value(depth + 1);
        skip_space();
        if (!take(':')) fail_here();
      }
      read_value(depth + 1);
      skip_space();
    } while (take(','));
    if (!take(close)) fail_here();
  }

  JsonValue read_word() {
    JsonValue value;
    if (take("null")) return value;
    value.kind = Kind::kReal;
    if (take("NaN")) {
      value.real = std::numeric_limits<double>::quiet_NaN();
    } else if (take("Infinity")) {
      value.real = std::numeric_limits<double>::infinity();
    } else {
      value.kind = Kind::kBool;
      value.integer = take("true") ? 1 : 0;
      if (value.integer == 0 && !take("false")) fail_here();
    }
    return value;
  }

  JsonValue read_signed() {
    const std::size_t begin = at_;
    if (take('-') && next() == 'I') {
      JsonValue value = read_word();
      value.real = -value.real;
      return value;
    }
    if (!take('0')) take_digits();
    if (take('.')) take_digits();
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      take_digits();
    }
    return read_number(text_.substr(begin, at_ - begin));
  }

  JsonValue read_text() {
    JsonValue value;
    value.kind = Kind::kText;
    const std::size_t begin = at_, first = texts_.size();
    bool is_plain = true;
    while (next() != '"') {
      if (static_cast<std::uint8_t>(next()) < ' ') fail_here();
      const std::size_t from = at_;
      if (take('\\')) {
        if (is_plain) texts_.append(text_, begin, from - begin);
        is_plain = false;
        append_utf8(texts_, read_escape());
      } else {
        take_character();
        if (!is_plain) texts_.append(text_, from, at_ - from);
      }
    }
    value.text =
        is_plain ? text_.substr(begin, at_ - begin) : std::string_view(texts_).substr(first);
    ++at_;
    return value;
  }

  char32_t read_escape() {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = kNames.find(next());
    if (which != kNames.npos) {
      ++at_;
      return static_cast<char32_t>(kMeant[which]);
    }
    if (!take('u')) fail_here();
    const char32_t point = read_hex();
    if (!is_between(point, 0xD800, 0xDBFF)) return point;
    const std::size_t behind = at_;
    if (take("\\u")) {
      const char32_t low = read_hex();
      if (is_between(low, 0xDC00, 0xDFFF))
        return 0x10000 + (point - 0xD800) * 0x400 + (low - 0xDC00);
    }
    at_ = behind;
    return point;
  }

  char32_t read_hex() {
    char32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char32_t letter = static_cast<char32_t>(next() | 0x20) - 'a';
      if (!is_digit(next()) && letter > 5) fail_here();
      value = value * 16 + (is_digit(next()) ? static_cast<char32_t>(next() - '0') : letter + 10);
    }
    return value;
  }

  // A character of UTF-8, or a lone surrogate in its three bytes.
  void take_character() {
    const std::string_view three = text_.substr(at_, 3);
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(three[i]); };
    if (three.size() == 3 && byte(0) == 0xED && byte(1) / 32 == 5 && byte(2) / 64 == 2) {
      at_ += 3;
    } else if (next_point(text_, at_) == kReplacement && three != "\xEF\xBF\xBD") {
      fail_here();
    }
  }

  void take_digits() {
    if (!is_digit(next())) fail_here();
    while (is_digit(next())) ++at_;
  }
  // At the end a byte that nothing begins with.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    const bool is_there = next() == c;
    if (is_there) ++at_;
    return is_there;
  }
  bool take(std::string_view word) {
    const bool is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }
  void skip_space() {
    while (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r') ++at_;
  }

  [[noreturn]] void fail_here() const {
    if (!message_.empty()) fail(reason_, std::string(message_));
    fail(reason_, std::string(what_) + " is no JSON: it cannot be read from byte " +
                      std::to_string(at_ + 1) + " on");
  }

  std::string_view text_, what_, message_;
  Reason reason_;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  std::vector<JsonValue>& values_;
  std::string& texts_;
  std::size_t at_ = 0;
};

}  // namespace

JsonValue read_number(std::string_view written) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool is_negative = written[0] == '-';
  std::uint64_t size = 0;
  bool is_integer = true;
  for (const char c : written.substr(is_negative || written[0] == '+' ? 1 : 0)) {
    is_integer = is_integer && is_digit(c) && size <= kMost / 10;
    if (!is_integer) break;
    size = 10 * size + static_cast<std::uint64_t>(c - '0');
  }
  JsonValue value;
  if (is_integer && size <= kMost + (is_negative ? 1 : 0)) {
    value.kind = Kind::kInteger;
    value.integer = static_cast<std::int64_t>(is_negative ? 0 - size : size);
  } else {
    value.kind = Kind::kReal;
    value.real = read_decimal(written);
  }
  return value;
}

void Json::clear_for(std::string_view text) {
  values_.clear();
  texts_.clear();
  // No text becomes longer without its escapes, so that none moves.
  if (text.find('\\') != text.npos) texts_.reserve(text.size());
}

void Json::read(std::string_view text, std::string_view what, Reason reason) {
  clear_for(text);
  Reader(text, what, reason, values_, texts_).read();
}

void Json::read_or(std::string_view text, std::size_t most, Reason reason,
                   std::string_view message) {
  clear_for(text);
  Reader(text, most, message, reason, values_, texts_).read();
}

void Json::read_metadata(std::string_view text) {
  read(text.empty() ? "{}" : text, "metadata in the catalogue", Reason::kDamaged);
  expect(root().is(Kind::kObject), Reason::kDamaged, "metadata in the catalogue is no object");
  for (std::size_t i = 1; i < values_.size(); ++i)
    expect(!values_[i].is(Kind::kNothing) && values_[i].kind < Kind::kList, Reason::kDamaged,
           "metadata in the catalogue holds more than text and numbers");
}

std::vector<std::size_t> Json::items(std::size_t at) const {
  std::vector<std::size_t> places;
  const std::size_t step = values_[at].is(Kind::kObject) ? 1 : 0;  // the value behind a name
  if (values_[at].kind < Kind::kList) return places;
  for (std::size_t i = at + 1; i < values_[at].end; i = values_[i + step].end) places.push_back(i);
  return places;
}

const JsonValue* Json::find(std::string_view name) const {
  const JsonValue* found = nullptr;
  for (std::size_t i = 1; root().is(Kind::kObject) && i < root().end; i = values_[i + 1].end)
    if (values_[i].text == name) found = &values_[i + 1];
  return found;
}

JsonList::JsonList(std::string_view text, std::size_t most, Reason reason, std::string_view message)
    : text_(text), message_(message), most_(most), reason_(reason) {
  value_.clear_for(text);
}

bool JsonList::next() {
  return Reader(text_, most_, message_, reason_, value_.values_, value_.texts_).read_next(at_);
}

}  // namespace gossamer
