#pragma once

#include <cstddef>
#include <string_view>

namespace gossamer {

// A piece of an expression. Words of the language are in small letters, however they are written.
struct Token {
  enum class Kind { kDate, kNumber, kText, kSymbol, kName, kEnd };

  Kind kind = Kind::kEnd;
  std::string_view word;
  std::size_t start = 0, end = 0;  // bytes
};

bool is_word_of_language(std::string_view word);
std::size_t count_characters(std::string_view text);

// Takes an expression apart. Places in messages are in characters.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The token behind a place; kInvalidArgument points at what is none.
  Token next(std::size_t at) const;
  // kInvalidArgument: what was expected at a place, with a line that shows it.
  [[noreturn]] void fail_at(std::size_t at, std::string_view expected) const;

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
