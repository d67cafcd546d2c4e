// Markdown: headings, fenced code that is kept whole, lists and tables by their lines.

#include <algorithm>
#include <optional>

#include "chunking/outline.h"
#include "chunking/scan.h"
#include "chunking/titles.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostFrontLines = 500;

struct Fence {
  std::size_t line;
  TextSpan marks;
  std::size_t end;  // of the line
};

// Where the marker of a list item ends, such as "-" or "3."; `at` if there is none.
std::size_t end_of_marker(std::string_view text, std::size_t at, std::string_view marks) {
  if (at < text.size() && marks.find(text[at]) != std::string_view::npos) return at + 1;
  return end_of_item_number(text, at);
}

// Lines of YAML between two rulers at the very beginning.
std::optional<TextSpan> find_front_matter(std::string_view text, std::size_t begin) {
  const auto is_ruler = [&](std::size_t at) {
    return text.substr(at).starts_with("---") || text.substr(at).starts_with("...");
  };
  // The end of a ruler's line, with its newline; `at` if more stands on it.
  const auto after_ruler = [&](std::size_t at) {
    const std::size_t end = skip(text, at + 3, is_blank_or_return);
    if (end == text.size()) return end;
    return text[end] == '\n' ? end + 1 : at;
  };
  if (!text.substr(begin).starts_with("---")) return std::nullopt;
  std::size_t at = after_ruler(begin);
  if (at == begin) return std::nullopt;
  for (std::size_t lines = 0; at < text.size() && !is_ruler(at); ++lines) {
    const std::size_t end = end_of_line(text, at);
    if (end == text.size() || lines == kMostFrontLines) return std::nullopt;
    at = end + 1;
  }
  if (at == text.size()) return std::nullopt;
  const std::size_t end = after_ruler(at);
  return end == at ? std::nullopt : std::optional(TextSpan{begin, end});
}

std::optional<Fence> fence_at(std::string_view text, std::size_t line) {
  std::size_t at = skip(text, line, is_blank);
  if (const std::size_t marker = end_of_marker(text, at, "-*+>"); marker > at) {
    at = skip(text, marker, is_blank);
    if (at == marker) return std::nullopt;
  }
  if (!has_at(text, at, '`') && !has_at(text, at, '~')) return std::nullopt;
  const std::size_t end = skip(text, at, [mark = text[at]](char byte) { return byte == mark; });
  if (end - at < 3) return std::nullopt;
  return Fence{line, {at, end}, end_of_line(text, end)};
}

// The spans of fenced code; a fence that is never closed is none.
void add_fences(std::string_view text, std::size_t begin, std::vector<TextSpan>& spans) {
  std::optional<Fence> open;
  for (std::size_t line = begin; line < text.size(); line = next_line(text, line + 1)) {
    const std::optional<Fence> fence = fence_at(text, line);
    if (!fence) continue;
    const std::string_view rest = words_of(text, {fence->marks.end, fence->end});
    if (!open) {
      // Backticks later in the line make it code within a sentence.
      const bool is_inline =
          text[fence->marks.start] == '`' && rest.find('`') != std::string_view::npos;
      if (!is_inline) open = fence;
    } else if (words_of(text, fence->marks).starts_with(words_of(text, open->marks)) &&
               without_space_at_end(rest).empty()) {
      spans.push_back({open->line, fence->end});
      open.reset();
    }
  }
}

std::vector<FoundHeading> find_headings(std::string_view text, std::size_t begin) {
  std::vector<FoundHeading> found;
  const auto take = [&](const FoundHeading& one) { found.push_back(one); };
  scan_lines(text, begin, marked_heading_at, take);
  scan_lines(text, begin, underlined_heading_at, [&](const FoundHeading& one) {
    if (stands_apart(text, begin, one.heading.at)) take(one);
  });
  std::stable_sort(found.begin(), found.end(), [](const FoundHeading& a, const FoundHeading& b) {
    return a.heading.at < b.heading.at;
  });
  return found;
}

std::size_t end_of_item(std::string_view text, std::size_t at) {
  return end_of_marker(text, at, "-*+|");
}

bool is_within(std::size_t offset, std::span<const TextSpan> spans) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), offset,
                       [](std::size_t value, const TextSpan& span) { return value < span.start; });
  return after != spans.begin() && offset < (after - 1)->end;
}

}  // namespace

Outline outline_of_markdown(std::string_view text, std::size_t begin) {
  Outline outline;
  const std::optional<TextSpan> front = find_front_matter(text, begin);
  if (front) outline.whole.push_back(*front);
  add_fences(text, front ? front->end : begin, outline.whole);
  for (const FoundHeading& found : find_headings(text, begin)) {
    if (is_within(found.heading.at, outline.whole)) continue;
    outline.headings.push_back(found.heading);
    outline.tied.push_back(found.follows);
  }
  add_blank_line_cuts(text, outline.cuts);
  add_item_cuts(text, end_of_item, outline.cuts);
  for (Cut& block : outline.cuts)
    if (is_within(block.offset, outline.whole)) block.cost = kSentenceCost;
  if (front) outline.cuts.push_back({front->end, kSectionCost});
  join_section_cuts(outline);
  return outline;
}

}  // namespace gossamer
