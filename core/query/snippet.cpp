#include "query/snippet.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "query/matches.h"
#include "query/units.h"

namespace gossamer {
namespace {

// How much the words of a stretch count beside what it means.
constexpr double kWordShare = 0.5;
// A window that is worth so much of the best one may be shown in its place.
constexpr double kNearlyBest = 0.99;

struct Limits {
  std::size_t lines;
  std::size_t characters;
};

// What stretches of a text are worth: by the words of the question, and by meaning where that is
// known. The latter lies between 0 and 1, so words are measured by all that the text has of them.
class Worth {
 public:
  Worth(const Shown& shown, const Characters& text, const Matches& matches,
        const Relevance* relevance)
      : shown_(shown), text_(text), relevance_(relevance), score_(matches) {
    if (relevance == nullptr) return;
    double all = 0;
    for (const double weight : matches.weights()) all += weight;
    scale_ = all > 0 ? kWordShare / all : 0;
  }

  void add(const Unit& unit) { score_.add(unit); }
  void remove(const Unit& unit) { score_.remove(unit); }
  // Of the units that were added, the first and the last of which are these.
  double value(const Unit& first, const Unit& last) const {
    const double words = scale_ * score_.value();
    if (relevance_ == nullptr) return words;
    return words + (*relevance_)(source_of(first.start), source_of(last.end));
  }

  // Where a character stands in the source.
  std::size_t source_of(std::size_t place) const { return shown_.source_of(text_.byte_of(place)); }

 private:
  const Shown& shown_;
  const Characters& text_;
  const Relevance* relevance_;
  Score score_;
  double scale_ = 1;
};

// Units that may be shown together, and what they are worth.
struct Window {
  std::size_t first;
  std::size_t stop;
  double value;
};

// The longest window that begins with each unit. Its end never goes back while its beginning goes
// on, so that each unit enters and leaves once.
std::vector<Window> find_windows(std::span<const Unit> units, Worth worth, Limits limits) {
  std::vector<Window> windows;
  windows.reserve(units.size());
  std::size_t stop = 0;
  for (std::size_t first = 0; first < units.size(); ++first) {
    const Unit& unit = units[first];
    const auto has_room_for = [&](const Unit& next) {
      return next.end - unit.start <= limits.characters && next.row - unit.row < limits.lines;
    };
    while (stop < units.size() && (stop == first || has_room_for(units[stop])))
      worth.add(units[stop++]);
    windows.push_back({first, stop, worth.value(unit, units[stop - 1])});
    worth.remove(unit);
  }
  return windows;
}

// The unit that answers best, the first of several.
std::size_t find_best(std::span<const Unit> units, Window window, Worth worth) {
  std::size_t best = window.first;
  double most = -1;
  for (std::size_t i = window.first; i < window.stop; ++i) {
    worth.add(units[i]);
    if (const double value = worth.value(units[i], units[i]); value > most) {
      best = i;
      most = value;
    }
    worth.remove(units[i]);
  }
  return best;
}

// Of windows that are worth about as much as the best one: that in whose middle the best unit
// stands. What is above a heading says nothing of what is below it.
Window find_middle(std::span<const Unit> units, std::span<const Window> windows, std::size_t best,
                   const Window& most, const auto& begins_section) {
  const auto may_begin = [&](std::size_t first) { return windows[first].stop > best; };
  std::size_t section = best;
  while (section > 0 && may_begin(section - 1) && !begins_section(units[section])) --section;
  const auto key_of = [&](const Window& window) {
    const std::size_t end = units[window.stop - 1].end;
    const std::size_t before = units[best].start - units[std::max(window.first, section)].start;
    const std::size_t after = end - units[best].end;
    return std::tuple(std::min(before, after), before + after, end - units[window.first].start);
  };
  Window middle = most;
  for (std::size_t first = best + 1; first-- > 0 && may_begin(first);) {
    const Window& window = windows[first];
    if (window.value >= kNearlyBest * most.value && key_of(window) > key_of(middle))
      middle = window;
  }
  // A heading is for what follows it.
  while (middle.stop - 1 > best && begins_section(units[middle.stop - 1])) --middle.stop;
  return middle;
}

// Whether the line of a place has more than space before it, and from it on.
bool is_begun(const Characters& text, std::size_t at) {
  while (at > 0 && text[at - 1] != U'\n')
    if (!is_space_character(text[--at])) return true;
  return false;
}
bool goes_on(const Characters& text, std::size_t at) {
  for (; at < text.size() && text[at] != U'\n'; ++at)
    if (!is_space_character(text[at])) return true;
  return false;
}

// The units of each line of a window as one.
std::vector<Unit> join_rows(std::span<const Unit> window) {
  std::vector<Unit> rows;
  for (const Unit& unit : window) {
    if (rows.empty() || rows.back().row != unit.row) rows.push_back(unit);
    rows.back().end = unit.end;
    rows.back().stop_match = unit.stop_match;
  }
  return rows;
}

std::size_t shared_indent(const Characters& text, std::span<const Unit> rows) {
  std::size_t shared = text.size();
  for (const Unit& row : rows) {
    std::size_t indent = 0;
    while (indent < shared && is_space_character(text[row.start + indent])) ++indent;
    shared = indent;
  }
  return shared;
}

// What of a span lies in a row, which is shown from a place on.
Span within(const Unit& row, std::size_t start, std::size_t end, std::size_t place) {
  return {place + std::max(start, row.start) - row.start,
          place + std::min(end, row.end) - row.start};
}

// What is shown of a text for a question.
class Chooser {
 public:
  Chooser(const Shown& shown, const LexicalQuery& words, const Relevance* relevance)
      : shown_(shown),
        text_(shown.text()),
        matches_(text_, words),
        worth_(shown, text_, matches_, relevance) {
    std::size_t place = 0;
    for (const TextSpan& span : shown.code()) {
      const std::size_t start = text_.find(span.start, place);
      code_.emplace_back(start, place = text_.find(span.end, start));
    }
  }

  Snippet choose(Limits limits) const {
    const std::vector<Unit> units = find_units(text_, matches_.all(), limits.characters);
    if (units.empty()) return {};
    const std::vector<Window> windows = find_windows(units, worth_, limits);
    const Window& most = *std::ranges::max_element(windows, {}, &Window::value);
    const std::size_t best = find_best(units, most, worth_);
    const Window window = find_middle(units, windows, best, most, [this](const Unit& unit) {
      return std::ranges::binary_search(shown_.sections(), text_.byte_of(unit.start));
    });
    const auto chosen = std::span(units).subspan(window.first, window.stop - window.first);
    return cut_out(chosen, units[best]);
  }

  Snippet take_whole() const {
    Snippet snippet;
    snippet.text = shown_.text();
    for (const Match& match : matches_.all())
      snippet.highlights.emplace_back(match.start, match.end);
    snippet.code = code_;
    const std::size_t any = std::max<std::size_t>(text_.size(), 1);
    const std::vector<Unit> units = find_units(text_, matches_.all(), any);
    if (units.empty()) return snippet;
    const Unit& best = units[find_best(units, {0, units.size(), 0}, worth_)];
    snippet.best = {best.start, best.end};
    name_best(snippet, best);
    return snippet;
  }

 private:
  void name_best(Snippet& snippet, const Unit& unit) const {
    snippet.begin = worth_.source_of(unit.start);
    snippet.end = worth_.source_of(unit.end);
    snippet.line = line_of(unit);
  }

  // Its line in the source.
  std::size_t line_of(const Unit& unit) const {
    const std::string_view before = shown_.source().substr(0, worth_.source_of(unit.start));
    return static_cast<std::size_t>(std::ranges::count(before, '\n'));
  }

  // Puts the units of a window on lines, and marks where a line goes on beyond it.
  Snippet cut_out(std::span<const Unit> window, const Unit& best) const {
    std::vector<Unit> rows = join_rows(window);
    const bool is_cut = is_begun(text_, window.front().start);
    const auto whole_rows = std::span(rows).subspan(is_cut ? 1 : 0);
    const std::size_t indent = shared_indent(text_, whole_rows);
    for (Unit& row : whole_rows) row.start += indent;
    Snippet snippet;
    snippet.first_line = line_of(window.front());
    if (is_cut) snippet.text = "… ";
    std::size_t length = is_cut ? 2 : 0;  // in characters
    auto code = code_.begin();
    for (const Unit& row : rows) {
      if (row.row != rows.front().row) snippet.text += '\n';
      snippet.text += text_.slice(row.start, row.end);
      if (row.row == best.row) snippet.best = within(row, best.start, best.end, length);
      for (const Match& match : matches_.of(row))
        snippet.highlights.push_back(within(row, match.start, match.end, length));
      while (code != code_.end() && code->second <= row.start) ++code;
      for (auto span = code; span != code_.end() && span->first < row.end; ++span) {
        const auto [start, end] = within(row, span->first, span->second, length);
        const bool goes_on = start == length && !snippet.code.empty() &&
                             snippet.code.back().second + 1 == start;  // from the line above
        if (goes_on)
          snippet.code.back().second = end;
        else
          snippet.code.emplace_back(start, end);
      }
      length += row.end - row.start + 1;
    }
    if (goes_on(text_, window.back().end)) snippet.text += " …";
    name_best(snippet, best);
    return snippet;
  }

  const Shown& shown_;
  Characters text_;
  Matches matches_;
  Worth worth_;
  Snippet::Spans code_;
};

}  // namespace

Snippet choose_snippet(const Shown& shown, const LexicalQuery& words, const Relevance* relevance,
                       std::size_t max_lines, std::size_t max_characters) {
  expect(max_characters > 0, Reason::kInvalidArgument,
         "max_characters is 0: a snippet needs room for one character or more");
  return Chooser(shown, words, relevance).choose({max_lines, max_characters});
}

Snippet whole_snippet(const Shown& shown, const LexicalQuery& words, const Relevance* relevance) {
  return Chooser(shown, words, relevance).take_whole();
}

}  // namespace gossamer
