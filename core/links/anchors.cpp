#include "links/anchors.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "chunking/scan.h"
#include "marks/shown.h"

namespace gossamer {
namespace {

constexpr std::string_view kMarkdown = "markdown", kRst = "rst";
// A text with more anchors than that is no page that somebody is led to.
constexpr std::size_t kMostExceptions = 4096;
constexpr std::size_t kMostIdBytes = 200;
constexpr std::string_view kRuleNames[] = {"github", "docutils"};

struct Anchored {
  TextSpan words;
  std::string follows, id;  // the anchor that the words give, and the true one
};

bool may_be_id(std::string_view id) {
  const auto may_be = [](char byte) {
    return static_cast<unsigned char>(byte) > ' ' && byte != '\x7f';
  };
  return id.size() <= kMostIdBytes && std::all_of(id.begin(), id.end(), may_be);
}

// Where the braces of "Rent {#rent}" begin; the size of the words if there are none.
std::size_t begin_of_id(std::string_view words) {
  if (!words.ends_with('}')) return words.size();
  const std::size_t open = words.rfind('{');
  if (open == std::string_view::npos || open == 0) return words.size();
  const std::size_t sign =
      skip(words, has_at(words, open + 1, ':') ? open + 2 : open + 1, is_blank);
  return has_at(words, sign, '#') ? open : words.size();
}

std::string_view explicit_id(std::string_view words) {
  const std::size_t open = begin_of_id(words);
  if (open == words.size()) return {};
  const std::size_t start = words.find('#', open) + 1;
  return words.substr(start, words.find_first_of(" \t}", start) - start);
}

// What the words of a heading alone give.
std::string anchor_of(SlugRule rule, std::string_view markup, std::string_view words) {
  const bool is_markdown = markup == kMarkdown;
  const std::string_view id = is_markdown ? explicit_id(words) : std::string_view();
  if (!id.empty()) return std::string(id);
  const Shown shown = show(words, is_markdown ? Marks::kMarkdown : Marks::kRst);
  return slug_of(rule, without_space_at_end(shown.text()));
}

std::vector<Anchored> headings_of(std::string_view text, std::string_view markup, SlugRule rule) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const std::size_t begin = text.starts_with(kMark) ? kMark.size() : 0;
  const Outline outline =
      markup == kMarkdown ? outline_of_markdown(text, begin) : outline_of_rst(text, begin);
  std::vector<Anchored> found;
  for (const Heading& heading : outline.headings) {
    if (heading.words.empty()) continue;
    const std::string_view words = words_of(text, heading.words);
    found.push_back({heading.words, anchor_of(rule, markup, words), {}});
  }
  return found;
}

// Those that stand twice get a number, as GitHub counts them.
void number_repeats(std::vector<Anchored>& headings) {
  std::map<std::string, std::size_t> counts;
  for (Anchored& heading : headings) {
    heading.id = heading.follows;
    while (counts.contains(heading.id))
      heading.id = heading.follows + '-' + std::to_string(++counts[heading.follows]);
    counts[heading.id] = 0;
  }
}

// The name of a target that stands alone above a title: ".. _name:".
std::string label_above(std::string_view text, std::size_t at) {
  std::string_view before = without_space_at_end(text.substr(0, at));
  const std::size_t end = before.rfind('\n');
  if (end != std::string_view::npos) before = before.substr(end + 1);
  constexpr std::string_view kTarget = ".. _";
  if (!before.starts_with(kTarget) || !before.ends_with(':')) return {};
  return slug_of(SlugRule::kDocutils,
                 before.substr(kTarget.size(), before.size() - kTarget.size() - 1));
}

// Where the lines of a title begin: its ruler above, if it has one.
std::size_t begin_of_title(std::string_view text, std::size_t words) {
  const std::string_view before = without_space_at_end(text.substr(0, words));
  const std::size_t line =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::string_view ruler = before.substr(line);
  const bool is_ruler =
      ruler.size() > 2 && ruler.find_first_not_of(ruler[0]) == std::string_view::npos;
  return is_ruler && std::count(text.begin() + static_cast<std::ptrdiff_t>(line),
                                text.begin() + static_cast<std::ptrdiff_t>(words), '\n') == 1
             ? line
             : words;
}

// A title that stands twice has the id that its target gives it, if it has one: docutils numbers it
// among all that has no id of its own.
void find_labels(std::string_view text, std::vector<Anchored>& headings) {
  std::set<std::string> taken;
  for (Anchored& heading : headings) {
    const bool is_new = !heading.follows.empty() && taken.insert(heading.follows).second;
    heading.id =
        is_new ? heading.follows : label_above(text, begin_of_title(text, heading.words.start));
  }
}

// Takes the anchors that are given; how many of them the words give, too.
std::size_t take_given(std::vector<Anchored>& headings, std::span<const GivenAnchor> given) {
  std::size_t count = 0;
  for (Anchored& heading : headings) {
    const auto one = std::ranges::lower_bound(given, heading.words.start, {}, &GivenAnchor::offset);
    heading.id.clear();
    if (one != given.end() && one->offset == heading.words.start && may_be_id(one->id))
      heading.id = one->id;
    count += !heading.id.empty() && heading.id == heading.follows;
  }
  return count;
}

// Where chunks end the words of the headings that they stand under, by where these begin.
using WordEnds = std::map<std::size_t, std::size_t>;

WordEnds find_word_ends(std::span<const TextSpan> headings) {
  WordEnds ends;
  for (const auto& [start, end] : headings) {
    std::size_t& least = ends.try_emplace(start, end).first->second;
    least = std::min(least, end);
  }
  return ends;
}

std::string write(SlugRule rule, std::string_view markup, const std::vector<Anchored>& headings,
                  const WordEnds& word_ends) {
  std::string out(markup);
  out += ' ';
  out += kRuleNames[static_cast<std::size_t>(rule)];
  std::size_t before = 0, count = 0;
  for (const auto& [words, follows, id] : headings) {
    // A chunk may have less of its words than there are, which give another anchor.
    const auto known = word_ends.find(words.start);
    const bool is_short = known != word_ends.end() && known->second < words.end;
    if (id == follows && !is_short) continue;
    if (++count > kMostExceptions) return {};
    out += ' ' + std::to_string(words.start - before) + '#' + id;
    before = words.start;
  }
  return out;
}

}  // namespace

std::string write_anchors(std::string_view text, const AnchorFacts& facts) {
  const bool is_rst = facts.markup == kRst;
  if ((!is_rst && facts.markup != kMarkdown) || (!facts.has_slugs && facts.given.empty()))
    return {};
  SlugRule rule = is_rst ? SlugRule::kDocutils : SlugRule::kGithub;
  std::vector<Anchored> headings = headings_of(text, facts.markup, rule);
  if (headings.empty()) return {};
  if (!facts.given.empty()) {
    const std::size_t by_github = take_given(headings, facts.given);
    std::vector<Anchored> others = headings_of(text, facts.markup, SlugRule::kDocutils);
    if (take_given(others, facts.given) > by_github) {
      rule = SlugRule::kDocutils;
      headings = std::move(others);
    }
  } else if (is_rst) {
    find_labels(text, headings);
  } else {
    number_repeats(headings);
  }
  return write(rule, facts.markup, headings, find_word_ends(facts.innermost));
}

Anchors::Anchors(std::string_view written) {
  const std::size_t end = std::min(written.find(' '), written.size());
  markup_ = written.substr(0, end);
  if (markup_ != kMarkdown && markup_ != kRst) {
    markup_ = {};
    return;
  }
  written.remove_prefix(std::min(end + 1, written.size()));
  const std::string_view name = written.substr(0, written.find(' '));
  for (std::size_t i = 0; i < std::size(kRuleNames); ++i) {
    if (name != kRuleNames[i]) continue;
    rule_ = static_cast<SlugRule>(i);
    has_rule_ = true;
  }
  rest_ = written.substr(std::min(name.size() + 1, written.size()));
}

std::string Anchors::find(std::size_t offset, std::string_view words) const {
  if (!has_rule_) return {};
  std::uint64_t at = 0;
  for (std::size_t begin = 0; begin < rest_.size();) {
    const std::size_t end = std::min(rest_.find(' ', begin), rest_.size());
    const std::string_view one = rest_.substr(begin, end - begin);
    std::uint32_t step = 0;
    const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), step);
    const auto size = static_cast<std::size_t>(stop - one.data());
    if (error != std::errc() || !has_at(one, size, '#')) return {};
    at += step;
    if (at > offset) break;
    if (at == offset) return std::string(one.substr(size + 1));
    begin = end + 1;
  }
  return anchor_of(rule_, markup_, words);
}

std::string_view without_id(std::string_view words) {
  return without_space_at_end(words.substr(0, begin_of_id(words)));
}

}  // namespace gossamer
