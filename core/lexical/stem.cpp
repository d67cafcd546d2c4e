#include "lexical/stem.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace gossamer {
namespace {

struct Rule {
  std::string_view ending;
  std::string_view replacement;
};

// The steps of the published algorithm, by its own names; `m` is what it calls the measure: how
// often a vowel is followed by a consonant.
class Porter {
 public:
  explicit Porter(std::string& word) : word_(word) {}

  void run() {
    plural();            // 1a
    past_and_gerund();   // 1b
    final_y();           // 1c
    replace(kStep2, 1);  // each rule wants a stem of measure 1 or more, step 4 more than 1
    replace(kStep3, 1);
    drop_suffix();  // 4
    tidy_up();      // 5
  }

 private:
  static constexpr Rule kStep2[] = {
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
      {"izer", "ize"},    {"abli", "able"},   {"alli", "al"},     {"entli", "ent"},
      {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
      {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
      {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"}};
  static constexpr Rule kStep3[] = {{"icate", "ic"}, {"ative", ""},  {"alize", "al"},
                                    {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""},
                                    {"ness", ""}};
  static constexpr std::string_view kStep4[] = {
      "al",  "ance", "ence", "er",  "ic",  "able", "ible", "ant", "ement", "ment",
      "ent", "ion",  "ou",   "ism", "ate", "iti",  "ous",  "ive", "ize"};

  bool ends(std::string_view ending) const { return std::string_view(word_).ends_with(ending); }
  void cut(std::size_t count) { word_.erase(word_.size() - count); }

  bool is_consonant(std::size_t i) const {
    switch (word_[i]) {
      case 'a':
      case 'e':
      case 'i':
      case 'o':
      case 'u':
        return false;
      case 'y':
        return i == 0 || !is_consonant(i - 1);
      default:
        return true;
    }
  }
  // m of the first `length` letters.
  int measure(std::size_t length) const {
    int runs = 0;
    bool after_vowel = false;
    for (std::size_t i = 0; i < length; ++i) {
      const bool consonant = is_consonant(i);
      runs += consonant && after_vowel;
      after_vowel = !consonant;
    }
    return runs;
  }
  bool has_vowel(std::size_t length) const {
    for (std::size_t i = 0; i < length; ++i)
      if (!is_consonant(i)) return true;
    return false;
  }
  bool ends_doubled() const {
    const std::size_t n = word_.size();
    return n > 1 && word_[n - 1] == word_[n - 2] && is_consonant(n - 1);
  }
  // Consonant, vowel, consonant other than w, x, y: as in "hop".
  bool ends_short(std::size_t length) const {
    if (length < 3 || !is_consonant(length - 1) || is_consonant(length - 2) ||
        !is_consonant(length - 3))
      return false;
    return std::string_view("wxy").find(word_[length - 1]) == std::string_view::npos;
  }

  void plural() {
    if (ends("sses") || ends("ies")) return cut(2);
    if (ends("s") && !ends("ss")) cut(1);
  }
  void past_and_gerund() {
    if (ends("eed")) {
      if (measure(word_.size() - 3) > 0) cut(1);
      return;
    }
    const std::size_t ending = ends("ed") ? 2 : ends("ing") ? 3 : 0;
    if (ending == 0 || !has_vowel(word_.size() - ending)) return;
    cut(ending);
    if (ends("at") || ends("bl") || ends("iz")) {
      word_ += 'e';
    } else if (ends_doubled()) {
      if (!ends("l") && !ends("s") && !ends("z")) cut(1);
    } else if (measure(word_.size()) == 1 && ends_short(word_.size())) {
      word_ += 'e';
    }
  }
  void final_y() {
    if (ends("y") && has_vowel(word_.size() - 1)) word_.back() = 'i';
  }
  void replace(std::span<const Rule> rules, int least) {
    for (const Rule& rule : rules) {
      if (!ends(rule.ending)) continue;
      const std::size_t length = word_.size() - rule.ending.size();
      if (measure(length) >= least) word_.replace(length, rule.ending.size(), rule.replacement);
      return;
    }
  }
  void drop_suffix() {
    std::string_view longest;
    for (const std::string_view ending : kStep4)
      if (ending.size() > longest.size() && ends(ending)) longest = ending;
    if (longest.empty()) return;
    const std::size_t length = word_.size() - longest.size();
    const bool fits =
        longest != "ion" || (length > 0 && (word_[length - 1] == 's' || word_[length - 1] == 't'));
    if (fits && measure(length) > 1) word_.erase(length);
  }
  void tidy_up() {
    if (ends("e")) {
      const int m = measure(word_.size() - 1);
      if (m > 1 || (m == 1 && !ends_short(word_.size() - 1))) cut(1);
    }
    if (ends("ll") && measure(word_.size()) > 1) cut(1);
  }

  std::string& word_;
};

}  // namespace

void stem(std::string& word) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (word.size() < 3 || !std::all_of(word.begin(), word.end(), is_letter)) return;
  Porter(word).run();
}

}  // namespace gossamer
