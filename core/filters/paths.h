#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer {

// Patterns of paths. `*` and `?` stand for anything within a name, `[ab]` for one of these, `**`
// for any folders. A pattern from the root is taken from there; any other matches at any depth. One
// that matches a folder matches what is in it. `!` before a pattern leaves out what it matches.
class PathPatterns {
 public:
  explicit PathPatterns(bool ignores_case) : ignores_case_(ignores_case) {}

  // kInvalidArgument where it is nothing.
  void add(std::string_view pattern);
  // Whether a path is wanted.
  bool match(std::string_view path) const;

 private:
  // What one character of a name may be; a star is any number of any.
  struct Letter {
    bool is_star = false;
    bool is_negated = false;
    std::vector<std::pair<char32_t, char32_t>> ranges;  // first and last
  };
  // What one name may be; without letters the text itself.
  struct Name {
    std::string text;
    std::vector<Letter> letters;
  };
  using Pattern = std::vector<Name>;

  static std::vector<Letter> read_letters(std::string_view name);
  static Letter read_set(std::u32string_view within);
  static bool match_name(const Name& pattern, std::string_view name);
  static bool match_names(const Pattern& pattern, const std::vector<std::string_view>& names);

  bool ignores_case_;
  std::vector<Pattern> wanted_, unwanted_;
};

// Small letters of ASCII for large ones.
std::string in_small_letters(std::string_view text);

}  // namespace gossamer
