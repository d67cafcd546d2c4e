#include "filters/expression.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "filters/scanner.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

using TokenKind = Token::Kind;

constexpr std::size_t kMostCharacters = 10'000;
constexpr std::size_t kMostDigits = 30;
constexpr int kMostDepth = 50;

// What true, false, none and null stand for.
std::optional<JsonValue> read_constant(std::string_view word) {
  JsonValue value;
  if (word == "none" || word == "null") return value;
  value.kind = JsonValue::Kind::kBool;
  value.integer = word == "true" ? 1 : 0;
  return word == "true" || word == "false" ? std::optional(value) : std::nullopt;
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size() &&
                           std::string_view("\\\"'").find(text[i + 1]) != text.npos;
    if (is_escape) ++i;
    plain.push_back(text[i]);
  }
  return plain;
}

// A number with the digits of ASCII, whatever its script.
std::string in_ascii(std::string_view number) {
  std::string ascii;
  for (std::size_t at = 0; at < number.size();) {
    const char32_t point = next_stored_point(number, at);
    const int digit = digit_of(point);
    ascii.push_back(static_cast<char>(digit < 0 ? point : U'0' + static_cast<char32_t>(digit)));
  }
  return ascii;
}

// Reads an expression from left to right, one token ahead.
class Parser {
 public:
  Parser(std::string_view text, FieldNames& names)
      : scanner_(text), names_(names), token_(scanner_.next(0)) {}

  Condition read() {
    Condition condition = read_either();
    if (token_.kind != TokenKind::kEnd) fail_here("expected and, or, or the end");
    return condition;
  }

 private:
  Condition read_either() {
    std::vector<Condition> parts;
    do parts.push_back(read_both());
    while (take("or"));
    return join(Condition::Kind::kAny, std::move(parts));
  }

  Condition read_both() {
    std::vector<Condition> parts;
    do parts.push_back(read_negation());
    while (take("and"));
    return join(Condition::Kind::kAll, std::move(parts));
  }

  Condition read_negation() {
    bool is_negated = false;
    while (take("not")) is_negated = !is_negated;
    Condition condition = token_.word == "(" ? read_group() : read_chain();
    condition.is_negated ^= is_negated;
    return condition;
  }

  Condition read_group() {
    if (++depth_ > kMostDepth)
      fail_here("expected at most " + std::to_string(kMostDepth) +
                " parentheses within each other");
    expect_word("(");
    Condition condition = read_either();
    expect_word(")");
    --depth_;
    return condition;
  }

  // A comparison, or several in a row as in 2020 <= year < 2024.
  Condition read_chain() {
    const std::size_t start = token_.start;
    Operand left = read_operand(false);
    std::vector<Condition> tests;
    while (const auto symbol = read_symbol()) {
      Operand right = read_operand(symbol->order == Order::kIn);
      tests.push_back(compare(*symbol, std::move(left), right));
      left = std::move(right);
    }
    if (!tests.empty()) return join(Condition::Kind::kAll, std::move(tests));
    if (!left.field && !left.constants[0].value.is(JsonValue::Kind::kBool))
      scanner_.fail_at(start, "expected a comparison such as year >= 2020");
    return {Condition::Kind::kTruth, false, Order::kEqual, std::move(left), {}, {}};
  }

  std::optional<Symbol> read_symbol() {
    if (take("not")) {
      expect_word("in");
      return find_symbol("not in");
    }
    const auto symbol = find_symbol(token_.word);
    if (symbol) advance();
    return symbol;
  }

  Operand read_operand(bool is_list_allowed) {
    if (token_.kind == TokenKind::kName) {
      if (auto value = read_constant(token_.word)) return take_constant(std::move(*value));
      if (!is_word_of_language(token_.word)) return take_field();
    }
    if (is_list_allowed) {
      if (token_.word == "[") return read_list();
      fail_here("expected a list such as [\"a\", \"b\"], or a field");
    }
    if (token_.kind != TokenKind::kDate && token_.kind != TokenKind::kNumber &&
        token_.kind != TokenKind::kText)
      fail_here("expected a field, a text in quotes, a number or a date");
    return {std::nullopt, {Constant(read_value())}};
  }

  Operand take_constant(JsonValue value) {
    advance();
    return {std::nullopt, {Constant(std::move(value))}};
  }

  Operand take_field() {
    std::string_view name = token_.word;
    if (name.starts_with('`')) name = name.substr(1, name.size() - 2);
    advance();
    return {names_.number_of(name), {}};
  }

  Operand read_list() {
    expect_word("[");
    Operand list;
    list.is_list = true;
    while (token_.word != "]") {
      list.constants.emplace_back(read_value());
      if (token_.word != "]") expect_word(",");
    }
    expect_word("]");
    return list;
  }

  JsonValue read_value() {
    const std::string_view word = token_.word;
    JsonValue value;
    if (token_.kind == TokenKind::kText) {
      value = JsonValue::of(without_escapes(word.substr(1, word.size() - 2)));
    } else if (token_.kind == TokenKind::kDate) {
      value = JsonValue::of(std::string(word));
    } else if (token_.kind == TokenKind::kNumber) {
      if (count_characters(word) > kMostDigits)
        fail_here("expected a number of at most " + std::to_string(kMostDigits) + " digits");
      value = read_number(in_ascii(word));
    } else {
      auto constant = token_.kind == TokenKind::kName ? read_constant(word) : std::nullopt;
      if (!constant) fail_here("expected a text in quotes, a number or a date");
      value = std::move(*constant);
    }
    advance();
    return value;
  }

  bool take(std::string_view word) {
    const bool is_there = token_.word == word;
    if (is_there) advance();
    return is_there;
  }
  void expect_word(std::string_view word) {
    if (!take(word)) fail_here("expected " + std::string(word));
  }
  void advance() { token_ = scanner_.next(token_.end); }
  [[noreturn]] void fail_here(std::string_view expected) const {
    scanner_.fail_at(token_.start, expected);
  }

  Scanner scanner_;
  FieldNames& names_;
  Token token_;
  int depth_ = 0;
};

}  // namespace

std::size_t FieldNames::number_of(std::string_view name) {
  const auto [place, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<std::int64_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return static_cast<std::size_t>(place->second);
}

Condition parse_expression(std::string_view text, FieldNames& names) {
  const std::size_t count = count_characters(text);
  if (count > kMostCharacters)
    fail(Reason::kInvalidArgument, "a filter may have " + std::to_string(kMostCharacters) +
                                       " characters, this one has " + std::to_string(count));
  return Parser(text, names).read();
}

}  // namespace gossamer
