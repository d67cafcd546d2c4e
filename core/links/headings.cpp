#include "links/headings.h"

#include <algorithm>
#include <optional>

#include "chunking/outline.h"
#include "chunking/scan.h"
#include "chunking/titles.h"
#include "marks/blocks.h"
#include "marks/fences.h"

namespace gossamer {
namespace {

// The sign that adorns what stands before it, if it is one.
int sign_below(std::string_view behind) {
  const std::size_t end = skip(behind, 0, is_blank_or_return);
  if (!has_at(behind, end, '\n') || end + 1 >= behind.size()) return 0;
  return static_cast<unsigned char>(behind[end + 1]);
}

int level_of(std::string_view before, int sign) {
  std::size_t level = 0;
  while (level < before.size() && before[before.size() - 1 - level] == '#') ++level;
  if (level > 0) return static_cast<int>(level);
  return sign == '=' ? 1 : sign == '-' ? 2 : 0;
}

int adornment_of(std::string_view before, int sign) {
  if (sign == 0 || !before.ends_with('\n')) return sign;
  before = without_space_at_end(before);
  const bool is_over = before.size() > 1 && static_cast<unsigned char>(before.back()) == sign &&
                       before[before.size() - 2] == before.back();
  return rst_adornment(static_cast<char>(sign), is_over);
}

// A heading ends those of its level and below.
void enter_level(std::vector<HeadingAbove>& above, const HeadingAbove& heading) {
  while (!above.empty() && above.back().style.level >= heading.style.level) above.pop_back();
  above.push_back(heading);
}

// A title ends the one that is adorned like it, and what stands under that.
void enter_adornment(std::vector<HeadingAbove>& above, const HeadingAbove& heading) {
  const auto alike = std::ranges::find_if(above, [&](const HeadingAbove& one) {
    return one.style.adornment == heading.style.adornment;
  });
  above.erase(alike, above.end());
  above.push_back(heading);
}

// What is passed, and up to where headings begin that count.
struct Pass {
  std::string_view text;
  std::size_t offset;
  std::size_t end;

  HeadingAbove heading(TextSpan words, HeadingStyle style) const {
    return {{offset + words.start, offset + words.end}, style};
  }
};

// Lines of code are no headings, also where the text begins within code.
void pass_markdown(std::vector<HeadingAbove>& above, const Pass& pass) {
  const std::vector<TextSpan> lines = lines_of(pass.text);
  const std::vector<Side> sides = find_sides(pass.text, lines);
  for (std::size_t i = 0; i < lines.size() && lines[i].start < pass.end; ++i) {
    const std::size_t line = lines[i].start;
    if (sides[i] != Side::kText) continue;
    std::optional<FoundHeading> found = marked_heading_at(pass.text, line);
    if (!found && stands_apart(pass.text, 0, line)) found = underlined_heading_at(pass.text, line);
    if (!found || found->heading.words.empty()) continue;
    const auto level = static_cast<int>(found->heading.level);
    enter_level(above, pass.heading(found->heading.words, {level, 0}));
  }
}

void pass_rst(std::vector<HeadingAbove>& above, const Pass& pass) {
  for (std::size_t line = 0; line < pass.end;) {
    const std::optional<RstTitle> title = rst_title_at(pass.text, line);
    if (title && title->is_valid)
      enter_adornment(above, pass.heading(title->words, {0, title->adornment}));
    line = next_line(pass.text, title ? title->end + 1 : line + 1);
  }
}

}  // namespace

HeadingStyle style_between(std::string_view before, std::string_view behind) {
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  const int sign = sign_below(behind);
  return {level_of(before, sign), adornment_of(before, sign)};
}

void pass_headings(std::vector<HeadingAbove>& above, std::string_view markup,
                   std::string_view stretch, std::size_t offset, std::size_t byte) {
  const Pass text{stretch, offset, std::min(byte + 1, stretch.size())};
  if (markup == "markdown") pass_markdown(above, text);
  if (markup == "rst") pass_rst(above, text);
}

}  // namespace gossamer
