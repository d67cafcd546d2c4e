#include "marks/blocks.h"

#include <algorithm>

#include "chunking/scan.h"
#include "marks/fences.h"
#include "marks/inline.h"

namespace gossamer {
namespace {

constexpr std::size_t kCodeIndent = 4;

class BlockMarks {
 public:
  BlockMarks(Mask& mask, bool is_markdown)
      : mask_(mask), text_(mask.text()), is_markdown_(is_markdown), lines_(lines_of(text_)) {}

  void hide() {
    const std::vector<Side> sides = find_sides(text_, lines_);
    for (number_ = 0; number_ < lines_.size(); ++number_) {
      const TextSpan line = lines_[number_];
      if (sides[number_] == Side::kText) {
        hide_line(line);
        continue;
      }
      end_paragraph();
      if (sides[number_] == Side::kFence) mask_.drop(line.start, line.end);
      if (sides[number_] == Side::kCode) mask_.mark_code(line.start, line.end);
      is_after_blank_ = false;
    }
    end_paragraph();
  }

 private:
  void hide_line(TextSpan line) {
    const std::size_t start = is_markdown_ ? hide_quotes(line) : line.start;
    const std::size_t at = std::min(skip(text_, start, is_blank), line.end);
    const TextSpan words{at, line.end};
    if (words.empty() || is_indented_code(start, words)) {
      end_paragraph();
      if (!words.empty() && !is_markdown_) mask_.drop(start, words.start);
      mask_.mark_code(words.empty() ? line.end : start, line.end);
      is_after_blank_ = words.empty();
      is_in_table_ = false;
      is_code_ = !words.empty() || is_code_;
      return;
    }
    is_code_ = false;
    hide_words(words, at - start);
    is_after_blank_ = false;
  }

  // `indent`: how far in the words stand.
  void hide_words(TextSpan words, std::size_t indent) {
    if ((is_in_table_ = is_row(number_))) {
      end_paragraph();
      hide_row(words);
    } else if (is_markdown_ && (is_ruler(words) || is_definition(words))) {
      if (is_paragraph_) mask_.begin_section(paragraph_.start);
      end_paragraph();
      mask_.drop(words.start, words.end);
    } else if (!hide_heading(words)) {
      const std::size_t item = hide_bullet(words);
      if (item > words.start) end_paragraph();
      if (item > words.start || indent == 0) is_in_list_ = item > words.start;
      hide_escape(words);
      paragraph_ = {is_paragraph_ ? paragraph_.start : item, words.end};
      is_paragraph_ = true;
    }
  }

  void end_paragraph() {
    if (is_paragraph_ && is_markdown_) hide_inline(mask_, paragraph_);
    is_paragraph_ = false;
  }

  // "> > words": where the words begin, or the space before them.
  std::size_t hide_quotes(TextSpan line) {
    for (std::size_t start = line.start;;) {
      const std::size_t at = skip(text_, start, is_blank);
      if (at >= line.end || text_[at] != '>') return start;
      const std::size_t next = has_at(text_, at + 1, ' ') ? at + 2 : at + 1;
      mask_.drop(start, next);
      start = next;
    }
  }

  // After an empty line, or more of it; not what goes on with an item. Readers write one line so.
  bool is_indented_code(std::size_t start, TextSpan words) const {
    if (!is_markdown_)
      return words.start - start == kCodeIndent && stands_alone() &&
             !words_of(text_, words).starts_with("- ");
    if (is_in_list_ || number_ == 0 || !(is_after_blank_ || is_code_)) return false;
    return words.start - start >= kCodeIndent || text_[start] == '\t';
  }

  // Whether there is an empty line, or none, before the line and after it.
  bool stands_alone() const {
    const auto is_empty = [this](std::size_t number) {
      return number >= lines_.size() || words_of(text_, lines_[number]).empty();
    };
    return (number_ == 0 || is_empty(number_ - 1)) && is_empty(number_ + 1);
  }

  // "## Words ##".
  bool hide_heading(TextSpan words) {
    const std::size_t after = skip(text_, words.start, [](char byte) { return byte == '#'; }, 7);
    const std::size_t level = after - words.start;
    if (level == 0 || level > 6 || (after < words.end && !is_blank(text_[after]))) return false;
    end_paragraph();
    mask_.begin_section(words.start);
    const std::size_t start = std::min(skip(text_, after, is_blank), words.end);
    mask_.drop(words.start, start);
    if (!is_markdown_) return true;
    std::size_t end = words.end;
    while (end > start && text_[end - 1] == '#') --end;
    if (end < words.end && end > start && is_blank(text_[end - 1])) {
      while (end > start && is_blank(text_[end - 1])) --end;
      mask_.drop(end, words.end);
    }
    hide_inline(mask_, {start, words.end});
    is_in_list_ = false;
    return true;
  }

  // Where the words of an item begin; where its line does if it is none.
  std::size_t hide_bullet(TextSpan words) {
    const std::size_t at = words.start;
    if (std::string_view(is_markdown_ ? "-*+" : "-").find(text_[at]) == std::string_view::npos) {
      const std::size_t number = end_of_item_number(text_, at);
      return number < words.end && is_blank(text_[number]) ? number : at;
    }
    if (at + 1 >= words.end || !is_blank(text_[at + 1])) return at;
    mask_.replace(at, Mask::kBullet);
    return at + 1;
  }

  // What would be taken for a mark has a backslash before it where readers write it.
  void hide_escape(TextSpan words) {
    const std::string_view rest = words_of(text_, words);
    for (const char* mark : {"\\#", "\\```", "\\~~~"})
      if (!is_markdown_ && rest.starts_with(mark)) mask_.drop(words.start, words.start + 1);
  }

  // The line under a title, or one across the page.
  bool is_ruler(TextSpan words) const {
    std::size_t marks = 0;
    for (const char byte : words_of(text_, words)) {
      if (is_space(byte)) continue;
      if (byte != text_[words.start]) return false;
      ++marks;
    }
    const char mark = text_[words.start];
    if (mark == '=') return marks >= 2 && is_paragraph_;
    return (mark == '-' && marks >= 2) || (marks >= 3 && (mark == '*' || mark == '_'));
  }

  // "[name]: address", which is nothing to read; a footnote is.
  bool is_definition(TextSpan words) const {
    const std::string_view rest = words_of(text_, words);
    if (is_paragraph_ || !rest.starts_with('[') || rest.starts_with("[^")) return false;
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos || !has_at(rest, close + 1, ':')) return false;
    const std::size_t address = skip(rest, close + 2, is_blank);
    const std::size_t title =
        skip(rest, std::min(rest.find_first_of(" \t", address), rest.size()), is_blank);
    return title == rest.size() || rest[title] == '"' || rest[title] == '\'';
  }

  // Between the head of a table and its rows.
  bool is_delimiter(std::size_t number) const {
    const std::string_view words = words_of(text_, lines_[number]);
    return words.find_first_not_of("|-: \t\r") == std::string_view::npos &&
           words.find('-') != std::string_view::npos && words.find('|') != std::string_view::npos;
  }

  bool has_bars(std::size_t number) const {
    if (number >= lines_.size()) return false;
    const std::string_view words = words_of(text_, lines_[number]);
    return words.find(" | ") != std::string_view::npos || is_delimiter(number);
  }

  // A bar by itself may part types, commands, or what stands beside an amount: rows begin with one
  // and have more, or belong to a table; those of readers have no delimiter, but company.
  bool is_row(std::size_t number) const {
    const TextSpan line = lines_[number];
    const std::size_t start =
        skip(text_, line.start, [](char byte) { return is_blank(byte) || byte == '>'; });
    if (!has_bars(number) && !has_at(text_, start, '|')) return false;
    if (start + 1 < line.end && text_[start] == '|')
      return text_[line.end - 1] == '|' || has_bars(number);
    if (is_markdown_)
      return is_in_table_ || is_delimiter(number) ||
             (number + 1 < lines_.size() && is_delimiter(number + 1));
    return has_bars(number - 1) || has_bars(number + 1);
  }

  void hide_row(TextSpan words) {
    if (is_delimiter(number_)) {
      mask_.drop(words.start, words.end);
      return;
    }
    for (const TextSpan& cell : hide_bars(mask_, words))
      if (is_markdown_) hide_inline(mask_, cell);
  }

  Mask& mask_;
  std::string_view text_;
  bool is_markdown_;
  std::vector<TextSpan> lines_;
  std::size_t number_ = 0;  // of the line that is read
  TextSpan paragraph_{0, 0};
  bool is_paragraph_ = false;  // one is open
  bool is_after_blank_ = false;
  bool is_code_ = false;  // the last line that is not empty was indented code
  bool is_in_list_ = false;
  bool is_in_table_ = false;
};

}  // namespace

std::vector<TextSpan> lines_of(std::string_view text) {
  std::vector<TextSpan> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_line(text, at);
    const std::size_t size = without_space_at_end(text.substr(at, end - at)).size();
    lines.push_back({at, at + size});
    at = end + 1;
  }
  return lines;
}

std::vector<TextSpan> hide_bars(Mask& mask, TextSpan row) {
  const std::string_view text = mask.text();
  std::vector<TextSpan> cells;
  std::size_t bar = row.start;  // behind the last cell that is not empty
  for (std::size_t at = row.start; at < row.end;) {
    std::size_t end = at;
    while (end < row.end && text[end] != '|') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, row.end);
    const std::size_t start = std::min(skip(text, at, is_blank), end);
    const std::size_t size = without_space_at_end(text.substr(start, end - start)).size();
    if (size > 0) {
      mask.drop(bar, start);
      if (!cells.empty()) mask.replace(bar, Mask::kBar);
      cells.push_back({start, start + size});
      bar = start + size;
    }
    at = end + 1;
  }
  mask.drop(bar, row.end);
  return cells;
}

void hide_blocks(Mask& mask, bool is_markdown) { BlockMarks(mask, is_markdown).hide(); }

}  // namespace gossamer
