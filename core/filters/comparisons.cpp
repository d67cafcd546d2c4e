#include "filters/comparisons.h"

#include <array>
#include <compare>
#include <utility>

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

// Names are looked for one by one.
constexpr std::size_t kMostFields = 4096;

Order mirror(Order order) {
  constexpr std::array kMirrored{Order::kEqual, Order::kGreater,   Order::kGreaterEqual,
                                 Order::kLess,  Order::kLessEqual, Order::kIn};
  return kMirrored[static_cast<std::size_t>(order)];
}

bool is_ordered(Order order, std::partial_ordering found) {
  switch (order) {
    case Order::kLess:
      return found < 0;
    case Order::kLessEqual:
      return found <= 0;
    case Order::kGreater:
      return found > 0;
    case Order::kGreaterEqual:
      return found >= 0;
    default:
      return found == 0;
  }
}

// To the last digit: not every integer is a double.
std::partial_ordering compare_mixed(std::int64_t integer, double real) {
  constexpr double kEnd = 9223372036854775808.0;
  if (real >= kEnd) return std::partial_ordering::less;
  if (real < -kEnd) return std::partial_ordering::greater;
  if (!(real == real)) return std::partial_ordering::unordered;
  const auto whole = static_cast<std::int64_t>(real);
  if (integer != whole) return integer <=> whole;
  return 0.0 <=> real - static_cast<double>(whole);
}

std::partial_ordering compare_numbers(const JsonValue& left, const JsonValue& right) {
  if (left.is(Kind::kReal))
    return right.is(Kind::kReal) ? left.real <=> right.real
                                 : 0 <=> compare_mixed(right.integer, left.real);
  return right.is(Kind::kReal) ? compare_mixed(left.integer, right.real)
                               : left.integer <=> right.integer;
}

bool is_year(const JsonValue& value) {
  return value.is(Kind::kInteger) && value.integer >= 1000 && value.integer <= 9999;
}

std::int64_t year_of(const Date& date) {
  std::int64_t year = 0;
  for (std::size_t i = 0; i < 4; ++i) year = 10 * year + (date.letters[i] - '0');
  return year;
}

// A date is compared as far as the right one goes; other texts stay as they are. What names no
// zone, as many chats do not, was written by clocks that are taken to be those of the right one.
std::partial_ordering compare_texts(const Constant& left, const Constant& right) {
  if (left.date.size == 0 || right.date.size == 0) return left.value.text <=> right.value.text;
  if (!left.date.has_zone && right.clock.size > 0)
    return begin_of(left.date).text() <=> right.clock.text();
  return left.date.text().substr(0, right.date.size) <=> right.date.text();
}

std::partial_ordering compare_kinds(const Constant& left, const Constant& right) {
  const JsonValue &one = left.value, &other = right.value;
  const auto is_number = [](const JsonValue& value) {
    return value.is(Kind::kInteger) || value.is(Kind::kReal);
  };
  if (one.is(Kind::kText)) {
    if (other.is(Kind::kText)) return compare_texts(left, right);
    // The year of a date; any other text is of another kind than a number.
    if (!is_year(other) || left.date.size <= 4) return std::partial_ordering::unordered;
    return year_of(left.date) <=> other.integer;
  }
  if (one.is(Kind::kBool) && other.is(Kind::kBool)) return one.integer <=> other.integer;
  if (!is_number(one) || !is_number(other)) return std::partial_ordering::unordered;
  return compare_numbers(one, other);
}

bool is_ordered(Order order, const Constant& left, const Constant& right) {
  if (left.value.is(Kind::kNothing) || right.value.is(Kind::kNothing))
    return order == Order::kEqual && left.value.kind == right.value.kind;
  return is_ordered(order, compare_kinds(left, right));
}

// Whether a text holds another one, in linear time whatever they are (Knuth, Morris, Pratt).
bool contains(std::string_view text, std::string_view part) {
  if (part.empty()) return true;
  std::vector<std::size_t> borders(part.size() + 1);
  const auto next = [&](std::size_t matched, char letter) {
    while (matched > 0 && part[matched] != letter) matched = borders[matched];
    return part[matched] == letter ? matched + 1 : matched;
  };
  for (std::size_t i = 1; i < part.size(); ++i) borders[i + 1] = next(borders[i], part[i]);
  std::size_t matched = 0;
  for (const char letter : text)
    if ((matched = next(matched, letter)) == part.size()) return true;
  return false;
}

bool is_true(const JsonValue& value) {
  return !value.text.empty() || value.integer != 0 || value.real != 0;
}

}  // namespace

Symbol symbol_of(std::size_t number) {
  const bool is_in = number >= 6;
  const Order order = number == 5 ? Order::kEqual : static_cast<Order>(number);
  return {is_in ? Order::kIn : order, number == 5 || number == 7};
}

std::size_t Conditions::number_of(std::string_view name) {
  std::size_t number = 0;
  while (number < names_.size() && names_[number] != name) ++number;
  if (number == names_.size()) names_.push_back(name);
  expect(number < kMostFields, Reason::kInvalidArgument, "a filter asks for 4096 fields at most");
  return number;
}

bool Conditions::has(std::string_view name) const {
  for (const std::string_view one : names_)
    if (one == name) return true;
  return false;
}

Operand Conditions::add_constant(const JsonValue& value) {
  constants_.push_back({value, date_of(value.text), clock_of(value.text)});
  return {Operand::Kind::kConstant, constants_.size() - 1};
}

void Conditions::add(Kind kind, Symbol symbol, Operand left, Operand right) {
  tests_.push_back({kind, symbol.is_negated, symbol.order, left, right, tests_.size() + 1});
}

void Conditions::add_truth(Operand value) { add(Kind::kTruth, {Order::kEqual}, value, value); }

void Conditions::add_comparison(Symbol symbol, Operand left, Operand right) {
  // The precision of a date is that of the value, which therefore stands on the right.
  if (right.kind == Operand::Kind::kField && left.kind != Operand::Kind::kField &&
      symbol.order != Order::kIn) {
    std::swap(left, right);
    symbol.order = mirror(symbol.order);
  }
  add(Kind::kComparison, symbol, left, right);
}

std::size_t Conditions::begin(Kind kind) {
  add(kind, {Order::kEqual}, {}, {});
  return tests_.size() - 1;
}

void Conditions::end(std::size_t begun, bool is_negated) {
  tests_[begun].is_negated = is_negated;
  tests_[begun].end = tests_.size();
}

bool Conditions::is_bool(Operand constant) const {
  return constants_[constant.first].value.is(JsonValue::Kind::kBool);
}

Constant Conditions::value_of(Operand operand, Fields fields) const {
  Constant found;
  if (operand.kind == Operand::Kind::kConstant) return constants_[operand.first];
  if (operand.kind == Operand::Kind::kList) {
    found.value.kind = JsonValue::Kind::kList;
  } else if (const JsonValue* field = fields[operand.first]) {
    found = {*field, date_of(field->text), {}};
  }
  return found;
}

bool Conditions::is_in(const Constant& value, Operand group, Fields fields) const {
  for (std::size_t i = 0; group.kind == Operand::Kind::kList && i < group.count; ++i)
    if (is_ordered(Order::kEqual, value, constants_[group.first + i])) return true;
  const Constant text = value_of(group, fields);
  return value.value.is(JsonValue::Kind::kText) && text.value.is(JsonValue::Kind::kText) &&
         contains(text.value.text, value.value.text);
}

bool Conditions::holds(std::size_t number, Fields fields) const {
  const Test& test = tests_[number];
  bool found = test.kind == Kind::kAll;
  if (test.kind <= Kind::kAny) {
    for (std::size_t i = number + 1; i < test.end; i = tests_[i].end)
      if (holds(i, fields) != found) {
        found = !found;
        break;
      }
    return found != test.is_negated;
  }
  const Constant left = value_of(test.left, fields);
  if (test.kind == Kind::kTruth)
    found = is_true(left.value);
  else if (test.order == Order::kIn)
    found = is_in(left, test.right, fields);
  else
    found = is_ordered(test.order, left, value_of(test.right, fields));
  return found != test.is_negated;
}

bool Conditions::hold(Fields fields) const {
  for (std::size_t i = 0; i < tests_.size(); i = tests_[i].end)
    if (!holds(i, fields)) return false;
  return true;
}

}  // namespace gossamer
