// reStructuredText: titles by their underlines, paragraphs by blank lines.

#include <algorithm>
#include <optional>
#include <utility>

#include "chunking/outline.h"
#include "chunking/scan.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostMarks = 201;
constexpr std::size_t kMostTitleBytes = 201;
constexpr std::size_t kMostIndent = 80;  // of a title between two rulers

struct Ruler {
  char mark;
  std::size_t size;
  std::size_t end;  // of its line
};

struct Title {
  std::size_t at;
  TextSpan words;
  std::optional<char> over;
  Ruler under;
};

bool is_sign(char byte) {
  return byte > ' ' && byte <= '~' && !is_digit(byte) && !is_upper(byte) && !is_lower(byte);
}

// A line of one sign, twice or more.
std::optional<Ruler> ruler_at(std::string_view text, std::size_t line) {
  if (line >= text.size() || !is_sign(text[line])) return std::nullopt;
  const char mark = text[line];
  const std::size_t after = skip(text, line, [mark](char byte) { return byte == mark; });
  const std::size_t end = skip(text, after, is_blank_or_return);
  const std::size_t size = after - line;
  if (size < 2 || size > kMostMarks || (end < text.size() && text[end] != '\n'))
    return std::nullopt;
  return Ruler{mark, size, end};
}

// A line of text that has a ruler under it.
std::optional<Title> underlined_at(std::string_view text, std::size_t start) {
  if (start >= text.size() || is_space(text[start])) return std::nullopt;
  const std::size_t end = end_of_line(text, start);
  if (end == text.size() || end - start > kMostTitleBytes) return std::nullopt;
  const std::optional<Ruler> under = ruler_at(text, end + 1);
  if (!under) return std::nullopt;
  const std::size_t size = without_space_at_end(text.substr(start, end - start)).size();
  return Title{start, {start, start + size}, std::nullopt, *under};
}

std::optional<Title> title_at(std::string_view text, std::size_t line) {
  if (const std::optional<Ruler> over = ruler_at(text, line); over && over->end < text.size()) {
    std::optional<Title> title =
        underlined_at(text, skip(text, over->end + 1, is_blank, kMostIndent));
    if (title) {
      title->at = line;
      title->over = over->mark;
      return title;
    }
  }
  return underlined_at(text, line);
}

// Docutils counts wide characters twice, which few writers heed: here they count once.
bool is_long_enough(const Ruler& under, std::string_view words) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < words.size(); ++characters) next_point(words, at);
  return under.size >= characters;
}

// Levels are in the order in which styles appear.
class Styles {
 public:
  std::size_t level_of(const Title& title) {
    const std::pair style(title.under.mark, title.over.has_value());
    const auto known = std::find(styles_.begin(), styles_.end(), style);
    if (known != styles_.end()) return static_cast<std::size_t>(known - styles_.begin()) + 1;
    styles_.push_back(style);
    return styles_.size();
  }

 private:
  std::vector<std::pair<char, bool>> styles_;
};

// The marker of a list item or a directive.
std::size_t end_of_marker(std::string_view text, std::size_t at) {
  if (at == text.size()) return at;
  if (text[at] == '-' || text[at] == '*' || text[at] == '+') return at + 1;
  if (text.substr(at).starts_with("#.") || text.substr(at).starts_with("..")) return at + 2;
  return end_of_item_number(text, at);
}

}  // namespace

Outline outline_of_rst(std::string_view text, std::size_t begin) {
  Outline outline;
  Styles styles;
  for (std::size_t line = begin; line < text.size();) {
    const std::optional<Title> title = title_at(text, line);
    if (!title) {
      line = next_line(text, line + 1);
      continue;
    }
    const std::size_t follows = skip(text, title->under.end, is_space);
    line = next_line(text, follows);
    if (!is_long_enough(title->under, words_of(text, title->words)) ||
        (title->over && *title->over != title->under.mark))
      continue;
    outline.headings.push_back({title->at, styles.level_of(*title), title->words});
    outline.tied.push_back(follows);
  }
  add_blank_line_cuts(text, outline.cuts);
  add_item_cuts(text, end_of_marker, outline.cuts);
  join_section_cuts(outline);
  return outline;
}

}  // namespace gossamer
