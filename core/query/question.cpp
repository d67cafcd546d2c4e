#include "query/question.h"

#include <algorithm>
#include <array>

#include "lexical/words.h"
#include "text/json_writer.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::array<std::string_view, 3> kFields{"path:", "type:", "title:"};
constexpr std::size_t kLongestPhrase = 400;  // bytes
// Shorter ones are options of a command, most often: tar -x.
constexpr std::size_t kShortestExcluded = 2;

struct Quotes {
  std::string_view open, close;
};
constexpr std::array<Quotes, 2> kQuotes{{{"\"", "\""}, {"“", "”"}}};

bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  visit_terms(text, Side::kQuestion, [&](const Term& term) { words += term.kind != Term::kPart; });
  return words;
}

// What stands between spaces or quotes, with the sign and the field before it.
struct Piece {
  std::string_view written;  // all of it
  char sign = 0;             // + or -
  std::string_view field;
  std::string_view value;
  bool is_quoted = false;
};

// A phrase, if one begins here and is closed before it is a text; else what stands up to the next
// space.
void read_value(std::string_view rest, Piece& piece, std::size_t& length) {
  for (const auto& [open, close] : kQuotes) {
    if (!rest.starts_with(open)) continue;
    const std::size_t end = rest.substr(0, kLongestPhrase).find(close, open.size());
    if (end == rest.npos) continue;
    piece.value = rest.substr(open.size(), end - open.size());
    piece.is_quoted = true;
    length += end + close.size();
    return;
  }
  const auto end = std::find_if(rest.begin(), rest.end(), is_space);
  piece.value = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  length += piece.value.size();
}

Piece read_piece(std::string_view rest) {
  Piece piece;
  std::size_t length = 0;
  if (rest[0] == '+' || rest[0] == '-') piece.sign = rest[length++];
  for (const std::string_view field : kFields)
    if (rest.substr(length).starts_with(field)) piece.field = field;
  length += piece.field.size();
  read_value(rest.substr(length), piece, length);
  piece.written = rest.substr(0, length);
  return piece;
}

bool begins_with_letter(std::string_view text) {
  std::size_t at = 0;
  const char32_t point = text.empty() ? U' ' : next_point(text, at);
  return point == U'_' || (is_word(point) && digit_of(point) < 0);
}

std::string file_filter(std::string_view field, std::string_view value) {
  JsonWriter json;
  const bool is_path = field == kFields[0];
  const bool is_pattern = value.find_first_of("*?[") != value.npos;
  json.begin_object().key(is_path ? "paths" : "types").begin_array();
  json.text(is_path && !is_pattern ? '*' + std::string(value) + '*' : std::string(value));
  json.end_array();
  if (is_path) json.key("ignores_case").boolean(true);
  return json.end_object().take();
}

class Reader {
 public:
  explicit Reader(std::string_view written) : written_(written) {}

  Question run() {
    for (std::size_t at = 0; at < written_.size();) {
      if (is_space(written_[at])) {
        ++at;
        continue;
      }
      const Piece piece = read_piece(written_.substr(at));
      take(piece);
      at += piece.written.size();
    }
    if (is_prose())
      for (auto quote = quotes_.rbegin(); quote != quotes_.rend(); ++quote)
        question_.requirements.erase(question_.requirements.begin() + *quote);
    const bool is_plain = question_.requirements.empty() && question_.files.empty();
    // Nothing could be searched for.
    if (is_plain || count_words(question_.text) == 0) return {std::string(written_), {}, {}};
    return std::move(question_);
  }

 private:
  void take(const Piece& piece) {
    const std::size_t taken = question_.requirements.size() + question_.files.size();
    if (taken >= Question::kMostRequirements || !(take_field(piece) || take_required(piece)))
      add_text(piece.written);
  }

  bool take_field(const Piece& piece) {
    if (piece.field.empty() || count_words(piece.value) == 0) return false;
    const bool is_excluded = piece.sign == '-';
    if (piece.field == kFields[2])
      question_.requirements.push_back(
          {Requirement::kTitle, std::string(piece.value), is_excluded});
    else
      question_.files.push_back({file_filter(piece.field, piece.value), is_excluded});
    return true;
  }

  bool take_required(const Piece& piece) {
    if (!piece.is_quoted && (piece.sign == 0 || !begins_with_letter(piece.value))) return false;
    const std::size_t words = count_words(piece.value);
    const bool is_excluded = piece.sign == '-';
    if (words == 0 || (is_excluded && piece.value.size() < kShortestExcluded)) return false;
    const bool is_word = !piece.is_quoted && words == 1;
    question_.requirements.push_back({is_word ? Requirement::kWord : Requirement::kPhrase,
                                      std::string(piece.value), is_excluded});
    if (is_excluded) return true;
    if (piece.sign == 0) {
      quotes_.push_back(static_cast<std::ptrdiff_t>(question_.requirements.size()) - 1);
      quoted_words_ += words;
    }
    add_text(piece.sign == 0 ? piece.written : piece.value);
    return true;
  }

  void add_text(std::string_view text) {
    if (!question_.text.empty()) question_.text += ' ';
    question_.text += text;
  }

  bool is_prose() const {
    return written_.find_last_not_of(" \t\r\n\"") == written_.rfind('?') ||
           count_words(question_.text) - quoted_words_ > Question::kProseWords;
  }

  std::string_view written_;
  Question question_;
  std::vector<std::ptrdiff_t> quotes_;  // requirements that are quotes without a sign
  std::size_t quoted_words_ = 0;
};

}  // namespace

Question read_question(std::string_view written) { return Reader(written).run(); }

}  // namespace gossamer
