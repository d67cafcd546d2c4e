#include "lexical/words.h"

#include <string>
#include <vector>

#include "lexical/stem.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_no_spaces(std::uint8_t properties) { return (properties & (kCjk | kUnspaced)) != 0; }

class Visitor {
 public:
  Visitor(std::string_view text, Side side, const std::function<void(const Term&)>& visit)
      : text_(text), side_(side), visit_(visit) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t next = at;
      const char32_t point = next_point(text_, next);
      const std::uint8_t properties = properties_of(point);
      if (has_no_spaces(properties)) {
        at = visit_characters(at);
      } else if (point == U'_' || (properties & kWord) != 0) {
        at = visit_word(at);
      } else {
        at = next;
      }
    }
  }

 private:
  struct Part {
    std::size_t folded;  // where it begins in folded_
    std::size_t begin;
    std::size_t end;
  };

  // Each gives where the run that begins at `at` ends.
  std::size_t visit_characters(std::size_t at) {
    const std::size_t first = at;
    std::size_t before = at;  // the character before this one
    while (at < text_.size()) {
      std::size_t next = at;
      if (!has_no_spaces(properties_of(next_point(text_, next)))) break;
      if (at > first) emit_raw(before, next);
      if (side_ == Side::kText) emit_raw(at, next);
      before = at;
      at = next;
    }
    // A question of one character asks for that character.
    if (side_ == Side::kQuestion && before == first) emit_raw(first, at);
    return at;
  }

  std::size_t visit_word(std::size_t at) {
    const std::size_t first = at;
    folded_.clear();
    parts_.clear();
    bool begins_part = true;
    while (at < text_.size()) {
      std::size_t next = at;
      const char32_t point = next_point(text_, next);
      const std::uint8_t properties = properties_of(point);
      const bool is_word_like = (properties & kWord) != 0 && !has_no_spaces(properties);
      if (point != U'_' && !is_word_like) break;
      if (next - first <= kLongestWord) {
        if (point == U'_' || is_seam(first, at)) begins_part = true;
        if (point != U'_') take(point, at, next, begins_part);
      }
      at = next;
    }
    if (at - first > kLongestWord || folded_.empty()) return at;
    emit_word(folded_, first, at, Term::kWord);
    for (std::size_t i = 0; parts_.size() > 1 && i < parts_.size(); ++i) {
      const std::size_t end = i + 1 < parts_.size() ? parts_[i + 1].folded : folded_.size();
      emit_word(std::string_view(folded_).substr(parts_[i].folded, end - parts_[i].folded),
                parts_[i].begin, parts_[i].end, Term::kPart);
    }
    return at;
  }

  void take(char32_t point, std::size_t begin, std::size_t end, bool& begins_part) {
    const Folded folded = fold(point);
    if (folded.size == 0) {  // an accent belongs to the letter before it
      if (!parts_.empty() && !begins_part) parts_.back().end = end;
      return;
    }
    if (begins_part) parts_.push_back({folded_.size(), begin, end});
    begins_part = false;
    for (const char32_t letter : folded) append_utf8(folded_, letter);
    parts_.back().end = end;
  }

  // The U of getUser, the S of HTTPServer, the 2 and the H of sha256Hash.
  bool is_seam(std::size_t first, std::size_t at) const {
    if (at == first) return false;
    const char before = text_[at - 1];
    if (is_digit(before) != is_digit(text_[at])) return true;
    if (!is_upper(text_[at])) return false;
    return is_lower(before) ||
           (is_upper(before) && at + 1 < text_.size() && is_lower(text_[at + 1]));
  }

  void emit_word(std::string_view word, std::size_t begin, std::size_t end, Term::Kind kind) {
    form_.assign(word);
    stem(form_);
    visit_({form_, word, begin, end, kind});
  }
  void emit_raw(std::size_t begin, std::size_t end) {
    const std::string_view form = text_.substr(begin, end - begin);
    visit_({form, form, begin, end, Term::kCharacters});
  }

  std::string_view text_;
  Side side_;
  const std::function<void(const Term&)>& visit_;
  std::string folded_;
  std::string form_;
  std::vector<Part> parts_;
};

}  // namespace

void visit_terms(std::string_view text, Side side, const std::function<void(const Term&)>& visit) {
  Visitor(text, side, visit).run();
}

std::string fold_words(std::string_view text) {
  std::string folded = " ";
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    if (point != U'_' && !is_word(point)) {
      if (folded.back() != ' ') folded += ' ';
      continue;
    }
    for (const char32_t letter : fold(point)) append_utf8(folded, letter);
  }
  if (folded.back() != ' ') folded += ' ';
  return folded;
}

std::string fold_phrase(std::string_view phrase) {
  std::string folded = fold_words(phrase);
  char32_t first = 0, last = 0;
  for (std::size_t at = 0; at < phrase.size();) {
    const char32_t point = next_point(phrase, at);
    if (!is_word(point)) continue;
    if (first == 0) first = point;
    last = point;
  }
  if (has_no_spaces(properties_of(last))) folded.pop_back();
  if (has_no_spaces(properties_of(first))) folded.erase(0, 1);
  return folded;
}

}  // namespace gossamer
