#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/unicode.h"

namespace gossamer {

using Span = std::pair<std::size_t, std::size_t>;

// A text by its characters: what stands at each place, and its bytes between two places.
class Characters {
 public:
  explicit Characters(std::string_view text);

  std::size_t size() const { return starts_.size() - 1; }
  char32_t operator[](std::size_t place) const {  // kReplacement for a surrogate
    std::size_t at = starts_[place];
    return next_point(text_, at);
  }
  std::string_view text() const { return text_; }
  std::string_view slice(std::size_t start, std::size_t end) const {
    return text_.substr(starts_[start], starts_[end] - starts_[start]);
  }
  std::size_t byte_of(std::size_t place) const { return starts_[place]; }
  // The first place from `place` on that is not before a byte of the text.
  std::size_t find(std::size_t byte, std::size_t place) const {
    while (starts_[place] < byte) ++place;
    return place;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;  // and where the text ends
};

// A word of the question in a text, in characters.
struct Match {
  std::size_t start;
  std::size_t end;
  std::size_t word;  // its number among the different ones
};

// A line, a sentence of a long one, or a piece of a long sentence, in characters of a text.
struct Unit {
  std::size_t start;
  std::size_t end;
  std::size_t line;
  std::size_t row;  // its line among those that have units
  std::size_t first_match;
  std::size_t stop_match;

  bool has_match() const { return first_match < stop_match; }
};

// Divides a text into units of at most so many characters, without empty ones.
std::vector<Unit> find_units(const Characters& text, std::span<const Match> matches,
                             std::size_t max_characters);

}  // namespace gossamer
