#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filters/comparisons.h"
#include "filters/expression.h"
#include "filters/paths.h"

namespace gossamer {

// Which documents a search looks at, by what is known of them. What holds where values do not fit
// each other:
// - A field that is not there equals only `none`: every other comparison with it is false, and `!=`
//   and `not in` are true.
// - Values of different kinds (text, number, true/false) are unequal and in no order.
// - A date is compared as far as the shorter one goes: all of 2024 is `== "2024"`, `<= "2024"` and
//   not `> "2024"`.
// - `"word" in path` looks within a text.
class Filter {
 public:
  // `given` is a JSON object with any of these, null being none; all must hold:
  //   where         an expression, or an object such as {"lang": "en", "year": {">=": 2020}}, in
  //                 which a list of values means any of them
  //   paths         patterns; ~ and . were resolved by the host
  //   ignores_case  whether these take small letters for large ones
  //   types         kinds of documents or extensions of their files
  //   after         the first day (or month, year, minute) that counts
  //   before        the first that does not
  // kInvalidArgument for anything malformed, and says where.
  static Filter read(std::string_view given);

  // The fields it asks for.
  const std::vector<std::string>& names() const { return names_.all(); }
  bool asks_for(std::string_view name) const { return names_.has(name); }
  // Whether a document with these values, in the order of names(), is to be looked at; never fails.
  bool matches(Fields fields) const;

 private:
  void read_where(const JsonValue& where, std::string_view given);
  void read_paths(const JsonValue& paths, bool ignores_case);
  void read_types(const JsonValue& types);
  void read_day(const JsonValue& day, std::string_view symbol);
  bool is_wanted_type(const JsonValue* value) const;

  FieldNames names_;
  std::vector<Condition> conditions_;
  std::optional<PathPatterns> paths_;
  std::vector<std::string> types_;
  std::size_t path_ = 0, type_ = 0, extension_ = 0;  // numbers of names, where they are asked for
};

}  // namespace gossamer
