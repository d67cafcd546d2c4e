#include "filters/filter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

[[noreturn]] void refuse(const std::string& message) { fail(Reason::kInvalidArgument, message); }

std::string quote(std::string_view text) {
  std::string quoted(1, '\'');
  quoted += text;
  return quoted += '\'';
}

const std::string& text_of(const JsonValue* value) {
  static const std::string none;
  return value == nullptr ? none : value->text;
}

std::string type_of(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('.'), name.size()));
  return in_small_letters(name);
}

void check_texts(const JsonValue& list, std::string_view name) {
  bool are_texts = list.is(Kind::kList);
  for (const JsonValue& one : list.items) are_texts = are_texts && one.is(Kind::kText);
  if (!are_texts) refuse("expected a list of texts for " + std::string(name));
}

// One condition of an object: what a field is compared with, as it was given.
struct Asked {
  std::string_view name;
  std::string_view symbol;
  const JsonValue& value;
  std::string_view given;

  std::string written(const JsonValue& one) const {
    return std::string(given.substr(one.begin, one.end - one.begin));
  }
};

Operand values_of(const Asked& asked) {
  Operand values;
  values.is_list = asked.value.is(Kind::kList);
  const std::size_t count = values.is_list ? asked.value.items.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonValue& one = values.is_list ? asked.value.items[i] : asked.value;
    if (one.is(Kind::kList) || one.is(Kind::kObject))
      refuse("expected a text, number, date, bool or None for the field " + quote(asked.name) +
             ", not " + asked.written(one));
    values.constants.emplace_back(one);
  }
  return values;
}

Condition condition_of(const Asked& asked, FieldNames& names) {
  const auto symbol = find_symbol(asked.symbol);
  if (!symbol)
    refuse("expected one of " + std::string(kSymbols) + " for the field " + quote(asked.name) +
           ", not " + quote(asked.symbol));
  if (asked.value.is(Kind::kList) != (symbol->order == Order::kIn))
    refuse(
        "expected a list with in or not in, and one value with any other operator, for the "
        "field " +
        quote(asked.name) + ", not " + std::string(asked.symbol) + " " +
        asked.written(asked.value));
  return compare(*symbol, {names.number_of(asked.name), {}}, values_of(asked));
}

}  // namespace

Filter Filter::read(std::string_view given) {
  const JsonValue asked = read_json(given, "a filter", Reason::kInvalidArgument);
  expect(asked.is(Kind::kObject), Reason::kInvalidArgument, "a filter is no object");
  constexpr std::array<std::string_view, 6> kKnown{"where", "paths", "ignores_case",
                                                   "types", "after", "before"};
  for (std::size_t i = 0; i < asked.items.size(); i += 2)
    if (std::find(kKnown.begin(), kKnown.end(), asked.items[i].text) == kKnown.end())
      refuse("a filter has no part " + quote(asked.items[i].text));
  const auto find = [&](std::string_view name) {
    const JsonValue* found = asked.find(name);
    return found == nullptr || found->is(Kind::kNothing) ? nullptr : found;
  };
  Filter filter;
  if (const JsonValue* where = find("where")) filter.read_where(*where, given);
  const JsonValue* ignores_case = find("ignores_case");
  if (const JsonValue* paths = find("paths"))
    filter.read_paths(*paths, ignores_case != nullptr && ignores_case->integer != 0);
  if (const JsonValue* types = find("types")) filter.read_types(*types);
  if (const JsonValue* day = find("after")) filter.read_day(*day, ">=");
  if (const JsonValue* day = find("before")) filter.read_day(*day, "<");
  return filter;
}

void Filter::read_where(const JsonValue& where, std::string_view given) {
  if (where.is(Kind::kText)) {
    conditions_.push_back(parse_expression(where.text, names_));
    return;
  }
  expect(where.is(Kind::kObject), Reason::kInvalidArgument,
         "expected a filter expression or a mapping");
  for (std::size_t i = 0; i < where.items.size(); i += 2) {
    const std::string& name = where.items[i].text;
    const JsonValue& value = where.items[i + 1];
    names_.number_of(name);
    const auto add = [&](std::string_view symbol, const JsonValue& one) {
      conditions_.push_back(condition_of({name, symbol, one, given}, names_));
    };
    if (!value.is(Kind::kObject)) add(value.is(Kind::kList) ? "in" : "==", value);
    for (std::size_t j = 0; value.is(Kind::kObject) && j < value.items.size(); j += 2)
      add(value.items[j].text, value.items[j + 1]);
  }
}

void Filter::read_paths(const JsonValue& paths, bool ignores_case) {
  check_texts(paths, "paths");
  if (paths.items.empty()) return;
  path_ = names_.number_of("path");
  paths_.emplace(ignores_case);
  for (const JsonValue& pattern : paths.items) paths_->add(pattern.text);
}

void Filter::read_types(const JsonValue& types) {
  check_texts(types, "types");
  if (types.items.empty()) return;
  type_ = names_.number_of("type");
  extension_ = names_.number_of("extension");
  for (const JsonValue& type : types.items) types_.push_back(type_of(type.text));
}

void Filter::read_day(const JsonValue& day, std::string_view symbol) {
  if (date_of(day.text).size == 0)
    refuse("expected a date such as 2024-05-31 or 2024, not " + quote(day.text));
  conditions_.push_back(condition_of({"modified", symbol, day, ""}, names_));
}

bool Filter::is_wanted_type(const JsonValue* value) const {
  return std::find(types_.begin(), types_.end(), type_of(text_of(value))) != types_.end();
}

bool Filter::matches(Fields fields) const {
  for (const Condition& condition : conditions_)
    if (!holds(condition, fields)) return false;
  if (paths_ && !paths_->match(text_of(fields[path_]))) return false;
  return types_.empty() || is_wanted_type(fields[type_]) || is_wanted_type(fields[extension_]);
}

}  // namespace gossamer
