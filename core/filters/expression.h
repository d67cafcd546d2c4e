#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "filters/comparisons.h"

namespace gossamer {

// The names of the fields that a filter asks for, each once.
class FieldNames {
 public:
  // The number of a name, a new one if it is not there yet.
  std::size_t number_of(std::string_view name);
  bool has(std::string_view name) const { return numbers_.contains(name); }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  // No hashes: names of strangers may be made to have the same one.
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

// Compiles an expression, which is a text as the store keeps it: `type == "pdf" and year >= 2020`.
// kInvalidArgument points at what cannot be read.
Condition parse_expression(std::string_view text, FieldNames& names);

}  // namespace gossamer
