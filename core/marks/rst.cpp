// reStructuredText: adorned titles, directives with the code they hold, tables, and marks in lines.

#include <algorithm>

#include "chunking/scan.h"
#include "marks/blocks.h"
#include "marks/emphasis.h"
#include "marks/inline.h"
#include "marks/names.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kMostName = 40;  // bytes of a role or directive

// What stands under these is code.
constexpr std::string_view kCodeNames = " code code-block sourcecode doctest parsed-literal ";
// What stands behind these is to be read, with the name before it.
constexpr std::string_view kSaidNames =
    " note warning tip important caution danger attention hint error seealso deprecated "
    "versionadded"
    " versionchanged rubric admonition todo ";
// These say what is to be done, and nothing to a reader.
constexpr std::string_view kSilentNames =
    " image figure include literalinclude index toctree contents currentmodule module highlight "
    "only"
    " testsetup raw sectionauthor moduleauthor meta ";

bool is_of_name(char byte) {
  return is_lower(byte) || is_upper(byte) || is_digit(byte) ||
         std::string_view(":-_+.").find(byte) != kNowhere;
}

// Of one sign, three times or more; or of those that draw a table.
bool is_adornment(std::string_view words) {
  if (words.size() < 3) return false;
  const auto sign = static_cast<unsigned char>(words[0]);
  if (sign < 128 && is_punctuation(sign) && words.find_first_not_of(words[0]) == kNowhere)
    return true;
  return words.find_first_not_of("=-+| ") == kNowhere &&
         (words.find("==") != kNowhere || words.find("--") != kNowhere);
}

class RstMarks {
 public:
  explicit RstMarks(Mask& mask) : mask_(mask), text_(mask.text()), lines_(lines_of(text_)) {}

  void hide() {
    for (const TextSpan& line : lines_) {
      const std::size_t at = std::min(skip(text_, line.start, is_blank), line.end);
      const TextSpan words{at, line.end};
      const std::size_t indent = at - line.start;
      if (!words.empty() && indent <= code_indent_ && is_code_) is_code_ = false;
      if (words.empty() || is_code_) {
        end_paragraph();
        if (!words.empty()) mask_.mark_code(line.start, line.end);
        is_doctest_ = false;
      } else {
        hide_line({line.start, line.end}, words);
      }
    }
    end_paragraph();
  }

 private:
  void hide_line(TextSpan line, TextSpan words) {
    const std::string_view said = words_of(text_, words);
    if (is_doctest_ || said.starts_with(">>> ")) {
      end_paragraph();
      mask_.mark_code(line.start, line.end);
      is_doctest_ = true;
    } else if (is_adornment(said)) {
      if (is_paragraph_) mask_.begin_section(paragraph_.start);
      end_paragraph();
      mask_.drop(words.start, words.end);
    } else if (said.starts_with(".. ") || said == "..") {
      end_paragraph();
      hide_directive(line, words);
    } else if (said[0] == '|' && (said.size() == 1 || is_blank(said[1]) || said.ends_with(" |"))) {
      end_paragraph();
      for (const TextSpan& cell : hide_bars(mask_, words)) hide_rst_inline(mask_, cell);
    } else if (is_directive_ && said[0] == ':') {  // an option of it
      mask_.drop(words.start, words.end);
    } else {
      take_words(line, words);
    }
  }

  void take_words(TextSpan line, TextSpan words) {
    is_directive_ = false;
    const char mark = text_[words.start];
    const bool is_item = std::string_view("-*+").find(mark) != kNowhere &&
                         words.start + 1 < words.end && is_blank(text_[words.start + 1]);
    if (is_item) {
      end_paragraph();
      mask_.replace(words.start, Mask::kBullet);
    }
    // "::" says that what stands further in below is code.
    if (words_of(text_, words).ends_with("::")) {
      begin_code(line, words);
      mask_.drop(words.end - (words.end - words.start == 2 ? 2 : 1), words.end);
    }
    const std::size_t start = is_item ? words.start + 1 : words.start;
    paragraph_ = {is_paragraph_ ? paragraph_.start : start, words.end};
    is_paragraph_ = true;
  }

  // ".. name:: what it is about", a comment, or a target.
  void hide_directive(TextSpan line, TextSpan words) {
    const std::size_t start = std::min(skip(text_, words.start + 2, is_blank), words.end);
    const std::size_t end = skip(text_, start, is_of_name, kMostName);
    const std::string_view found = text_.substr(start, end - start);
    is_directive_ = found.ends_with("::");
    const std::string_view name = found.substr(0, found.find("::"));
    const std::size_t about = std::min(skip(text_, end, is_blank), words.end);
    if (has_at(text_, start, '[')) {  // a footnote
      mask_.drop(words.start, start);
      hide_rst_inline(mask_, {start, words.end});
    } else if (!is_directive_ || about == words.end || is_among(name, kCodeNames) ||
               is_among(name, kSilentNames)) {
      mask_.drop(words.start, words.end);
    } else if (is_among(name, kSaidNames)) {
      mask_.drop(words.start, start);
      mask_.drop(end - 1, end);
      paragraph_ = {about, words.end};
      is_paragraph_ = true;
    } else {  // what is described: a function, an option
      mask_.begin_section(words.start);
      mask_.drop(words.start, about);
      mask_.mark_code(about, words.end);
    }
    if (is_directive_ && is_among(name, kCodeNames)) begin_code(line, words);
  }

  void begin_code(TextSpan line, TextSpan words) {
    is_code_ = true;
    code_indent_ = words.start - line.start;
  }

  void end_paragraph() {
    if (is_paragraph_) hide_rst_inline(mask_, paragraph_);
    is_paragraph_ = false;
  }

  Mask& mask_;
  std::string_view text_;
  std::vector<TextSpan> lines_;
  TextSpan paragraph_{0, 0};
  bool is_paragraph_ = false;  // one is open
  bool is_directive_ = false;  // lines of options may follow
  bool is_doctest_ = false;
  bool is_code_ = false;         // lines are code that stand further in
  std::size_t code_indent_ = 0;  // than this
};

class RstInline {
 public:
  RstInline(Mask& mask, TextSpan paragraph)
      : mask_(mask),
        text_(mask.text().substr(0, paragraph.end)),
        paragraph_(paragraph),
        emphasis_(mask) {}

  void hide() {
    for (std::size_t at = paragraph_.start; at < paragraph_.end;)
      at = mask_.is_gone(at) ? at + 1 : hide_at(at);
    emphasis_.hide_pairs();
  }

 private:
  std::size_t hide_at(std::size_t at) {
    switch (text_[at]) {
      case '`':
        return hide_ticks(at, at, false);
      case ':':
        return hide_role(at);
      case '*':
        return emphasis_.take(paragraph_, at);
      case '\\': {
        if (at + 1 == text_.size()) return at + 1;
        mask_.drop(at, has_at(text_, at + 1, ' ') ? at + 2 : at + 1);
        return at + 2;
      }
      default:
        return at + 1;
    }
  }

  // ":name:`words`".
  std::size_t hide_role(std::size_t at) {
    if (at > paragraph_.start && is_of_name(text_[at - 1])) return at + 1;
    const std::size_t end = skip(text_, at + 1, is_of_name, kMostName);
    const bool is_role = end > at + 2 && text_[end - 1] == ':' && has_at(text_, end, '`');
    return is_role ? hide_ticks(at, end, true) : at + 1;
  }

  // "``code``", "`words`", "`words <address>`_"; what stands from `at` on goes with the ticks.
  std::size_t hide_ticks(std::size_t at, std::size_t tick, bool is_role) {
    const bool is_code = has_at(text_, tick + 1, '`');
    const std::string_view ticks = is_code ? "``" : "`";
    std::size_t start = tick + ticks.size();
    bool& is_closed = is_code ? has_double_ : has_single_;
    const std::size_t close = is_closed ? text_.find(ticks, start) : kNowhere;
    is_closed = close != kNowhere;
    if (!is_closed || close == start) return start;
    std::size_t end = close + ticks.size(), shown = close;
    if (!is_code) {
      if (is_role && (text_[start] == '~' || text_[start] == '!')) ++start;
      end = skip(text_, end, [](char byte) { return byte == '_'; }, 2);
      const std::string_view words = text_.substr(start, close - start);
      const std::size_t address = words.ends_with('>') ? words.rfind('<') : kNowhere;
      if (address != kNowhere && address > 0)
        shown = start + without_space_at_end(words.substr(0, address)).size();
    }
    mask_.drop(at, start);
    mask_.drop(shown, end);
    if (is_code || is_role) mask_.mark_code(start, shown);
    return end;
  }

  Mask& mask_;
  std::string_view text_;  // up to the end of the paragraph
  TextSpan paragraph_;
  Emphasis emphasis_;
  bool has_double_ = true, has_single_ = true;  // ticks that close what is open
};

}  // namespace

void hide_rst(Mask& mask) { RstMarks(mask).hide(); }
void hide_rst_inline(Mask& mask, TextSpan paragraph) { RstInline(mask, paragraph).hide(); }

}  // namespace gossamer
