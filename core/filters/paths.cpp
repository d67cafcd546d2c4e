#include "filters/paths.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::string_view kAnyFolders = "**";
constexpr std::size_t kNone = std::string_view::npos;

std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::u32string points_of(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_stored_point(text, at));
  return points;
}

// Matches what stands before `end` with parts of a pattern. Only the last star is ever tried again,
// so it is never slow. `fit` says of a part whether it is what stands at a place, `step` gives the
// place behind that.
template <class Part, class IsStar, class Fit, class Step>
bool match_parts(const std::vector<Part>& parts, std::size_t end, IsStar is_star, Fit fit,
                 Step step) {
  std::size_t at = 0, part = 0, retry_at = 0, retry_part = kNone;
  while (at < end) {
    if (part < parts.size() && is_star(parts[part])) {
      retry_at = at;
      retry_part = ++part;
    } else if (part < parts.size() && fit(parts[part], at)) {
      at = step(at);
      ++part;
    } else if (retry_part != kNone) {
      at = retry_at = step(retry_at);
      part = retry_part;
    } else {
      return false;
    }
  }
  return std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(part), parts.end(), is_star);
}

// Where a set ends that begins at a place; kNone if nothing closes it.
std::size_t end_of_set(std::u32string_view name, std::size_t at) {
  if (at < name.size() && name[at] == U'!') ++at;
  return name.find(U']', at + 1);
}

}  // namespace

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& byte : small)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + 32);
  return small;
}

void PathPatterns::add(std::string_view pattern) {
  const bool is_unwanted = pattern.starts_with('!');
  if (is_unwanted) pattern.remove_prefix(1);
  if (pattern.find_first_not_of("/ ") == kNone)
    fail(Reason::kInvalidArgument,
         "expected a path or a pattern such as notes/**/*.md, not '" + std::string(pattern) + "'");
  const std::string given = ignores_case_ ? in_small_letters(pattern) : std::string(pattern);
  Pattern parts;
  if (!given.starts_with('/')) parts.push_back({std::string(kAnyFolders), {}});
  for (const std::string_view name : names_of(given))
    parts.push_back({std::string(name), read_letters(name)});
  // What is in a folder that matches is meant too.
  parts.push_back({std::string(kAnyFolders), {}});
  (is_unwanted ? unwanted_ : wanted_).push_back(std::move(parts));
}

bool PathPatterns::match(std::string_view path) const {
  const std::string small = ignores_case_ ? in_small_letters(path) : std::string();
  const std::vector<std::string_view> names = names_of(ignores_case_ ? small : path);
  const auto is_match = [&](const Pattern& pattern) { return match_names(pattern, names); };
  return (wanted_.empty() || std::any_of(wanted_.begin(), wanted_.end(), is_match)) &&
         std::none_of(unwanted_.begin(), unwanted_.end(), is_match);
}

bool PathPatterns::match_names(const Pattern& pattern, const std::vector<std::string_view>& names) {
  return match_parts(
      pattern, names.size(), [](const Name& name) { return name.text == kAnyFolders; },
      [&](const Name& name, std::size_t at) { return match_name(name, names[at]); },
      [](std::size_t at) { return at + 1; });
}

bool PathPatterns::match_name(const Name& pattern, std::string_view name) {
  if (pattern.letters.empty()) return pattern.text == name;
  const auto fit = [&](const Letter& letter, std::size_t at) {
    const char32_t point = next_stored_point(name, at);
    return letter.is_negated !=
           std::any_of(letter.ranges.begin(), letter.ranges.end(), [&](const auto& range) {
             return range.first <= point && point <= range.second;
           });
  };
  const auto step = [&](std::size_t at) {
    next_stored_point(name, at);
    return at;
  };
  return match_parts(
      pattern.letters, name.size(), [](const Letter& letter) { return letter.is_star; }, fit, step);
}

std::vector<PathPatterns::Letter> PathPatterns::read_letters(std::string_view name) {
  std::vector<Letter> letters;
  if (name.find_first_of("*?[") == kNone) return letters;
  const std::u32string points = points_of(name);
  const std::size_t last = points.rfind(U']');  // what opens behind it is not closed
  for (std::size_t at = 0; at < points.size(); ++at) {
    const char32_t point = points[at];
    Letter letter;
    letter.is_star = point == U'*';
    letter.is_negated = point == U'?';  // not one of none
    const bool may_close = point == U'[' && last != kNone && at < last;
    const std::size_t end = may_close ? end_of_set(points, at + 1) : kNone;
    if (end != kNone) {
      letter = read_set(std::u32string_view(points).substr(at + 1, end - at - 1));
      at = end;
    } else if (!letter.is_star && !letter.is_negated) {
      letter.ranges.emplace_back(point, point);
    }
    if (!letter.is_star || letters.empty() || !letters.back().is_star)
      letters.push_back(std::move(letter));
  }
  return letters;
}

// As Python's fnmatch has it: dashes between pieces make ranges, and one whose end stands before
// its beginning is left out with both; a "!" that begins what is left negates it.
PathPatterns::Letter PathPatterns::read_set(std::u32string_view within) {
  std::vector<std::u32string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t dash = within[0] == U'!' ? 2 : 1;
       (dash = within.find(U'-', dash)) != kNone && dash + 1 < within.size(); dash += 3) {
    pieces.push_back(within.substr(begin, dash - begin));
    begin = dash + 1;
  }
  // From the last to the first, each backwards, so that joining two takes no longer than one is.
  std::vector<std::u32string> joined;
  const auto last = within.substr(begin);
  std::u32string piece(last.rbegin(), last.rend());
  for (; !pieces.empty(); pieces.pop_back()) {
    const std::u32string_view before = pieces.back();
    const bool is_range = before.back() <= piece.back();
    if (is_range) joined.push_back(std::exchange(piece, {}));
    if (!is_range) piece.pop_back();
    piece.append(before.rbegin() + (is_range ? 0 : 1), before.rend());
  }
  Letter letter;
  letter.is_negated = piece.ends_with(U'!');
  if (letter.is_negated) piece.pop_back();
  joined.push_back(std::move(piece));
  for (std::size_t i = 0; i < joined.size(); ++i) {
    for (const char32_t point : joined[i]) letter.ranges.emplace_back(point, point);
    if (i == 0) continue;
    // Behind nothing a dash stands for itself.
    const bool is_range = !joined[i].empty();
    letter.ranges.emplace_back(is_range ? joined[i].front() : U'-',
                               is_range ? joined[i - 1].back() : U'-');
  }
  return letter;
}

}  // namespace gossamer
