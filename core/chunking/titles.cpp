#include "chunking/titles.h"

#include "chunking/scan.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostTitleBytes = 200;  // behind its first one
constexpr std::size_t kMostUnderline = 200;
constexpr std::string_view kNoTitle = "#>|`~*+-=";  // what an underlined title does not begin with

// Of reStructuredText.
constexpr std::size_t kMostMarks = 201;
constexpr std::size_t kMostRstTitleBytes = 201;
constexpr std::size_t kMostIndent = 80;  // of a title between two rulers

struct Ruler {
  char mark;
  std::size_t size;
  std::size_t end;  // of its line
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

struct Titled {
  TextSpan words;
  Ruler under;
};

// A line of text that has a ruler under it.
std::optional<Titled> underlined_at(std::string_view text, std::size_t start) {
  if (start >= text.size() || is_space(text[start])) return std::nullopt;
  const std::size_t end = end_of_line(text, start);
  if (end == text.size() || end - start > kMostRstTitleBytes) return std::nullopt;
  const std::optional<Ruler> under = ruler_at(text, end + 1);
  if (!under) return std::nullopt;
  const std::size_t size = without_space_at_end(text.substr(start, end - start)).size();
  return Titled{{start, start + size}, *under};
}

// Docutils counts wide characters twice, which few writers heed: here they count once.
bool is_long_enough(const Ruler& under, std::string_view words) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < words.size(); ++characters) next_point(words, at);
  return under.size >= characters;
}

}  // namespace

std::optional<FoundHeading> marked_heading_at(std::string_view text, std::size_t line) {
  const std::size_t marks = skip(text, line, [](char byte) { return byte == ' '; }, 3);
  const std::size_t after = skip(text, marks, [](char byte) { return byte == '#'; }, 6);
  const std::size_t start = skip(text, after, is_blank);
  if (after == marks || start == after || start == text.size() || is_space(text[start]))
    return std::nullopt;
  const std::size_t end = end_of_line(text, start);
  std::string_view words = without_space_at_end(text.substr(start, end - start));
  const std::size_t last = words.find_last_not_of('#');  // before the marks that close it
  if (last == std::string_view::npos)
    words = {};
  else if (last + 1 < words.size() && is_blank(words[last]))
    words = without_space_at_end(words.substr(0, last));
  return FoundHeading{{line, after - marks, {start, start + words.size()}},
                      skip(text, end, is_space)};
}

std::optional<FoundHeading> underlined_heading_at(std::string_view text, std::size_t line) {
  const auto is_blank_sign = [](char byte) { return byte == ' '; };
  const std::size_t start = skip(text, line, is_blank_sign, 3);
  if (start == text.size() || is_space(text[start]) ||
      kNoTitle.find(text[start]) != std::string_view::npos)
    return std::nullopt;
  const std::size_t end = end_of_line(text, start);
  if (end == text.size() || end - start > 1 + kMostTitleBytes) return std::nullopt;
  const std::size_t under = skip(text, end + 1, is_blank_sign, 3);
  if (!has_at(text, under, '=') && !has_at(text, under, '-')) return std::nullopt;
  const char mark = text[under];
  const std::size_t after = skip(text, under, [mark](char byte) { return byte == mark; });
  const std::size_t rest = skip(text, after, is_blank_or_return);
  if (after - under < 2 || after - under > kMostUnderline ||
      (rest < text.size() && text[rest] != '\n'))
    return std::nullopt;
  const std::size_t size = without_space_at_end(text.substr(start, end - start)).size();
  return FoundHeading{{line, mark == '=' ? 1u : 2u, {start, start + size}},
                      skip(text, rest, is_space)};
}

// Whether a line comes after a blank one, or is the first.
bool stands_apart(std::string_view text, std::size_t begin, std::size_t line) {
  const std::string_view before = text.substr(begin, line - begin);
  return before.empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n");
}

std::optional<RstTitle> rst_title_at(std::string_view text, std::size_t line) {
  const auto title_of = [&](const Titled& found, const Ruler* over) {
    const bool is_valid = is_long_enough(found.under, words_of(text, found.words)) &&
                          (over == nullptr || over->mark == found.under.mark);
    return RstTitle{line, found.words, rst_adornment(found.under.mark, over != nullptr), is_valid,
                    found.under.end};
  };
  if (const std::optional<Ruler> over = ruler_at(text, line); over && over->end < text.size()) {
    const std::size_t start = skip(text, over->end + 1, is_blank, kMostIndent);
    if (const std::optional<Titled> found = underlined_at(text, start))
      return title_of(*found, &*over);
  }
  const std::optional<Titled> found = underlined_at(text, line);
  return found ? std::optional(title_of(*found, nullptr)) : std::nullopt;
}

}  // namespace gossamer
