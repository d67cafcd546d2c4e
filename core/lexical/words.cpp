#include "lexical/words.h"

#include <string>
#include <vector>

#include "lexical/stem.h"
#include "text/word_fold.h"

namespace gossamer {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_no_spaces(std::uint8_t properties) { return (properties & (kCjk | kUnspaced)) != 0; }

class Visitor {
 public:
  Visitor(std::string_view text, Side side, FunctionRef<void(const Term&)> visit)
      : text_(text), side_(side), visit_(visit) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t next = at;
      const char32_t point = next_point(text_, next);
      const std::uint8_t properties = properties_in_word(point);
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
  // Of a script without spaces, with the marks on it.
  struct Character {
    std::size_t begin;
    std::size_t end;
    char32_t point;
    bool is_plain;  // as it stands in the text
  };

  // Each gives where the run that begins at `at` ends.
  std::size_t visit_characters(std::size_t at) {
    Character before{}, last{};
    std::size_t count = 0;
    for (std::size_t next = at; at < text_.size(); at = next) {
      const char32_t point = next_point(text_, next);
      if (count > 0 && extend(last, point, next)) continue;
      if (!has_no_spaces(properties_of(point))) break;
      if (count > 0) emit_character(count > 1 ? &before : nullptr, last);
      before = last;
      const char32_t form = is_old() ? point : usual_form(point);
      last = {at, next, form, form == point};
      ++count;
    }
    emit_character(count > 1 ? &before : nullptr, last);
    // A question of one character asks for that character.
    if (side_ != Side::kText && count == 1) emit_characters(last, last);
    return at;
  }

  // Whether a character only belongs to the one before it.
  bool extend(Character& last, char32_t point, std::size_t end) const {
    if (is_old()) return false;
    if (const char32_t whole = compose(last.point, point)) {
      last = {last.begin, end, whole, false};
      return true;
    }
    if (!is_silent(point)) return false;
    last.is_plain = false;
    return true;
  }

  std::size_t visit_word(std::size_t at) {
    const std::size_t first = at;
    std::size_t end = at;
    folded_.clear();
    parts_.clear();
    bool begins_part = true;
    for (std::size_t next = at; at < text_.size(); at = next) {
      const char32_t point = next_point(text_, next);
      const std::uint8_t properties = properties_in_word(point);
      const bool is_word_like = (properties & kWord) != 0 && !has_no_spaces(properties);
      if (point != U'_' && !is_word_like) {
        if (!is_silent(point) || is_old()) break;
        continue;
      }
      if (next - first <= kLongestWord) {
        if (point == U'_')
          begins_part = true;
        else
          take(point, at, next, begins_part);
      }
      end = next;
    }
    if (end - first > kLongestWord || folded_.empty()) return at;
    emit_word(folded_, first, end, Term::kWord);
    for (std::size_t i = 0; parts_.size() > 1 && i < parts_.size(); ++i) {
      const std::size_t stop = i + 1 < parts_.size() ? parts_[i + 1].folded : folded_.size();
      emit_word(std::string_view(folded_).substr(parts_[i].folded, stop - parts_[i].folded),
                parts_[i].begin, parts_[i].end, Term::kPart);
    }
    return at;
  }

  void take(char32_t point, std::size_t begin, std::size_t end, bool& begins_part) {
    const std::size_t size = folded_.size();
    if (point < 128)
      folded_.push_back(static_cast<char>(small_letter(point)));
    else
      append_beyond_ascii(point);
    if (folded_.size() == size) {  // an accent belongs to the letter before it
      if (!parts_.empty() && !begins_part) parts_.back().end = end;
      return;
    }
    if (begins_part || is_seam(begin, size)) parts_.push_back({size, begin, end});
    begins_part = false;
    parts_.back().end = end;
  }

  void append_beyond_ascii(char32_t point) {
    if (!is_old()) return append_word_fold(folded_, point);
    for (const char32_t letter : fold(point)) append_utf8(folded_, letter);
  }

  // The U of getUser, the S of HTTPServer, the 2 and the H of sha256Hash. Digits of other forms are
  // not of the number beside them: the power of 10⁵, the note of 2019¹.
  bool is_seam(std::size_t at, std::size_t folded) const {
    if (folded == 0) return false;
    const char before = text_[at - 1];
    if (is_digit(before) != is_digit(text_[at])) return true;
    if (is_digit(folded_[folded - 1]) != is_digit(folded_[folded])) return true;
    if (!is_upper(text_[at])) return false;
    return is_lower(before) ||
           (is_upper(before) && at + 1 < text_.size() && is_lower(text_[at + 1]));
  }

  bool is_old() const { return side_ == Side::kOldQuestion; }

  void emit_word(std::string_view word, std::size_t begin, std::size_t end, Term::Kind kind) {
    form_.assign(word);
    stem(form_);
    visit_({form_, word, begin, end, kind});
  }
  void emit_character(const Character* before, const Character& character) {
    if (before != nullptr) emit_characters(*before, character);
    if (side_ == Side::kText) emit_characters(character, character);
  }
  // One character, or two that stand side by side.
  void emit_characters(const Character& first, const Character& last) {
    std::string_view form = text_.substr(first.begin, last.end - first.begin);
    if (!first.is_plain || !last.is_plain) {
      form_.clear();
      append_utf8(form_, first.point);
      if (first.begin != last.begin) append_utf8(form_, last.point);
      form = form_;
    }
    visit_({form, form, first.begin, last.end, Term::kCharacters});
  }

  std::string_view text_;
  Side side_;
  FunctionRef<void(const Term&)> visit_;
  std::string folded_;
  std::string form_;
  std::vector<Part> parts_;
};

}  // namespace

void visit_terms(std::string_view text, Side side, FunctionRef<void(const Term&)> visit) {
  Visitor(text, side, visit).run();
}

namespace {

// Writes words one after the other, with a space between them.
class WordWriter {
 public:
  std::string run(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const char32_t point = next_point(text, at);
      const std::uint8_t properties = properties_in_word(point);
      if (has_no_spaces(properties))
        add_character(point);
      else if (point == U'_' || (properties & kWord) != 0)
        add_letter(point);
      else if (!is_silent(point))
        end_word();
    }
    end_word();
    return std::move(folded_);
  }

 private:
  // Scripts without spaces stand apart from words, and marks belong to the character before.
  void add_character(char32_t point) {
    if (before_ == 0) end_word();
    if (const char32_t whole = before_ == 0 ? 0 : compose(before_, point)) {
      folded_.resize(at_);
      point = whole;
    }
    at_ = folded_.size();
    before_ = usual_form(point);
    append_word_fold(folded_, before_);
  }
  void add_letter(char32_t point) {
    if (before_ != 0) end_word();
    if (point == U'_' && folded_.back() == ' ') return;  // a mark of emphasis, or a private name
    if (point < 128)
      folded_ += static_cast<char>(small_letter(point));
    else
      append_word_fold(folded_, point);
  }
  void end_word() {
    before_ = 0;
    while (folded_.back() == '_') folded_.pop_back();
    if (folded_.back() != ' ') folded_ += ' ';
  }

  std::string folded_ = " ";
  char32_t before_ = 0;  // of a script without spaces; 0 where another one stands
  std::size_t at_ = 0;   // where that begins
};

}  // namespace

std::string fold_words(std::string_view text) { return WordWriter().run(text); }

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
