#include "marks/fences.h"

#include <algorithm>
#include <array>

#include "chunking/scan.h"

namespace gossamer {
namespace {

struct Fence {
  std::size_t line;  // its number
  char mark;
  std::size_t size;
  bool has_words;  // the name of a language: it can only begin code
};

// A way to read a text, and how much speaks for it.
struct Reading {
  std::vector<Side> sides;
  int votes = 0;
};

// After the marks of quotes, and of an item that begins with code.
std::optional<Fence> fence_on(std::string_view text, TextSpan line, std::size_t number) {
  const std::string_view words = words_of(text, line);
  std::size_t at = skip(words, 0, [](char byte) { return is_blank(byte) || byte == '>'; });
  if (at + 1 < words.size() && is_blank(words[at + 1]) &&
      std::string_view("-*+").find(words[at]) != std::string_view::npos)
    at = skip(words, at + 1, is_blank);
  if (!has_at(words, at, '`') && !has_at(words, at, '~')) return std::nullopt;
  const char mark = words[at];
  const std::size_t end = skip(words, at, [mark](char byte) { return byte == mark; });
  const std::string_view rest = without_space_at_end(words.substr(end));
  // Backticks later in the line make it code within a sentence.
  if (end - at < 3 || (mark == '`' && rest.find('`') != std::string_view::npos))
    return std::nullopt;
  return Fence{number, mark, end - at, !rest.empty()};
}

bool is_empty(std::string_view text, TextSpan line) {
  return without_space_at_end(words_of(text, line)).empty();
}

// Reads a text by its fences, given whether it begins within code. People, and readers, leave a
// line empty before and behind fenced code rather than within it.
Reading read(std::string_view text, std::span<const TextSpan> lines, std::span<const Fence> fences,
             bool is_begun) {
  Reading reading{std::vector<Side>(lines.size(), Side::kText), 0};
  std::optional<Fence> open;
  if (is_begun) open = Fence{0, 0, 0, false};
  const auto vote = [&](std::size_t line, bool wants_empty) {
    if (line < lines.size()) reading.votes += is_empty(text, lines[line]) == wants_empty ? 1 : -1;
  };
  std::size_t next = 0;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const Fence* const fence =
        next < fences.size() && fences[next].line == line ? &fences[next++] : nullptr;
    const bool fits = fence && open && fence->size >= open->size &&
                      (open->mark == 0 || fence->mark == open->mark);
    if (fits && fence->has_words) reading.votes -= 4;
    const bool ends = fits && !fence->has_words;
    const bool begins = fence && !open;
    reading.sides[line] = begins || ends ? Side::kFence : open ? Side::kCode : Side::kText;
    if (!begins && !ends) continue;
    vote(line - 1, begins);  // the line before the first one is none
    vote(line + 1, ends);
    if (ends && line + 1 == lines.size()) ++reading.votes;
    open.reset();
    if (begins) open = *fence;
  }
  return reading;
}

// Whether a line ends with a call, not with a link or with a remark (like this).
bool ends_with_call(std::string_view line) {
  const std::size_t open = line.rfind('(');
  if (!line.ends_with(')') || open == 0 || open == std::string_view::npos) return false;
  return is_word(static_cast<unsigned char>(line[open - 1])) || line[open - 1] == '_';
}

// Headings, items, rows and quotes are text, however they end or are indented.
bool has_mark(std::string_view line) {
  constexpr std::array<std::string_view, 6> kMarks{"- ", "* ", "+ ", "| ", "> ", "#"};
  line.remove_prefix(skip(line, 0, is_blank));
  return std::ranges::any_of(kMarks, [&](auto mark) { return line.starts_with(mark); }) ||
         end_of_item_number(line, 0) > 0;
}

bool looks_like_code(std::string_view line) {
  if (has_mark(line)) return false;
  constexpr std::array<std::string_view, 9> kBegins{">>> ", "... ",    "$ ",   "import ", "def ",
                                                    "//",   "return ", "    ", "\t"};
  constexpr std::array<std::string_view, 6> kEnds{"{", "}", ";", "):", "(", "["};
  constexpr std::array<std::string_view, 5> kSigns{" = ", " == ", "();", " => ", "->"};
  return std::ranges::any_of(kBegins, [&](auto sign) { return line.starts_with(sign); }) ||
         std::ranges::any_of(kEnds, [&](auto sign) { return line.ends_with(sign); }) ||
         std::ranges::any_of(
             kSigns, [&](auto sign) { return line.find(sign) != std::string_view::npos; }) ||
         ends_with_call(line);
}

// Whether a text without fences is out of the middle of code: most of its lines look so.
bool is_all_code(std::string_view text, std::span<const TextSpan> lines) {
  std::size_t all = 0, code = 0;
  for (const TextSpan& line : lines) {
    const std::string_view words = without_space_at_end(words_of(text, line));
    if (words.empty()) continue;
    ++all;
    if (looks_like_code(words)) ++code;
  }
  return all >= 4 && 3 * code >= 2 * all;
}

}  // namespace

std::vector<Side> find_sides(std::string_view text, std::span<const TextSpan> lines) {
  std::vector<Fence> fences;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const auto fence = fence_on(text, lines[i], i)) fences.push_back(*fence);
  if (fences.empty())
    return std::vector(lines.size(), is_all_code(text, lines) ? Side::kCode : Side::kText);
  Reading outside = read(text, lines, fences, false);
  Reading inside = read(text, lines, fences, true);
  return std::move(inside.votes > outside.votes ? inside : outside).sides;
}

}  // namespace gossamer
