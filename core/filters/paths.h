#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gossamer {

// Patterns of paths. `*` and `?` stand for anything within a name, `[ab]` for one of these, `**`
// for any folders. A pattern from the root is taken from there; any other matches at any depth. One
// that matches a folder matches what is in it. `!` before a pattern leaves out what it matches.
class PathPatterns {
 public:
  // kInvalidArgument for a pattern that is nothing.
  void add(std::string_view pattern, bool ignores_case);

  bool empty() const { return patterns_.empty(); }
  // Whether a path is wanted.
  bool match(std::string_view path) const;

 private:
  // A part of a pattern: what one name, or one character of it, may be. It is made of smaller ones,
  // which stand in another list.
  struct Part {
    bool is_star = true;      // any number of any
    bool is_negated = false;  // none of its ranges; of a whole pattern: leaves out
    std::size_t first = 0, end = 0;
  };
  using Points = std::vector<std::uint32_t>;

  void add_name(std::string_view name);
  std::uint32_t next(std::string_view name, std::size_t& at) const;
  void add_set(const Points& points, std::size_t begin, std::size_t end);
  void add_range(std::uint32_t first, std::uint32_t last);
  bool match_names(const Part& pattern, const std::vector<std::string_view>& names) const;
  bool match_name(const Part& pattern, std::string_view name) const;

  bool ignores_case_ = false;
  std::vector<Part> patterns_, names_, letters_;
  Points ranges_;  // the first and the last of each
};

}  // namespace gossamer
