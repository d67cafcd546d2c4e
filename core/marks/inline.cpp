#include "marks/inline.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "chunking/scan.h"
#include "marks/emphasis.h"
#include "marks/names.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kMostLabel = 60;    // bytes of a footnote's name
constexpr std::size_t kMostElement = 10;  // bytes of an element's name

// Elements that are written into Markdown; what else stands between < and > may be a type.
constexpr std::string_view kElements =
    " a abbr b blockquote body br center cite code col colgroup dd del details dfn div dl dt em"
    " figcaption figure font footer h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins"
    " kbd li link main mark meta nav ol p picture pre q s samp script section small source span"
    " strike strong style sub summary sup svg table tbody td tfoot th thead tr tt u ul var video"
    " wbr ";

constexpr std::array<std::pair<std::string_view, Mask::Sign>, 7> kEntities{{
    {"&amp;", Mask::kByte},
    {"&lt;", Mask::kLess},
    {"&gt;", Mask::kGreater},
    {"&quot;", Mask::kQuote},
    {"&#39;", Mask::kApostrophe},
    {"&apos;", Mask::kApostrophe},
    {"&nbsp;", Mask::kSpace},
}};

bool is_letter(char byte) { return is_lower(byte) || is_upper(byte); }
bool is_sign(char byte) {
  const auto point = static_cast<unsigned char>(byte);
  return point < 128 && is_punctuation(point);
}

// Where what a byte of a paragraph opens is closed: a run of backticks by the next one of its size,
// a bracket before an address by the one behind it. All is found in one pass from the end on.
class Closings {
 public:
  Closings(std::string_view text, TextSpan paragraph) : start_(paragraph.start) {
    const std::string_view words = words_of(text, paragraph);
    if (words.find('`') != kNowhere) find_ticks(words);
    if (words.find("](") != kNowhere) find_brackets(words);
  }

  // kNowhere for what is not closed.
  std::size_t of_ticks(std::size_t at) const { return start_ + ticks_[at - start_]; }
  std::size_t of_address(std::size_t at) const { return start_ + brackets_[at - start_]; }

 private:
  static constexpr std::size_t kMostTicks = 64;  // more in a row are words

  void find_ticks(std::string_view words) {
    const std::size_t nowhere = kNowhere - start_;
    ticks_.assign(words.size(), nowhere);
    std::array<std::size_t, kMostTicks> next;  // runs by their size
    next.fill(nowhere);
    for (std::size_t end = words.size(), at; end > 0; end = at) {
      at = end - 1;
      if (words[at] != '`') continue;
      while (at > 0 && words[at - 1] == '`') --at;
      if (end - at < kMostTicks) ticks_[at] = std::exchange(next[end - at], at);
    }
  }

  // An address has no space in it, unless a title follows it in quotes, or it stands in < and >.
  void find_brackets(std::string_view words) {
    const std::size_t nowhere = kNowhere - start_;
    brackets_.assign(words.size(), nowhere);
    std::vector<std::size_t> closing;
    std::size_t space = words.size();
    for (std::size_t at = words.size(); at-- > 0;) {
      if (is_space(words[at])) space = at;
      if (at > 0 && words[at - 1] == '\\') continue;
      if (words[at] == ')') closing.push_back(at);
      if (words[at] != '(' || closing.empty()) continue;
      const std::size_t close = closing.back();
      closing.pop_back();
      const char quote = words[close - 1];
      const std::size_t title = skip(words, space, is_space, 8);
      const bool has_title =
          title < close && words[title] == quote && (quote == '"' || quote == '\'');
      if (space > close || words[at + 1] == '<' || title >= close || has_title)
        brackets_[at] = close;
    }
  }

  std::size_t start_;
  std::vector<std::size_t> ticks_, brackets_;
};

class InlineMarks {
 public:
  InlineMarks(Mask& mask, TextSpan paragraph)
      : mask_(mask),
        text_(mask.text().substr(0, paragraph.end)),
        paragraph_(paragraph),
        closings_(text_, paragraph),
        emphasis_(mask) {}

  void hide() {
    for (std::size_t at = paragraph_.start; at < paragraph_.end;)
      at = mask_.is_gone(at) ? at + 1 : hide_at(at);
    emphasis_.hide_pairs();
  }

 private:
  // Hides what begins at a place; where the text goes on.
  std::size_t hide_at(std::size_t at) {
    switch (text_[at]) {
      case '\\':
        return hide_escape(at);
      case '`':
        return hide_code(at);
      case '<':
        return hide_tag(at);
      case '&':
        return hide_entity(at);
      case ']':
        return close_bracket(at);
      case '[':
        open_.push_back(at);
        return at + 1;
      case '*':
      case '_':
      case '~':
        return emphasis_.take(paragraph_, at);
      case 'h':
        return skip_address(at);
      case '$':
        return skip_math(at);
      default:
        return at + 1;
    }
  }

  // An address that is no link stays, with all its signs.
  std::size_t skip_address(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (!rest.starts_with("http://") && !rest.starts_with("https://")) return at + 1;
    return std::min(text_.find_first_of(" \t\r\n<>[]()`*\"", at), text_.size());
  }

  // "$x_1$" and "$$x_1$$" stay as they are; "$5 and $6" are amounts.
  std::size_t skip_math(std::size_t at) const {
    const std::size_t start = skip(text_, at, [](char byte) { return byte == '$'; }, 2);
    const std::size_t close = std::min(text_.find('$', start), text_.size());
    const std::size_t end = close + (start - at);
    if (start - at == 2) return has_at(text_, close + 1, '$') ? end : start;
    const bool is_math = close < text_.size() && close > start && !is_space(text_[start]) &&
                         !is_space(text_[close - 1]) &&
                         !(end < text_.size() && is_digit(text_[end]));
    return is_math ? end : start;
  }

  // Behind "\(x_1\)" and "\[x_1\]", which stay as they are; brackets that are no link are escaped
  // the same way, and hold no sign of mathematics.
  std::size_t end_of_math(std::size_t at) {
    const bool is_round = has_at(text_, at + 1, '(');
    if (!is_round && !has_at(text_, at + 1, '[')) return at;
    bool& may_end = has_math_end_[is_round ? 0 : 1];
    const std::size_t close = may_end ? text_.find(is_round ? "\\)" : "\\]", at + 2) : kNowhere;
    may_end = close != kNowhere;
    const bool is_math =
        may_end && text_.substr(at + 2, close - at - 2).find_first_of("\\^_={}") != kNowhere;
    return is_math ? close + 2 : at;
  }

  std::size_t hide_escape(std::size_t at) {
    if (const std::size_t end = end_of_math(at); end > at) return end;
    if (at + 1 == text_.size() || !(is_sign(text_[at + 1]) || text_[at + 1] == '\n')) return at + 1;
    mask_.drop(at, at + 1);
    return at + 2;
  }

  std::size_t hide_code(std::size_t at) {
    const std::size_t start = skip(text_, at, [](char byte) { return byte == '`'; });
    const std::size_t close = closings_.of_ticks(at);
    if (close == kNowhere) return start;
    const std::size_t end = close + (start - at);
    mask_.drop(at, start);
    mask_.drop(close, end);
    // A space on either side keeps backticks of the code apart from those around it.
    const bool is_padded = close - start > 2 && text_[start] == ' ' && text_[close - 1] == ' ';
    if (is_padded) {
      mask_.drop(start, start + 1);
      mask_.drop(close - 1, close);
    }
    mask_.mark_code(start, close);
    return end;
  }

  std::size_t hide_tag(std::size_t at) {
    if (text_.substr(at).starts_with("<!--")) {
      const std::size_t end = has_comment_end_ ? text_.find("-->", at) : kNowhere;
      has_comment_end_ = end != kNowhere;
      if (!has_comment_end_) return at + 4;
      mask_.drop(at, end + 3);
      return end + 3;
    }
    const std::size_t name = has_at(text_, at + 1, '/') ? at + 2 : at + 1;
    // A tag does not reach over another one.
    const std::size_t close = std::min(text_.find_first_of("<>", at + 1), text_.size());
    if (!has_at(text_, close, '>')) return at + 1;
    const std::string_view inside = text_.substr(at + 1, close - at - 1);
    if (is_element(at, name)) {
      mask_.drop(at, close + 1);
      return close + 1;
    }
    const bool is_address = inside.find_first_of(" \t\n") == kNowhere &&
                            (inside.find("://") != kNowhere || inside.find('@') != kNowhere);
    if (!is_address) return at + 1;
    mask_.drop(at, at + 1);
    mask_.drop(close, close + 1);
    return close + 1;
  }

  // As in Map<S> and Map<S, T>, types may be called as elements are.
  bool is_element(std::size_t open, std::size_t at) const {
    if (is_behind_word(open) && at < text_.size() && is_upper(text_[at])) return false;
    std::string name;
    while (at < text_.size() && name.size() <= kMostElement &&
           (is_letter(text_[at]) || is_digit(text_[at])))
      name += static_cast<char>(text_[at++] | 0x20);
    const bool is_whole =
        at < text_.size() && (is_space(text_[at]) || text_[at] == '/' || text_[at] == '>');
    return is_whole && is_among(name, kElements);
  }

  bool is_behind_word(std::size_t at) const {
    return at > paragraph_.start && (is_letter(text_[at - 1]) || is_digit(text_[at - 1]));
  }

  std::size_t hide_entity(std::size_t at) {
    for (const auto& [words, sign] : kEntities) {
      if (!text_.substr(at).starts_with(words)) continue;
      mask_.replace(at, sign);
      mask_.drop(at + 1, at + words.size());
      return at + words.size();
    }
    return at + 1;
  }

  // The end of a link, of a picture or of a footnote's mark; of anything else it stays.
  std::size_t close_bracket(std::size_t at) {
    if (open_.empty()) return at + 1;
    const std::size_t open = open_.back();
    open_.pop_back();
    std::size_t end = kNowhere;
    if (is_footnote(open, at)) {
      end = has_at(text_, at + 1, ':') ? at + 2 : at + 1;
      mask_.drop(open, at);
    } else if (has_at(text_, at + 1, '(')) {
      const std::size_t close = closings_.of_address(at + 1);
      if (close != kNowhere) end = close + 1;
    } else if (has_at(text_, at + 1, '[') && !is_subscript(open)) {
      const std::size_t close = text_.find_first_of("[]", at + 2);
      if (close != kNowhere && text_[close] == ']') end = close + 1;
    }
    if (end == kNowhere) return at + 1;
    const bool is_picture = open > paragraph_.start && text_[open - 1] == '!';
    mask_.drop(is_picture ? open - 1 : open, open + 1);
    mask_.drop(at, end);
    return end;
  }

  // "[^1]: ", or a mark behind words; [^0-9] and [^a-z]+ are classes of characters.
  bool is_footnote(std::size_t open, std::size_t close) const {
    if (!has_at(text_, open + 1, '^') || close - open > kMostLabel) return false;
    if (has_at(text_, close + 1, ':')) return true;
    const std::string_view label = text_.substr(open + 2, close - open - 2);
    const bool is_name = std::ranges::all_of(label, [](char byte) {
      return is_letter(byte) || is_digit(byte) || byte == '-' || byte == '_';
    });
    const bool is_range = label.find('-') == 1;
    const bool is_behind = open > paragraph_.start && !is_space(text_[open - 1]);
    const bool is_repeated =
        close + 1 < text_.size() && std::string_view("*+?{").find(text_[close + 1]) != kNowhere;
    return is_name && is_behind && !is_range && !is_repeated;
  }

  // As in a[i][j], which is no link.
  bool is_subscript(std::size_t open) const {
    return is_behind_word(open) ||
           (open > paragraph_.start && std::string_view("])_").find(text_[open - 1]) != kNowhere);
  }

  Mask& mask_;
  std::string_view text_;  // up to the end of the paragraph
  TextSpan paragraph_;
  Closings closings_;
  Emphasis emphasis_;
  std::vector<std::size_t> open_;                 // brackets
  bool has_comment_end_ = true;                   // somewhere behind
  std::array<bool, 2> has_math_end_{true, true};  // likewise: of round, of square brackets
};

}  // namespace

void hide_inline(Mask& mask, TextSpan paragraph) { InlineMarks(mask, paragraph).hide(); }

}  // namespace gossamer
