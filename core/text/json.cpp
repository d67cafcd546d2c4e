#include "text/json.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/sort.h"
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

// Of members of one name the last is left.
void drop_replaced(std::vector<JsonValue>& items) {
  std::vector<std::pair<std::string_view, std::size_t>> names;
  for (std::size_t i = 0; i < items.size(); i += 2) names.emplace_back(items[i].text, i);
  sort_values(names.begin(), names.end());
  std::vector<bool> is_replaced(items.size());
  bool is_any = false;
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i].first == names[i - 1].first)
      is_any = is_replaced[names[i - 1].second] = is_replaced[names[i - 1].second + 1] = true;
  if (!is_any) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!is_replaced[i]) std::swap(items[kept++], items[i]);
  items.resize(kept);
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view what, Reason reason)
      : text_(text), what_(what), reason_(reason) {}

  JsonValue read() {
    JsonValue value = read_value(0);
    skip_space();
    if (at_ < text_.size()) fail_here();
    return value;
  }

 private:
  JsonValue read_value(int depth) {
    skip_space();
    const std::size_t begin = at_;
    JsonValue value = read_any(depth);
    value.begin = begin;
    value.end = at_;
    return value;
  }

  JsonValue read_any(int depth) {
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '{' || first == '[') return read_items(depth);
    if (first == '"') return JsonValue::of(read_text());
    if (first == '-' || is_digit(first)) return read_signed();
    return read_word();
  }

  JsonValue read_items(int depth) {
    if (depth == kMostDepth) fail_here();
    JsonValue value;
    value.kind = text_[at_++] == '{' ? Kind::kObject : Kind::kList;
    const bool is_object = value.is(Kind::kObject);
    const char close = is_object ? '}' : ']';
    skip_space();
    if (take(close)) return value;
    do {
      if (is_object) {
        skip_space();
        value.items.push_back(JsonValue::of(read_text()));
        skip_space();
        if (!take(':')) fail_here();
      }
      value.items.push_back(read_value(depth + 1));
      skip_space();
    } while (take(','));
    if (!take(close)) fail_here();
    if (is_object) drop_replaced(value.items);
    return value;
  }

  JsonValue read_word() {
    JsonValue value;
    if (take("null")) return value;
    if (take("NaN")) return real(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return real(std::numeric_limits<double>::infinity());
    value.kind = Kind::kBool;
    value.integer = take("true") ? 1 : 0;
    if (value.integer == 0 && !take("false")) fail_here();
    return value;
  }

  JsonValue read_signed() {
    const std::size_t begin = at_;
    const bool is_negative = take('-');
    if (is_negative && take("Infinity")) return real(-std::numeric_limits<double>::infinity());
    if (!take('0')) take_digits();
    if (take('.')) take_digits();
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      take_digits();
    }
    return read_number(text_.substr(begin, at_ - begin));
  }

  std::string read_text() {
    if (!take('"')) fail_here();
    std::string value;
    while (!take('"')) {
      if (at_ == text_.size() || static_cast<std::uint8_t>(text_[at_]) < ' ') fail_here();
      const std::size_t begin = at_;
      if (take('\\')) {
        append_utf8(value, read_escape());
      } else {
        take_character();
        value.append(text_, begin, at_ - begin);
      }
    }
    return value;
  }

  char32_t read_escape() {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = at_ < text_.size() ? kNames.find(text_[at_]) : kNames.npos;
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
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const char32_t letter = static_cast<char32_t>(c | 0x20) - 'a';
      if (!is_digit(c) && letter > 5) fail_here();
      value = value * 16 + (is_digit(c) ? static_cast<char32_t>(c - '0') : letter + 10);
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

  static JsonValue real(double number) {
    JsonValue value;
    value.kind = Kind::kReal;
    value.real = number;
    return value;
  }

  void take_digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == begin) fail_here();
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  bool take(std::string_view word) {
    const bool is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  [[noreturn]] void fail_here() const {
    fail(reason_, std::string(what_) + " is no JSON: it cannot be read from byte " +
                      std::to_string(at_ + 1) + " on");
  }

  std::string_view text_, what_;
  Reason reason_;
  std::size_t at_ = 0;
};

}  // namespace

JsonValue JsonValue::of(std::string text) {
  JsonValue value;
  value.kind = Kind::kText;
  value.text = std::move(text);
  return value;
}

JsonValue JsonValue::of(std::int64_t integer) {
  JsonValue value;
  value.kind = Kind::kInteger;
  value.integer = integer;
  return value;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  for (std::size_t i = 0; is(Kind::kObject) && i < items.size(); i += 2)
    if (items[i].text == name) return &items[i + 1];
  return nullptr;
}

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
  if (is_integer && size <= kMost + (is_negative ? 1 : 0))
    return JsonValue::of(static_cast<std::int64_t>(is_negative ? 0 - size : size));
  JsonValue value;
  value.kind = Kind::kReal;
  value.real = read_decimal(written);
  return value;
}

JsonValue read_json(std::string_view text, std::string_view what, Reason reason) {
  return Reader(text, what, reason).read();
}

JsonValue read_metadata(std::string_view text) {
  JsonValue metadata;
  metadata.kind = Kind::kObject;
  if (text.empty()) return metadata;
  metadata = read_json(text, "metadata in the catalogue", Reason::kDamaged);
  expect(metadata.is(Kind::kObject), Reason::kDamaged, "metadata in the catalogue is no object");
  const auto is_plain = [](const JsonValue& value) {
    return !value.is(Kind::kNothing) && !value.is(Kind::kList) && !value.is(Kind::kObject);
  };
  expect(std::all_of(metadata.items.begin(), metadata.items.end(), is_plain), Reason::kDamaged,
         "metadata in the catalogue holds more than text and numbers");
  return metadata;
}

}  // namespace gossamer
