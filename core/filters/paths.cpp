#include "filters/paths.h"

#include <algorithm>

#include "filters/refuse.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// In place of a dash that makes a range.
constexpr std::uint32_t kTo = 0xFFFFFFFF;

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (!name.empty()) names.push_back(name);
    at = end + 1;
  }
  return names;
}

// Matches what stands before `end` with the parts of a pattern. Only the last star is ever tried
// again, so it is never slow. `fit` says of a part whether it is what stands at a place, `step`
// gives the place behind that.
template <class Part, class Fit, class Step>
bool match_parts(const Part* part, const Part* last, std::size_t end, Fit fit, Step step) {
  const Part* retry = nullptr;
  std::size_t at = 0, retry_at = 0;
  while (at < end) {
    if (part < last && part->is_star) {
      retry_at = at;
      retry = ++part;
    } else if (part < last && fit(*part, at)) {
      at = step(at);
      ++part;
    } else if (retry != nullptr) {
      at = retry_at = step(retry_at);
      part = retry;
    } else {
      return false;
    }
  }
  while (part < last && part->is_star) ++part;
  return part == last;
}

// Where a set ends that begins at a place; the end of the name if nothing closes it.
std::size_t end_of_set(const std::vector<std::uint32_t>& name, std::size_t at) {
  if (at < name.size() && name[at] == U'!') ++at;
  ++at;  // the first one may be a bracket itself
  while (at < name.size() && name[at] != U']') ++at;
  return std::min(at, name.size());
}

}  // namespace

void PathPatterns::add(std::string_view pattern, bool ignores_case) {
  const bool is_unwanted = pattern.starts_with('!');
  if (is_unwanted) pattern.remove_prefix(1);
  if (pattern.find_first_not_of("/ ") == pattern.npos)
    refuse({"expected a path or a pattern such as notes/**/*.md, not '", pattern, "'"});
  ignores_case_ = ignores_case;
  const Part star, whole{false, is_unwanted, names_.size(), 0};
  patterns_.push_back(whole);
  if (!pattern.starts_with('/')) names_.push_back(star);
  for (const std::string_view name : split(pattern)) add_name(name);
  names_.push_back(star);  // what is in a folder that matches is meant too
  patterns_.back().end = names_.size();
}

void PathPatterns::add_name(std::string_view name) {
  const Part part{name == "**", false, letters_.size(), 0};
  names_.push_back(part);
  if (part.is_star) return;
  Points points;
  std::size_t last = 0;  // behind it no set is closed
  for (std::size_t at = 0; at < name.size();) {
    points.push_back(next(name, at));
    if (points.back() == U']') last = points.size();
  }
  for (std::size_t at = 0; at < points.size(); ++at) {
    const std::size_t end =
        points[at] == U'[' && at < last ? end_of_set(points, at + 1) : points.size();
    // A question mark is not one of none.
    const Part letter{points[at] == U'*', points[at] == U'?', ranges_.size(), 0};
    letters_.push_back(letter);
    if (end < points.size()) {
      add_set(points, at + 1, end);
      at = end;
    } else if (!letter.is_star && !letter.is_negated) {
      add_range(points[at], points[at]);
    }
    letters_.back().end = ranges_.size();
  }
  names_.back().end = letters_.size();
}

// As Python's fnmatch has it: dashes between pieces make ranges, and one whose end stands before
// its beginning is left out with both; a "!" that begins what is left negates it.
void PathPatterns::add_set(const Points& points, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> pieces{begin};
  for (std::size_t at = begin + (points[begin] == U'!' ? 2 : 1); at + 1 < end; ++at)
    if (points[at] == U'-') {
      pieces.push_back(at + 1);
      at += 2;
    }
  // Backwards, so that joining two pieces takes no longer than one of them is.
  Points joined;
  for (; !pieces.empty(); pieces.pop_back()) {
    if (!joined.empty()) {
      const bool is_range = points[end - 1] <= joined.back();
      if (is_range) joined.push_back(kTo);
      if (!is_range) joined.pop_back();
      if (!is_range) --end;
    }
    for (; end > pieces.back(); --end) joined.push_back(points[end - 1]);
    --end;  // the dash
  }
  Part& letter = letters_.back();
  letter.is_negated = !joined.empty() && joined.back() == U'!';
  if (letter.is_negated) joined.pop_back();
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (joined[i] != kTo)
      add_range(joined[i], joined[i]);
    else if (i + 1 < joined.size())
      add_range(joined[i + 1], joined[i - 1]);
    else
      add_range(U'-', U'-');  // behind nothing it stands for itself
  }
}

void PathPatterns::add_range(std::uint32_t first, std::uint32_t last) {
  ranges_.push_back(first);
  ranges_.push_back(last);
}

std::uint32_t PathPatterns::next(std::string_view name, std::size_t& at) const {
  const char32_t point = next_stored_point(name, at);
  return ignores_case_ ? small_letter(point) : point;
}

bool PathPatterns::match(std::string_view path) const {
  const std::vector<std::string_view> names = split(path);
  bool is_any_wanted = false, is_wanted = false;
  for (const Part& pattern : patterns_) {
    const bool is_match = match_names(pattern, names);
    if (pattern.is_negated && is_match) return false;
    is_any_wanted |= !pattern.is_negated;
    is_wanted |= is_match;
  }
  return is_wanted || !is_any_wanted;
}

bool PathPatterns::match_names(const Part& pattern,
                               const std::vector<std::string_view>& names) const {
  return match_parts(
      names_.data() + pattern.first, names_.data() + pattern.end, names.size(),
      [&](const Part& name, std::size_t at) { return match_name(name, names[at]); },
      [](std::size_t at) { return at + 1; });
}

bool PathPatterns::match_name(const Part& pattern, std::string_view name) const {
  const auto fit = [&](const Part& letter, std::size_t at) {
    const std::uint32_t point = next(name, at);
    bool is_one = false;
    for (std::size_t i = letter.first; i < letter.end; i += 2)
      is_one |= ranges_[i] <= point && point <= ranges_[i + 1];
    return is_one != letter.is_negated;
  };
  const auto step = [&](std::size_t at) {
    next(name, at);
    return at;
  };
  return match_parts(letters_.data() + pattern.first, letters_.data() + pattern.end, name.size(),
                     fit, step);
}

}  // namespace gossamer
