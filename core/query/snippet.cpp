#include "query/snippet.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/error.h"
#include "query/matches.h"
#include "query/units.h"

namespace gossamer {
namespace {

// How much the words of a stretch count beside what it means.
constexpr double kWordShare = 0.5;

struct Limits {
  std::size_t lines;
  std::size_t characters;
};

// What stretches of a text are worth: by the words of the question, and by meaning where that is
// known. The latter lies between 0 and 1, so words are measured by all that the text has of them.
class Worth {
 public:
  Worth(const Characters& text, const Matches& matches, const Relevance* relevance)
      : text_(text), relevance_(relevance), score_(matches) {
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
    return words + (*relevance_)(text_.byte_of(first.start), text_.byte_of(last.end));
  }

 private:
  const Characters& text_;
  const Relevance* relevance_;
  Score score_;
  double scale_ = 1;
};

// The best window that may be shown. Its end never goes back while its beginning goes on, so that
// each unit enters and leaves once.
std::span<const Unit> best_window(std::span<const Unit> units, Worth worth, Limits limits) {
  std::span<const Unit> best;
  std::tuple<double, bool, std::ptrdiff_t> best_key;
  std::size_t stop = 0;
  std::size_t matched = 0;  // the first unit from `first` on that has a match
  for (std::size_t first = 0; first < units.size(); ++first) {
    const Unit& unit = units[first];
    const auto has_room_for = [&](const Unit& next) {
      return next.end - unit.start <= limits.characters && next.row - unit.row < limits.lines;
    };
    while (stop < units.size() && (stop == first || has_room_for(units[stop])))
      worth.add(units[stop++]);
    matched = std::max(matched, first);
    while (matched < stop && !units[matched].has_match()) ++matched;
    const Unit& last = units[stop - 1];
    // Of windows with the same words: one that is filled, and begins where the words begin.
    const bool is_full =
        last.row - unit.row + 1 == limits.lines || last.end - unit.start > limits.characters / 2;
    const std::size_t ahead = matched < stop ? matched - first : first;
    const std::tuple key(worth.value(unit, last), is_full, -static_cast<std::ptrdiff_t>(ahead));
    if (best.empty() || key > best_key) {
      best = units.subspan(first, stop - first);
      best_key = key;
    }
    worth.remove(unit);
  }
  return best;
}

// Names the unit that answers best, the first of several.
void name_best(Snippet& snippet, const Characters& text, std::span<const Unit> units, Worth worth) {
  double best = -1;
  for (const Unit& unit : units) {
    worth.add(unit);
    if (const double value = worth.value(unit, unit); value > best) {
      best = value;
      snippet.line = unit.line;
      snippet.begin = text.byte_of(unit.start);
      snippet.end = text.byte_of(unit.end);
    }
    worth.remove(unit);
  }
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

void add_highlights(Snippet& snippet, std::span<const Match> matches, Span shown,
                    std::size_t place) {
  for (const Match& match : matches) {
    const std::size_t start = std::max(match.start, shown.first) - shown.first;
    const std::size_t end = std::min(match.end, shown.second) - shown.first;
    snippet.highlights.emplace_back(place + start, place + end);
  }
}

// Puts the units of a window on lines, and marks where a line goes on beyond it.
Snippet cut_out(const Characters& text, std::span<const Unit> window, const Matches& matches) {
  std::vector<Unit> rows = join_rows(window);
  const bool is_cut = is_begun(text, window.front().start);
  const auto whole_rows = std::span(rows).subspan(is_cut ? 1 : 0);
  const std::size_t indent = shared_indent(text, whole_rows);
  for (Unit& row : whole_rows) row.start += indent;
  Snippet snippet;
  snippet.first_line = window.front().line;
  if (is_cut) snippet.text = "… ";
  std::size_t length = is_cut ? 2 : 0;  // in characters
  for (const Unit& row : rows) {
    if (row.row != rows.front().row) snippet.text += '\n';
    snippet.text += text.slice(row.start, row.end);
    add_highlights(snippet, matches.of(row), {row.start, row.end}, length);
    length += row.end - row.start + 1;
  }
  if (goes_on(text, window.back().end)) snippet.text += " …";
  return snippet;
}

}  // namespace

Snippet choose_snippet(std::string_view text, const LexicalQuery& words, const Relevance* relevance,
                       std::size_t max_lines, std::size_t max_characters) {
  expect(max_characters > 0, Reason::kInvalidArgument,
         "max_characters is 0: a snippet needs room for one character or more");
  const Characters characters(text);
  const Matches matches(characters, words);
  const std::vector<Unit> units = find_units(characters, matches.all(), max_characters);
  if (units.empty()) return {};
  const Worth worth(characters, matches, relevance);
  const std::span<const Unit> window = best_window(units, worth, {max_lines, max_characters});
  Snippet snippet = cut_out(characters, window, matches);
  name_best(snippet, characters, window, worth);
  return snippet;
}

Snippet whole_snippet(std::string_view text, const LexicalQuery& words,
                      const Relevance* relevance) {
  const Characters characters(text);
  const Matches matches(characters, words);
  Snippet snippet{std::string(text), {}};
  add_highlights(snippet, matches.all(), {0, characters.size()}, 0);
  const std::size_t any = std::max<std::size_t>(characters.size(), 1);
  name_best(snippet, characters, find_units(characters, matches.all(), any),
            Worth(characters, matches, relevance));
  return snippet;
}

}  // namespace gossamer
