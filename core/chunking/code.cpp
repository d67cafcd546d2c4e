// Source code: cut at functions, classes and methods, with the signatures around as headings.

#include <algorithm>

#include "base/error.h"
#include "chunking/outline.h"
#include "chunking/scan.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostSignatureBytes = 300;
constexpr std::size_t kMostBytesBefore = 100;
// Each level of nesting makes a cut dearer, up to this many.
constexpr double kLevelCost = 0.08;
constexpr std::size_t kCountedLevels = 3;

struct Definition {
  std::size_t begin;  // with the comments and decorators before it
  std::size_t start;
  std::size_t end;
  std::size_t body;  // where it or a comment before it begins; 0 if the grammar does not say
};

// The begin of the line, if only words such as `export` stand before the start.
std::size_t line_of(std::string_view text, std::size_t start) {
  const std::size_t first = start < kMostBytesBefore ? 0 : start - kMostBytesBefore;
  const std::string_view before = text.substr(first, start - first);
  const std::size_t newline = before.rfind('\n');
  if (newline == std::string_view::npos && start >= kMostBytesBefore) return start;
  const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
  return before.find_first_of(";{}", line) == std::string_view::npos ? first + line : start;
}

bool is_blank_between(std::string_view text, std::size_t end, std::size_t line) {
  if (line < end) return true;
  if (line - end >= kMostBytesBefore) return false;
  const std::string_view between = text.substr(end, line - end);
  return std::all_of(between.begin(), between.end(), is_space) &&
         std::count(between.begin(), between.end(), '\n') <= 1;
}

// Whether what stands before a comment on its line leaves it to the definition after it.
bool leads(std::string_view before) {
  while (!before.empty() && is_space(before.front())) before.remove_prefix(1);
  before = without_space_at_end(before);
  return before.empty() || before == "template";
}

// Captures in the order of the text; the outer of two that begin together comes first.
std::vector<Capture> sorted(std::string_view text, std::span<const Capture> captures) {
  std::vector<Capture> all(captures.begin(), captures.end());
  for (const Capture& one : all)
    expect(one.start <= one.end && one.end <= text.size() && one.body <= text.size(),
           Reason::kInvalidArgument, "what was found in a source text must lie within it");
  std::stable_sort(all.begin(), all.end(), [](const Capture& a, const Capture& b) {
    return a.start < b.start || (a.start == b.start && a.end > b.end);
  });
  return all;
}

// Joins definitions with the comments directly before them.
std::vector<Definition> join_leads(std::string_view text, std::size_t begin,
                                   std::span<const Capture> captures) {
  std::vector<Definition> definitions;
  TextSpan lead{};
  bool has_lead = false;
  for (const Capture& one : captures) {
    const std::size_t line = line_of(text, one.start);
    const bool is_led = has_lead && is_blank_between(text, lead.end, line);
    if (one.is_definition) {
      const std::size_t least = definitions.empty() ? begin : definitions.back().begin;
      const std::size_t own = is_led ? lead.start : line;
      definitions.push_back({std::max(own, least), one.start, one.end, one.body});
      has_lead = false;
      continue;
    }
    if (!definitions.empty()) {
      Definition& last = definitions.back();
      if (last.start < one.start && one.start < last.body) last.body = one.start;
    }
    if (!leads(text.substr(line, one.start - line))) continue;
    lead = {is_led ? lead.start : line, one.end};
    has_lead = true;
  }
  return definitions;
}

std::size_t signature_end(std::string_view text, const Definition& definition) {
  const std::size_t start = definition.start;
  std::size_t end = definition.body;
  if (end == 0) end = std::min(end_of_line(text, start), definition.end);
  if (end > start + kMostSignatureBytes) {
    end = start + kMostSignatureBytes;
    while (end > start && is_inside_character(text[end])) --end;
  }
  if (end <= start) return std::min(start + 1, text.size());
  const std::size_t last = text.substr(start, end - start).find_last_not_of(" \t\r\n{:=");
  return last == std::string_view::npos ? start + 1 : start + last + 1;
}

// A heading where each definition begins, and an empty one where it ends.
std::vector<Heading> headings_of(std::string_view text, std::span<const Definition> definitions) {
  std::vector<Heading> headings;
  std::vector<std::size_t> ends;
  const auto close = [&] {
    headings.push_back({ends.back(), ends.size(), {ends.back(), ends.back()}});
    ends.pop_back();
  };
  for (const Definition& definition : definitions) {
    while (!ends.empty() && ends.back() <= definition.begin) close();
    ends.push_back(definition.end);
    headings.push_back(
        {definition.begin, ends.size(), {definition.start, signature_end(text, definition)}});
  }
  while (!ends.empty()) close();
  return headings;
}

double cost_at(double cost, std::size_t depth) {
  return cost + kLevelCost * static_cast<double>(std::min(depth, kCountedLevels));
}

// How many definitions are open at a place.
std::size_t depth_at(std::size_t offset, std::span<const Heading> headings) {
  const auto after = std::upper_bound(
      headings.begin(), headings.end(), offset,
      [](std::size_t value, const Heading& heading) { return value < heading.at; });
  if (after == headings.begin()) return 0;
  const Heading& last = *(after - 1);
  return last.words.empty() ? last.level - 1 : last.level;
}

}  // namespace

Outline outline_of_code(std::string_view text, std::size_t begin, std::span<const Capture> captures,
                        bool is_prose) {
  Outline outline;
  outline.is_prose = is_prose;
  outline.headings = headings_of(text, join_leads(text, begin, sorted(text, captures)));
  add_blank_line_cuts(text, outline.cuts);
  for (Cut& block : outline.cuts)
    block.cost = cost_at(block.cost, depth_at(block.offset, outline.headings));
  for (const Heading& heading : outline.headings)
    if (!heading.words.empty())
      outline.cuts.push_back({heading.at, cost_at(kSectionCost, heading.level - 1)});
  sort_cuts(outline.cuts);
  return outline;
}

}  // namespace gossamer
