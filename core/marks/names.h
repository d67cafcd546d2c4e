#pragma once

#include <string>
#include <string_view>

namespace gossamer {

// Whether a name is among those of a list, which has a space before and behind each.
inline bool is_among(std::string_view name, std::string_view names) {
  std::string word = " ";
  word += name;
  word += ' ';
  return word.size() > 2 && names.find(word) != std::string_view::npos;
}

}  // namespace gossamer
