#include "query/units.h"

#include <algorithm>

namespace gossamer {
namespace {

// Longer lines are paragraphs: a part of one may be shown.
constexpr std::size_t kLongLine = 160;
// Any two units fit into a snippet with what parts them, and three pieces do.
constexpr std::size_t kLongSentence = 259;
constexpr std::size_t kLongPiece = 170;

// Whether a sentence may end between two characters.
bool ends_sentence(char32_t before, char32_t after) {
  if (before == U'。' || before == U'！' || before == U'？') return true;
  return (before == U'.' || before == U'!' || before == U'?') && is_space_character(after);
}

class UnitFinder {
 public:
  UnitFinder(const Characters& text, std::span<const Match> matches, std::size_t max_characters)
      : text_(text), matches_(matches), most_(max_characters) {}

  std::vector<Unit> run() {
    for (std::size_t begin = 0; begin <= text_.size(); ++line_) {
      std::size_t end = begin;
      while (end < text_.size() && text_[end] != U'\n') ++end;
      add_line(begin, end);
      begin = end + 1;
    }
    return std::move(units_);
  }

 private:
  // Adds the stretches of a line that may be shown alone.
  void add_line(std::size_t begin, std::size_t end) {
    const bool is_long = end - begin > std::min(kLongLine, most_);
    std::size_t start = begin;
    for (std::size_t at = begin + 1; is_long && at < end; ++at) {
      if (!ends_sentence(text_[at - 1], text_[at])) continue;
      add_sentence(begin, start, at);
      start = at;
    }
    add_sentence(begin, start, end);
  }

  // A long one in pieces, so that an answer in its middle can be shown with what is around it.
  void add_sentence(std::size_t begin, std::size_t start, std::size_t end) {
    const std::size_t most = std::min(kLongPiece, most_);
    std::size_t space = begin;  // the last one behind `start`, if there is one
    const bool is_long = end - start > std::min(kLongSentence, most_);
    for (std::size_t at = start + 1; is_long && at < end; ++at) {
      if (text_[at] == U' ') space = at;
      if (at - start != most) continue;
      const std::size_t cut = space > start ? space : at;
      add(begin, start, cut);
      start = cut;
    }
    add(begin, start, end);
  }

  // Adds a stretch without the space around it; nothing if there is no more to it.
  void add(std::size_t begin, std::size_t start, std::size_t end) {
    while (end > start && is_space_character(text_[end - 1])) --end;
    if (start == end) return;
    // The indentation of a line belongs to it.
    while (start > begin && is_space_character(text_[start])) ++start;
    const bool is_new_line = units_.empty() || units_.back().line != line_;
    row_ += is_new_line;
    const std::size_t first = skip_matches(start);
    units_.push_back({start, end, line_, row_, first, skip_matches(end)});
  }

  // The first match that does not begin before a place; places rise.
  std::size_t skip_matches(std::size_t place) {
    while (next_ < matches_.size() && matches_[next_].start < place) ++next_;
    return next_;
  }

  const Characters& text_;
  std::span<const Match> matches_;
  std::size_t most_;
  std::size_t line_ = 0;
  std::size_t row_ = 0;
  std::size_t next_ = 0;
  std::vector<Unit> units_;
};

}  // namespace

Characters::Characters(std::string_view text) : text_(text) {
  starts_.reserve(text.size() + 1);
  std::size_t at = 0;
  while (at < text.size()) {
    starts_.push_back(at);
    if (is_half(text, at)) {
      at += 3;
    } else {
      next_point(text, at);
    }
  }
  starts_.push_back(at);
}

std::vector<Unit> find_units(const Characters& text, std::span<const Match> matches,
                             std::size_t max_characters) {
  return UnitFinder(text, matches, max_characters).run();
}

}  // namespace gossamer
