#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gossamer {

// The words and signs of the language. Those that compare stand in the order of their symbols.
enum class Word : std::uint8_t {
  kEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kUnequal,
  kIn,
  kTrue,
  kFalse,
  kNothing,
  kNull,
  kAnd,
  kOr,
  kNot,
  kOpen,
  kClose,
  kOpenList,
  kCloseList,
  kComma,
  kOther,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Word::kOther)> kWords{
    "==",   "<",   "<=", ">",   ">=", "!=", "in", "true", "false", "none",
    "null", "and", "or", "not", "(",  ")",  "[",  "]",    ","};

// A piece of an expression.
struct Token {
  enum class Kind : std::uint8_t { kDate, kNumber, kText, kSymbol, kName, kEnd };

  Kind kind = Kind::kEnd;
  Word word = Word::kOther;        // in large or small letters
  std::size_t start = 0, end = 0;  // bytes
};

// Takes an expression apart. Places in messages are in characters.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The token behind a place; kInvalidArgument points at what is none.
  Token next(std::size_t at) const;
  std::string_view text_of(const Token& token) const {
    return text_.substr(token.start, token.end - token.start);
  }
  // kInvalidArgument: what was expected at a place, with a line that shows it.
  [[noreturn]] void fail_at(std::size_t at, std::string_view expected,
                            std::string_view word = "") const;

 private:
  static constexpr std::size_t kNone = std::string_view::npos;

  // Each gives where what begins at a place ends; kNone if it is not there, or that place is kNone.
  std::size_t date_end(std::size_t at) const;
  std::size_t zone_end(std::size_t at) const;
  std::size_t number_end(std::size_t at) const;
  std::size_t text_end(std::size_t at) const;
  std::size_t symbol_end(std::size_t at) const;
  std::size_t name_end(std::size_t at) const;
  std::size_t digits_end(std::size_t at, std::size_t count) const;
  std::size_t byte_end(std::size_t at, std::string_view any) const;

  // Where the digits, or bytes of these kinds, end that begin at a place.
  std::size_t skip_digits(std::size_t at, std::string_view others = "") const;
  // Whether a letter, a digit or one of these bytes stands at a place.
  bool goes_on(std::size_t at, std::string_view others) const;

  std::string_view text_;
};

}  // namespace gossamer
