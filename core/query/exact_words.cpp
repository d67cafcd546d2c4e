#include "query/exact_words.h"

#include <algorithm>
#include <array>

#include "lexical/query.h"
#include "lexical/words.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// Chosen on the lookups of benchmarks/questions (docs/decisions/0025).
constexpr double kNameWeight = 4, kPhraseWeight = 3;
constexpr double kUse = 0.4, kTitle = 0.5, kHeading = 0.7, kEntry = 0.8, kDefinition = 1;
constexpr double kOtherCase = 0.6;
// A longer question is no phrase, and a word behind a keyword no name.
constexpr std::size_t kLongestPhrase = 12, kLongestLookup = 3;
// How much of a line is looked at before a name, and behind it.
constexpr std::size_t kLinePart = 120;

// Sorted: what stands before a name where it is defined, in one language or another; and what may
// stand before that, or before a name that is given a value.
constexpr std::array<std::string_view, 26> kDefiningWords = {
    "attribute",    "class",     "classmethod", "def",       "define",    "enum",     "exception",
    "fn",           "func",      "function",    "impl",      "interface", "macro",    "method",
    "module",       "namespace", "package",     "procedure", "property",  "protocol", "record",
    "staticmethod", "struct",    "trait",       "type",      "typedef"};
constexpr std::array<std::string_view, 14> kModifyingWords = {
    "abstract", "async",  "const", "constant", "constexpr", "data",   "export",
    "final",    "inline", "let",   "private",  "public",    "static", "var"};

char lowered(char byte) { return static_cast<char>(small_letter(static_cast<std::uint8_t>(byte))); }
bool is_word_byte(char byte) {
  const char small = lowered(byte);
  return (small >= 'a' && small <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         (byte & 0x80) != 0;
}

enum class Keyword { kNone, kModifying, kDefining };
Keyword keyword_of(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(), lowered);
  if (std::binary_search(kDefiningWords.begin(), kDefiningWords.end(), small))
    return Keyword::kDefining;
  const bool is_modifying =
      std::binary_search(kModifyingWords.begin(), kModifyingWords.end(), small);
  return is_modifying ? Keyword::kModifying : Keyword::kNone;
}
bool is_keyword(std::string_view word) { return keyword_of(word) != Keyword::kNone; }

// Whether a word is written as only names are: take_delta, sha256, getUser, ENOTEMPTY.
bool looks_like_name(std::string_view word) {
  bool has_digit = false, has_lower = false, has_upper = false, has_seam = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char byte = word[i];
    if (byte == '_') return true;
    const bool is_upper = byte >= 'A' && byte <= 'Z';
    if (is_upper && i > 0 && word[i - 1] >= 'a' && word[i - 1] <= 'z') has_seam = true;
    has_upper = has_upper || is_upper;
    has_lower = has_lower || (byte >= 'a' && byte <= 'z');
    has_digit = has_digit || (byte >= '0' && byte <= '9');
  }
  return has_seam || (has_digit && (has_upper || has_lower)) ||
         (has_upper && !has_lower && word.size() >= 3);
}

std::string_view trim(std::string_view text, std::string_view what) {
  const std::size_t first = text.find_first_not_of(what);
  return first == text.npos ? std::string_view() : text.substr(first);
}

// Whether all words before a name on its line are keywords, and what the last of them is.
struct Keywords {
  bool are_all = true;
  Keyword last = Keyword::kNone;
};
Keywords find_keywords(std::string_view before) {
  Keywords found;
  std::size_t at = 0;
  while (at < before.size()) {
    if (!is_word_byte(before[at])) {
      found.are_all = found.are_all && (before[at] == ' ' || before[at] == '\t');
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < before.size() && is_word_byte(before[at])) ++at;
    found.last = keyword_of(before.substr(begin, at - begin));
    found.are_all = found.are_all && found.last != Keyword::kNone;
  }
  return found;
}

// Whether what follows a name at the beginning of a line says what it is: a value, an explanation.
bool introduces(std::string_view after) {
  if (after.empty() || after[0] == ':' || (after[0] == '=' && !after.starts_with("==")))
    return true;
  for (const std::string_view sign : {"¶", "—", "–", "- "})
    if (after.starts_with(sign)) return true;
  const std::size_t end = after.starts_with('(') ? after.rfind(')') : after.npos;
  return end != after.npos && after.substr(end + 1).starts_with("¶");
}

// What stands around a name on its line tells what it does there.
double judge_place(std::string_view before, std::string_view after, bool begins_line) {
  after = trim(after, " \t");
  if (!begins_line || after.starts_with(';')) return kUse;
  const std::string_view indented = trim(before, " \t");
  const bool is_heading = indented.starts_with('#');
  const bool is_item = indented.starts_with("- ") || indented.starts_with("* ");
  const std::string_view lead = trim(before, " \t#*>|`@\"'");
  const Keywords keywords = find_keywords(lead);
  if (keywords.are_all && keywords.last == Keyword::kDefining) return kDefinition;
  if (keywords.are_all && keywords.last == Keyword::kModifying && introduces(after)) return kEntry;
  const bool is_first = std::all_of(lead.begin(), lead.end(),
                                    [](char byte) { return is_word_byte(byte) || byte == '.'; }) &&
                        (lead.empty() || lead.back() == '.');
  if (is_first && !is_item && (is_heading || introduces(after))) return kEntry;
  return is_heading || keywords.last == Keyword::kDefining ? kHeading : kUse;
}

// Whether a word goes on before a place, or from it on.
bool goes_on_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  std::size_t start = at - 1;
  while (start > 0 && at - start < 4 && is_inside_character(text[start])) --start;
  const char32_t point = next_point(text, start);
  return point == U'_' || is_word(point);
}
bool goes_on_from(std::string_view text, std::size_t at) {
  if (at == text.size()) return false;
  const char32_t point = next_point(text, at);
  return point == U'_' || is_word(point);
}

}  // namespace

double find_definition(std::string_view name, std::string_view text) {
  const auto is_same = [](char a, char b) { return lowered(a) == lowered(b); };
  double best = 0;
  auto at = text.begin();
  while (!name.empty() && best < kDefinition) {
    at = std::search(at, text.end(), name.begin(), name.end(), is_same);
    if (at == text.end()) break;
    const auto begin = static_cast<std::size_t>(at - text.begin());
    const std::size_t end = begin + name.size();
    ++at;
    if (goes_on_before(text, begin) || goes_on_from(text, end)) continue;
    const std::size_t from = begin > kLinePart ? begin - kLinePart : 0;
    const std::string_view part = text.substr(from, begin - from);
    const std::size_t line = part.rfind('\n');
    const std::string_view behind = text.substr(end, kLinePart);
    const double place =
        judge_place(line == part.npos ? part : part.substr(line + 1),
                    behind.substr(0, behind.find('\n')), line != part.npos || from == 0);
    const bool is_exact = text.substr(begin, name.size()) == name;
    best = std::max(best, is_exact ? place : kOtherCase * place);
  }
  return best;
}

ExactWords::ExactWords(std::string_view question) {
  std::vector<std::string_view> words;
  std::size_t telling = 0;
  visit_terms(question, Side::kQuestion, [&](const Term& term) {
    if (term.kind != Term::kWord) return;
    words.push_back(question.substr(term.begin, term.end - term.begin));
    telling += !is_function_word(term.word) && !is_keyword(words.back());
  });
  const bool is_one = question.find(' ') == question.npos;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool follows_keyword =
        i > 0 && words.size() <= kLongestLookup && is_keyword(words[i - 1]);
    const bool is_last = is_one && i + 1 == words.size();
    if (is_last || (!is_one && (looks_like_name(words[i]) || follows_keyword)))
      names_.emplace_back(words[i]);
  }
  share_ = names_.empty() ? 0
                          : static_cast<double>(names_.size()) /
                                static_cast<double>(std::max(telling, names_.size()));
  if (words.size() > 1 && words.size() <= kLongestPhrase) phrase_ = fold_phrase(question);
}

double ExactWords::weigh(std::string_view title, std::string_view body) const {
  double weight = 0;
  for (const std::string& name : names_) {
    double found = find_definition(name, body);
    if (found < kTitle && find_definition(name, title) > 0) found = kTitle;
    weight += kNameWeight * share_ * found / static_cast<double>(names_.size());
  }
  if (!phrase_.empty() && fold_words(body).find(phrase_) != std::string::npos)
    weight += kPhraseWeight;
  return weight;
}

}  // namespace gossamer
