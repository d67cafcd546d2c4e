#include "filters/scanner.h"

#include <array>
#include <string>

#include "filters/refuse.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// How much of an expression is shown around a mistake, in characters.
constexpr std::size_t kShownBefore = 60, kShownFrom = 20;

Word word_of(std::string_view text) {
  for (std::size_t number = 0; number < kWords.size(); ++number) {
    const std::string_view word = kWords[number];
    bool is_it = word.size() == text.size();
    for (std::size_t i = 0; is_it && i < word.size(); ++i)
      is_it =
          small_letter(static_cast<std::uint8_t>(text[i])) == static_cast<std::uint8_t>(word[i]);
    if (is_it) return static_cast<Word>(number);
  }
  return Word::kOther;
}

std::string_view hint_for(char byte) {
  switch (byte) {
    case '=':
      return "write == to compare";
    case '&':
      return "write and";
    case '|':
      return "write or";
    case '!':
      return "write not";
    case '"':
    case '\'':
      return "the text is not closed";
    default:
      return "this is not part of the language";
  }
}

}  // namespace

Token Scanner::next(std::size_t at) const {
  while (at < text_.size()) {
    std::size_t behind = at;
    if (!is_space_character(next_stored_point(text_, behind))) break;
    at = behind;
  }
  if (at == text_.size()) return {Token::Kind::kEnd, Word::kOther, at, at};
  using Find = std::size_t (Scanner::*)(std::size_t) const;
  constexpr std::array<Find, 5> kKinds{&Scanner::date_end, &Scanner::number_end, &Scanner::text_end,
                                       &Scanner::symbol_end, &Scanner::name_end};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    const std::size_t end = (this->*kKinds[kind])(at);
    if (end == kNone) continue;
    return {static_cast<Token::Kind>(kind), word_of(text_.substr(at, end - at)), at, end};
  }
  fail_at(at, hint_for(text_[at]));
}

void Scanner::fail_at(std::size_t at, std::string_view expected, std::string_view word) const {
  std::size_t begin = at, end = at;
  for (std::size_t shown = 0; begin > 0 && shown < kShownBefore;)
    shown += is_inside_character(text_[--begin]) ? 0 : 1;
  for (std::size_t shown = 0;
       end < text_.size() && (shown < kShownFrom || is_inside_character(text_[end]));)
    shown += is_inside_character(text_[end++]) ? 0 : 1;
  std::string line(text_.substr(begin, end - begin));
  for (char& byte : line)
    if (byte == '\n' || byte == '\t' || byte == '\0') byte = ' ';
  const std::string space(count_characters(text_.substr(begin, at - begin)), ' ');
  refuse({"cannot read the filter at character ",
          std::to_string(count_characters(text_.substr(0, at)) + 1), ": ", expected, word, "\n  ",
          line, "\n  ", space, "^"});
}

std::size_t Scanner::date_end(std::size_t at) const {
  const std::size_t month = digits_end(byte_end(digits_end(at, 4), "-"), 2);
  const std::size_t day = digits_end(byte_end(month, "-"), 2);
  const std::size_t time = byte_end(day, "T");
  std::size_t minute = time == kNone ? kNone : skip_digits(time, ":.");
  if (minute == time) minute = kNone;
  // As much as can be of it is the date.
  for (const std::size_t end : {zone_end(minute), minute, day, month})
    if (end != kNone && !goes_on(end, ".:-")) return end;
  return kNone;
}

std::size_t Scanner::zone_end(std::size_t at) const {
  const std::size_t utc = byte_end(at, "Z");
  if (utc != kNone) return utc;
  const std::size_t hours = digits_end(byte_end(at, "+-"), 2);
  const std::size_t colon = byte_end(hours, ":");
  return digits_end(colon == kNone ? hours : colon, 2);
}

std::size_t Scanner::number_end(std::size_t at) const {
  const std::size_t sign = byte_end(at, "+-");
  const std::size_t whole = sign == kNone ? at : sign;
  std::size_t end = skip_digits(whole);
  const std::size_t point = byte_end(end, ".");
  const std::size_t part = point == kNone ? end : skip_digits(point);
  // Digits before the point, or behind it.
  if (end == whole && (point == kNone || part == point)) return kNone;
  end = part;
  std::size_t exponent = byte_end(end, "eE");
  if (exponent != kNone) {
    if (byte_end(exponent, "+-") != kNone) ++exponent;
    if (skip_digits(exponent) > exponent) end = skip_digits(exponent);
  }
  return goes_on(end, ".") ? kNone : end;
}

std::size_t Scanner::text_end(std::size_t at) const {
  const char quote = text_[at];
  if (quote != '"' && quote != '\'') return kNone;
  for (std::size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == quote) return i + 1;
    if (text_[i] == '\\') ++i;
  }
  return kNone;
}

std::size_t Scanner::symbol_end(std::size_t at) const {
  const std::string_view two = text_.substr(at, 2);
  if (two == "==" || two == "!=" || two == "<=" || two == ">=") return at + 2;
  return byte_end(at, "<>()[],");
}

std::size_t Scanner::name_end(std::size_t at) const {
  if (text_[at] == '`') {
    const std::size_t close = text_.find('`', at + 1);
    return close == kNone || close == at + 1 ? kNone : close + 1;
  }
  std::size_t behind = at;
  if (!goes_on(at, "") || digit_of(next_stored_point(text_, behind)) >= 0) return kNone;
  while (goes_on(at, ".-")) next_stored_point(text_, at);
  return at;
}

std::size_t Scanner::digits_end(std::size_t at, std::size_t count) const {
  if (at == kNone) return kNone;
  for (; count > 0; --count)
    if (at == text_.size() || digit_of(next_stored_point(text_, at)) < 0) return kNone;
  return at;
}

std::size_t Scanner::byte_end(std::size_t at, std::string_view any) const {
  return at < text_.size() && any.find(text_[at]) != kNone ? at + 1 : kNone;
}

std::size_t Scanner::skip_digits(std::size_t at, std::string_view others) const {
  while (at < text_.size()) {
    std::size_t behind = at;
    const bool is_digit = digit_of(next_stored_point(text_, behind)) >= 0;
    if (!is_digit && byte_end(at, others) == kNone) break;
    at = behind;
  }
  return at;
}

bool Scanner::goes_on(std::size_t at, std::string_view others) const {
  if (at == text_.size()) return false;
  if (text_[at] == '_' || byte_end(at, others) != kNone) return true;
  return is_word(next_stored_point(text_, at));
}

}  // namespace gossamer
