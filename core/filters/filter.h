#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "filters/comparisons.h"
#include "filters/paths.h"
#include "text/json.h"

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
  //   after         the first day (or month, year, minute) that counts: of mails and chats that
  //                 have dates by `date` or `last_date`, of all else by the time of the file
  //   before        the first that does not, by `date` or the time of the file
  // kInvalidArgument for anything malformed, and says where.
  static Filter read(std::string_view given) { return Filter(given); }

  Filter(const Filter&) = delete;  // values are views of it

  // The fields it asks for.
  const std::vector<std::string_view>& names() const { return conditions_.names(); }
  bool asks_for(std::string_view name) const { return conditions_.has(name); }
  // Whether a document with these values, in the order of names(), is to be looked at; never fails.
  bool matches(Fields fields) const;

 private:
  explicit Filter(std::string_view given);

  // Values of the filter are known by their places.
  const JsonValue& value(std::size_t place) const { return asked_.values()[place]; }
  void read_part(std::string_view part, std::size_t place);
  void read_where(std::size_t place);
  void read_conditions(std::size_t name);
  void add_condition(std::string_view name, std::size_t symbol, std::size_t place);
  void read_paths(std::size_t place);
  void read_types(std::size_t place);
  std::vector<std::size_t> read_texts(std::size_t place, std::string_view name) const;
  void read_day(std::size_t place, bool is_after);
  bool is_wanted_type(const JsonValue* given) const;

  std::string given_;
  Json asked_;
  std::string texts_;                // of an expression
  std::array<std::string, 2> days_;  // expressions of after and before
  Conditions conditions_;
  PathPatterns paths_;
  std::vector<std::size_t> types_;
  std::size_t path_ = 0, type_ = 0, extension_ = 0;  // fields, where they are asked for
};

}  // namespace gossamer
