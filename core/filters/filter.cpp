#include "filters/filter.h"

#include <algorithm>
#include <array>
#include <string>

#include "filters/expression.h"
#include "filters/refuse.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

constexpr std::array<std::string_view, 6> kParts{"where", "paths", "ignores_case",
                                                 "types", "after", "before"};
// Numbers of symbols.
constexpr std::size_t kEqual = 0, kIn = 6;

// Their number if it is none of them.
std::size_t find_symbol(std::string_view written) {
  std::size_t number = 0;
  while (number < kSymbols.size() && kSymbols[number] != written) ++number;
  return number;
}

std::string_view text_of(const JsonValue* value) { return value == nullptr ? "" : value->text; }

// Without dots before them, and in small letters.
bool is_same_type(std::string_view one, std::string_view other) {
  for (std::string_view* type : {&one, &other})
    while (type->starts_with('.')) type->remove_prefix(1);
  bool is_same = one.size() == other.size();
  for (std::size_t i = 0; is_same && i < one.size(); ++i)
    is_same = small_letter(static_cast<std::uint8_t>(one[i])) ==
              small_letter(static_cast<std::uint8_t>(other[i]));
  return is_same;
}

}  // namespace

Filter::Filter(std::string_view given) : given_(given) {
  asked_.read(given_, "a filter", Reason::kInvalidArgument);
  if (!asked_.root().is(Kind::kObject)) refuse({"a filter is no object"});
  for (const std::size_t place : asked_.items(0)) {
    const std::string_view part = value(place).text;
    if (std::find(kParts.begin(), kParts.end(), part) == kParts.end())
      refuse({"a filter has no part '", part, "'"});
  }
  for (const std::string_view part : kParts) {
    const JsonValue* found = asked_.find(part);
    if (found != nullptr && !found->is(Kind::kNothing))
      read_part(part, static_cast<std::size_t>(found - asked_.values().data()));
  }
}

void Filter::read_part(std::string_view part, std::size_t place) {
  if (part == "where") return read_where(place);
  if (part == "paths") return read_paths(place);
  if (part == "types") return read_types(place);
  if (part != "ignores_case") read_day(place, part == "after");
}

void Filter::read_where(std::size_t place) {
  const JsonValue& where = value(place);
  if (where.is(Kind::kText)) return parse_expression(where.text, conditions_, texts_);
  if (!where.is(Kind::kObject))
    refuse({"expected a filter expression or a mapping, not ", where.written});
  // Of several of one name the last counts.
  std::vector<std::size_t> names = asked_.items(place), kept;
  for (; !names.empty(); names.pop_back())
    if (const std::size_t name = names.back(); !asks_for(value(name).text)) {
      conditions_.number_of(value(name).text);
      kept.push_back(name);
    }
  for (; !kept.empty(); kept.pop_back()) read_conditions(kept.back());
}

void Filter::read_conditions(std::size_t name) {
  const std::string_view field = value(name).text;
  const JsonValue& given = value(name + 1);
  if (!given.is(Kind::kObject))
    return add_condition(field, given.is(Kind::kList) ? kIn : kEqual, name + 1);
  const std::vector<std::size_t> symbols = asked_.items(name + 1);
  std::array<std::size_t, kSymbols.size() + 1> last{};
  for (const std::size_t symbol : symbols) last[find_symbol(value(symbol).text)] = symbol;
  for (const std::size_t symbol : symbols) {
    const std::size_t number = find_symbol(value(symbol).text);
    if (number == kSymbols.size())
      refuse({"expected one of ==, <, <=, >, >=, !=, in, not in for the field '", field, "', not '",
              value(symbol).text, "'"});
    if (last[number] == symbol) add_condition(field, number, symbol + 1);
  }
}

void Filter::add_condition(std::string_view name, std::size_t symbol, std::size_t place) {
  const JsonValue& given = value(place);
  const bool is_list = given.is(Kind::kList);
  if (is_list != (symbol >= kIn))
    refuse(
        {"expected a list with in or not in, and one value with any other operator, for the "
         "field '",
         name, "', not ", kSymbols[symbol], " ", given.written});
  Operand values{is_list ? Operand::Kind::kList : Operand::Kind::kConstant,
                 conditions_.constant_count(), 0};
  for (std::size_t i = place + (is_list ? 1 : 0); i < given.end; i = value(i).end, ++values.count) {
    if (value(i).kind >= Kind::kList)
      refuse({"expected a text, number, date, bool or None for the field '", name, "', not ",
              value(i).written});
    conditions_.add_constant(value(i));
  }
  conditions_.add_comparison(symbol_of(symbol),
                             {Operand::Kind::kField, conditions_.number_of(name)}, values);
}

void Filter::read_paths(std::size_t place) {
  const JsonValue* ignores_case = asked_.find("ignores_case");
  for (const std::size_t i : read_texts(place, "paths"))
    paths_.add(value(i).text, ignores_case != nullptr && ignores_case->integer != 0);
  if (!paths_.empty()) path_ = conditions_.number_of("path");
}

void Filter::read_types(std::size_t place) {
  types_ = read_texts(place, "types");
  if (types_.empty()) return;
  type_ = conditions_.number_of("type");
  extension_ = conditions_.number_of("extension");
}

std::vector<std::size_t> Filter::read_texts(std::size_t place, std::string_view name) const {
  std::vector<std::size_t> texts = asked_.items(place);
  bool are_texts = value(place).is(Kind::kList);
  for (const std::size_t text : texts) are_texts = are_texts && value(text).is(Kind::kText);
  if (!are_texts) refuse({"expected a list of texts for ", name, ", not ", value(place).written});
  return texts;
}

void Filter::read_day(std::size_t place, bool is_after) {
  const std::string_view day = value(place).text;
  if (date_of(day).size == 0)
    refuse({"expected a date such as 2024-05-31 or 2024, not '", day, "'"});
  // No date has quotes in it.
  const std::string is_dated = "(type in ['mail', 'chat'] and date != none)";
  const std::string order = (is_after ? " >= '" : " < '") + std::string(day) + "'";
  const std::string own =
      is_after ? "(date" + order + " or last_date" + order + ")" : "date" + order;
  std::string& text = days_[is_after ? 0 : 1];
  text = is_dated + " and " + own + " or not " + is_dated + " and modified" + order;
  std::string escapes;  // there are none
  parse_expression(text, conditions_, escapes);
}

bool Filter::is_wanted_type(const JsonValue* given) const {
  for (const std::size_t type : types_)
    if (is_same_type(value(type).text, text_of(given))) return true;
  return false;
}

bool Filter::matches(Fields fields) const {
  if (!conditions_.hold(fields)) return false;
  if (!paths_.empty() && !paths_.match(text_of(fields[path_]))) return false;
  return types_.empty() || is_wanted_type(fields[type_]) || is_wanted_type(fields[extension_]);
}

}  // namespace gossamer
