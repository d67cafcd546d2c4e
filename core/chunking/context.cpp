#include "chunking/context.h"

#include <algorithm>
#include <limits>

#include "chunking/scan.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// A path or title longer than this says nothing more, and would take the chunk's own room.
constexpr std::size_t kMostLineBytes = 120;
// A heading is not shortened to fewer tokens than this; it is left out.
constexpr std::size_t kLeastShortened = 4;
// No more headings than these find room; a text may nest them by the thousand.
constexpr std::size_t kMostOpen = 32;
constexpr std::size_t kAnyLevel = std::numeric_limits<std::size_t>::max();

// Where the last character of a text begins.
std::size_t begin_of_last(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && is_inside_character(text[at])) --at;
  return at;
}

}  // namespace

std::string shorten_line(std::string_view line) {
  std::string words;
  bool is_apart = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = at;
    if (is_space_character(next_point(line, at))) {
      is_apart = !words.empty();
      continue;
    }
    if (is_apart) words += ' ';
    is_apart = false;
    words += line.substr(begin, at - begin);
  }
  if (words.size() <= kMostLineBytes) return words;
  std::size_t end = kMostLineBytes;
  while (end > 0 && is_inside_character(words[end])) --end;
  words.resize(end);
  const std::size_t space = words.rfind(' ');
  if (space != std::string::npos) words.resize(space);
  return words;
}

std::string embedded_text(std::string_view line, std::span<const std::string_view> headings,
                          std::string_view body) {
  const auto is_empty = [](std::string_view heading) { return heading.empty(); };
  const bool is_line_left_out = std::any_of(headings.begin(), headings.end(), is_empty);
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  };
  if (!is_line_left_out) add(line);
  for (const std::string_view heading : headings) add(heading);
  add(body);
  return text;
}

TextSpan trim(std::string_view text, TextSpan span) {
  auto [start, end] = span;
  while (start < end) {
    std::size_t after = start;
    if (!is_space_character(next_point(text.substr(0, end), after))) break;
    start = after;
  }
  while (start < end) {
    const std::size_t last = start + begin_of_last(text.substr(start, end - start));
    std::size_t after = last;
    if (!is_space_character(next_point(text.substr(0, end), after)) || after != end) break;
    end = last;
  }
  return {start, end};
}

void HeadingPath::enter(const Stretch& stretch) {
  for (; next_ < ahead_.size(); ++next_) pass(ahead_[next_]);
  ahead_.clear();
  next_ = 0;
  auto heading =
      std::lower_bound(headings_.begin(), headings_.end(), stretch.begin,
                       [](const Heading& one, std::size_t begin) { return one.at < begin; });
  for (; heading != headings_.end() && heading->at < stretch.end; ++heading) {
    const std::size_t first = stretch.count_before(heading->words.start);
    const std::size_t last = std::min(stretch.count_before(heading->words.end), first + room_ + 1);
    Open open{heading->at, heading->level, heading->words, {}};
    const auto tokens = stretch.tokens.begin();
    if (first < last)
      open.tokens.assign(tokens + static_cast<std::ptrdiff_t>(first),
                         tokens + static_cast<std::ptrdiff_t>(last));
    ahead_.push_back(std::move(open));
  }
  context_ = within_room(kAnyLevel);
}

HeadingPath::Context HeadingPath::at(std::size_t offset) {
  if (next_ == ahead_.size() || ahead_[next_].at > offset) return context_;
  for (; next_ < ahead_.size() && ahead_[next_].at < offset; ++next_) pass(ahead_[next_]);
  context_ = within_room(kAnyLevel);
  const bool is_heading = next_ < ahead_.size() && ahead_[next_].at == offset;
  return is_heading ? within_room(ahead_[next_].level) : context_;
}

void HeadingPath::pass(const Open& heading) {
  while (!open_.empty() && open_.back().level >= heading.level) open_.pop_back();
  if (heading.words.empty() || words_of(text_, heading.words) == line_) return;
  open_.push_back(heading);
  if (open_.size() > kMostOpen) open_.erase(open_.begin());
}

// From the innermost outwards; the first that is too long is shortened.
HeadingPath::Context HeadingPath::within_room(std::size_t below_level) const {
  Context context;
  std::size_t room = room_;
  for (auto heading = open_.rbegin(); heading != open_.rend(); ++heading) {
    if (heading->level >= below_level) continue;
    if (heading->tokens.size() > room) {
      if (const std::size_t end = end_of_words(*heading, room)) {
        context.spans.push_back({heading->words.start, end});
        room = 0;
      }
      break;
    }
    context.spans.push_back(heading->words);
    room -= heading->tokens.size();
  }
  std::reverse(context.spans.begin(), context.spans.end());
  context.tokens = room_ - room;
  return context;
}

std::size_t HeadingPath::end_of_words(const Open& heading, std::size_t room) const {
  if (room < kLeastShortened) return 0;
  for (std::size_t token = room; token > room / 2; --token) {
    const std::size_t start = heading.tokens[token];
    if (start <= heading.words.start || !is_space(text_[start - 1])) continue;
    const std::string_view words = text_.substr(heading.words.start, start - heading.words.start);
    return heading.words.start + without_space_at_end(words).size();
  }
  return 0;
}

}  // namespace gossamer
