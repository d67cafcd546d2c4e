#include "filters/expression.h"

#include <optional>
#include <string>

#include "filters/refuse.h"
#include "filters/scanner.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

using TokenKind = Token::Kind;

constexpr std::size_t kMostCharacters = 10'000;
constexpr std::size_t kMostDigits = 30;
constexpr int kMostDepth = 50;

// A number with the digits of ASCII, whatever its script.
std::string in_ascii(std::string_view number) {
  std::string ascii;
  for (std::size_t at = 0; at < number.size();) {
    const char32_t point = next_stored_point(number, at);
    const int digit = digit_of(point);
    ascii.push_back(static_cast<char>(digit < 0 ? static_cast<int>(point) : '0' + digit));
  }
  return ascii;
}

// Reads an expression from left to right, one token ahead.
class Parser {
 public:
  Parser(std::string_view text, Conditions& conditions, std::string& texts)
      : scanner_(text), conditions_(conditions), texts_(texts), token_(scanner_.next(0)) {}

  void read() {
    read_either(false);
    if (token_.kind != TokenKind::kEnd) fail_here("expected and, or, or the end");
  }

 private:
  void read_either(bool is_negated) {
    const std::size_t begun = conditions_.begin(Conditions::Kind::kAny);
    do read_both();
    while (take(Word::kOr));
    conditions_.end(begun, is_negated);
  }

  void read_both() {
    const std::size_t begun = conditions_.begin(Conditions::Kind::kAll);
    do read_negation();
    while (take(Word::kAnd));
    conditions_.end(begun, false);
  }

  void read_negation() {
    bool is_negated = false;
    while (take(Word::kNot)) is_negated = !is_negated;
    if (token_.word == Word::kOpen)
      read_group(is_negated);
    else
      read_chain(is_negated);
  }

  void read_group(bool is_negated) {
    if (++depth_ > kMostDepth) fail_here("expected at most 50 parentheses within each other");
    expect_word(Word::kOpen);
    read_either(is_negated);
    expect_word(Word::kClose);
    --depth_;
  }

  // A comparison, or several in a row as in 2020 <= year < 2024.
  void read_chain(bool is_negated) {
    const std::size_t start = token_.start, begun = conditions_.begin(Conditions::Kind::kAll);
    const Operand first = read_operand(false);
    Operand left = first;
    const std::size_t before = token_.start;
    while (const auto symbol = read_symbol()) {
      const Operand right = read_operand(symbol->order == Order::kIn);
      conditions_.add_comparison(*symbol, left, right);
      left = right;
    }
    if (token_.start == before) {
      if (first.kind != Operand::Kind::kField && !conditions_.is_bool(first))
        scanner_.fail_at(start, "expected a comparison such as year >= 2020");
      conditions_.add_truth(first);
    }
    conditions_.end(begun, is_negated);
  }

  std::optional<Symbol> read_symbol() {
    if (take(Word::kNot)) {
      expect_word(Word::kIn);
      return Symbol{Order::kIn, true};
    }
    if (token_.word > Word::kIn) return std::nullopt;
    const Symbol symbol = symbol_of(static_cast<std::size_t>(token_.word));
    advance();
    return symbol;
  }

  Operand read_operand(bool is_list_allowed) {
    if (token_.kind == TokenKind::kName && token_.word == Word::kOther) return take_field();
    if (is_list_allowed && !is_constant()) {
      if (token_.word == Word::kOpenList) return read_list();
      fail_here("expected a list such as [\"a\", \"b\"], or a field");
    }
    if (!is_constant() && token_.kind > TokenKind::kText)
      fail_here("expected a field, a text in quotes, a number or a date");
    return conditions_.add_constant(read_value());
  }

  Operand take_field() {
    std::string_view name = scanner_.text_of(token_);
    if (name.starts_with('`')) name = name.substr(1, name.size() - 2);
    advance();
    return {Operand::Kind::kField, conditions_.number_of(name)};
  }

  Operand read_list() {
    expect_word(Word::kOpenList);
    Operand list{Operand::Kind::kList, conditions_.constant_count(), 0};
    while (token_.word != Word::kCloseList) {
      conditions_.add_constant(read_value());
      ++list.count;
      if (token_.word != Word::kCloseList) expect_word(Word::kComma);
    }
    expect_word(Word::kCloseList);
    return list;
  }

  JsonValue read_value() {
    const std::string_view text = scanner_.text_of(token_);
    JsonValue value;
    if (token_.kind == TokenKind::kNumber) {
      if (count_characters(text) > kMostDigits) fail_here("expected a number of at most 30 digits");
      value = read_number(in_ascii(text));
    } else if (token_.kind <= TokenKind::kText) {
      value.kind = JsonValue::Kind::kText;
      value.text = token_.kind == TokenKind::kText ? unescape(text) : text;
    } else {
      if (!is_constant()) fail_here("expected a text in quotes, a number or a date");
      if (token_.word <= Word::kFalse) value.kind = JsonValue::Kind::kBool;
      value.integer = token_.word == Word::kTrue ? 1 : 0;
    }
    advance();
    return value;
  }

  // A backslash stands before quotes and before itself.
  std::string_view unescape(std::string_view text) {
    text = text.substr(1, text.size() - 2);
    if (text.find('\\') == text.npos) return text;
    const std::size_t first = texts_.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && std::string_view("\\\"'").find(text[i + 1]) != text.npos) ++i;
      texts_.push_back(text[i]);
    }
    return std::string_view(texts_).substr(first);
  }

  bool is_constant() const { return token_.word >= Word::kTrue && token_.word <= Word::kNull; }
  bool take(Word word) {
    const bool is_there = token_.word == word;
    if (is_there) advance();
    return is_there;
  }
  void expect_word(Word word) {
    if (!take(word))
      scanner_.fail_at(token_.start, "expected ", kWords[static_cast<std::size_t>(word)]);
  }
  void advance() { token_ = scanner_.next(token_.end); }
  [[noreturn]] void fail_here(std::string_view expected) const {
    scanner_.fail_at(token_.start, expected);
  }

  Scanner scanner_;
  Conditions& conditions_;
  std::string& texts_;
  Token token_;
  int depth_ = 0;
};

}  // namespace

void parse_expression(std::string_view text, Conditions& conditions, std::string& texts) {
  const std::size_t count = count_characters(text);
  if (count > kMostCharacters)
    refuse({"a filter may have 10000 characters, this one has ", std::to_string(count)});
  texts.reserve(texts.size() + text.size());  // none moves
  Parser(text, conditions, texts).read();
}

}  // namespace gossamer
