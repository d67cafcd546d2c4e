// reStructuredText: titles by their underlines, paragraphs by blank lines.

#include <algorithm>
#include <optional>

#include "chunking/outline.h"
#include "chunking/scan.h"
#include "chunking/titles.h"

namespace gossamer {
namespace {

// Levels are in the order in which styles appear.
class Styles {
 public:
  std::size_t level_of(int adornment) {
    const auto known = std::find(styles_.begin(), styles_.end(), adornment);
    if (known != styles_.end()) return static_cast<std::size_t>(known - styles_.begin()) + 1;
    styles_.push_back(adornment);
    return styles_.size();
  }

 private:
  std::vector<int> styles_;
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
    const std::optional<RstTitle> title = rst_title_at(text, line);
    if (!title) {
      line = next_line(text, line + 1);
      continue;
    }
    const std::size_t follows = skip(text, title->end, is_space);
    line = next_line(text, follows);
    if (!title->is_valid) continue;
    outline.headings.push_back({title->at, styles.level_of(title->adornment), title->words});
    outline.tied.push_back(follows);
  }
  add_blank_line_cuts(text, outline.cuts);
  add_item_cuts(text, end_of_marker, outline.cuts);
  join_section_cuts(outline);
  return outline;
}

}  // namespace gossamer
