#include "links/headings.h"

#include <algorithm>
#include <utility>

#include "chunking/outline.h"
#include "chunking/scan.h"
#include "marks/blocks.h"
#include "marks/fences.h"

namespace gossamer {
namespace {

constexpr int kOverlined = 1 << 8;

// The sign that adorns what stands before it, if it is one.
int sign_below(std::string_view behind) {
  const std::size_t end = skip(behind, 0, is_blank_or_return);
  if (!has_at(behind, end, '\n') || end + 1 >= behind.size()) return 0;
  return static_cast<unsigned char>(behind[end + 1]);
}

// Lines of code are no headings, also where the text begins within code.
std::string without_code(std::string_view text) {
  std::string out(text);
  const std::vector<TextSpan> lines = lines_of(text);
  const std::vector<Side> sides = find_sides(text, lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (sides[i] != Side::kText)
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(lines[i].start),
                out.begin() + static_cast<std::ptrdiff_t>(lines[i].end), ' ');
  return out;
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
  return is_over ? sign + kOverlined : sign;
}

// A heading ends those of its level and below.
void enter_level(std::vector<HeadingAbove>& above, HeadingAbove heading) {
  while (!above.empty() && above.back().style.level >= heading.style.level) above.pop_back();
  above.push_back(std::move(heading));
}

// A title ends the one that is adorned like it, and what stands under that.
void enter_adornment(std::vector<HeadingAbove>& above, HeadingAbove heading) {
  const auto alike = std::ranges::find_if(above, [&](const HeadingAbove& one) {
    return one.style.adornment == heading.style.adornment;
  });
  above.erase(alike, above.end());
  above.push_back(std::move(heading));
}

}  // namespace

HeadingStyle style_between(std::string_view before, std::string_view behind) {
  while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
  const int sign = sign_below(behind);
  return {level_of(before, sign), adornment_of(before, sign)};
}

void pass_headings(std::vector<HeadingAbove>& above, std::string_view markup,
                   std::string_view stretch, std::size_t offset, std::size_t byte) {
  const bool has_levels = markup == "markdown";
  if (!has_levels && markup != "rst") return;
  const std::string text = has_levels ? without_code(stretch) : std::string(stretch);
  const Outline outline = has_levels ? outline_of_markdown(text, 0) : outline_of_rst(text, 0);
  for (const Heading& heading : outline.headings) {
    if (heading.at > byte) break;
    const auto [start, end] = heading.words;
    if (start == end) continue;
    HeadingAbove one{offset + start, std::string(words_of(stretch, heading.words)),
                     style_between(stretch.substr(0, start), stretch.substr(end))};
    one.style.level = static_cast<int>(heading.level);
    if (has_levels)
      enter_level(above, std::move(one));
    else
      enter_adornment(above, std::move(one));
  }
}

}  // namespace gossamer
