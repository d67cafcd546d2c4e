#include "chunking/outline.h"

#include <algorithm>

#include "chunking/scan.h"

namespace gossamer {

void sort_cuts(Cuts& cuts) {
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return a.offset < b.offset || (a.offset == b.offset && a.cost < b.cost);
  });
  const auto is_same_place = [](const Cut& a, const Cut& b) { return a.offset == b.offset; };
  cuts.erase(std::unique(cuts.begin(), cuts.end(), is_same_place), cuts.end());
}

void add_blank_line_cuts(std::string_view text, Cuts& cuts) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    at = skip(text, at + 1, is_blank_or_return);
    if (!has_at(text, at, '\n')) continue;
    at = skip(text, at, is_space);
    cuts.push_back({at, kParagraphCost});
  }
}

void join_section_cuts(Outline& outline) {
  const auto is_tied = [&](std::size_t offset) { return is_among(offset, outline.tied); };
  std::erase_if(outline.cuts, [&](const Cut& cut) { return is_tied(cut.offset); });
  for (const Heading& heading : outline.headings) {
    const double cost =
        kSectionCost + 0.01 * static_cast<double>(std::min<std::size_t>(heading.level, 6));
    outline.cuts.push_back({heading.at, is_tied(heading.at) ? kAfterHeadingCost : cost});
  }
  sort_cuts(outline.cuts);
}

void add_item_cuts(std::string_view text,
                   std::size_t (*end_of_marker)(std::string_view text, std::size_t at),
                   Cuts& cuts) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    const std::size_t line = ++at;
    const std::size_t marker = skip(text, line, is_blank);
    const std::size_t end = end_of_marker(text, marker);
    if (end > marker && end < text.size() && is_blank(text[end])) cuts.push_back({line, kItemCost});
  }
}

bool is_among(std::size_t value, std::span<const std::size_t> rising) {
  return std::binary_search(rising.begin(), rising.end(), value);
}

}  // namespace gossamer
