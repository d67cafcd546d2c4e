#include "filters/comparisons.h"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

// A value as it is compared.
struct Side {
  const JsonValue* value = nullptr;
  Date date;

  bool is(Kind kind) const { return value->is(kind); }
  bool is_nothing() const { return is(Kind::kNothing); }
};

Order mirror(Order order) {
  switch (order) {
    case Order::kLess:
      return Order::kGreater;
    case Order::kLessEqual:
      return Order::kGreaterEqual;
    case Order::kGreater:
      return Order::kLess;
    case Order::kGreaterEqual:
      return Order::kLessEqual;
    default:
      return order;
  }
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

// A date is compared as far as the right one goes; other texts stay as they are.
std::partial_ordering compare_texts(const Side& left, const Side& right) {
  if (left.date.size == 0 || right.date.size == 0) return left.value->text <=> right.value->text;
  return left.date.text().substr(0, right.date.size) <=> right.date.text();
}

std::partial_ordering compare_sides(const Side& left, const Side& right) {
  const auto is_number = [](const Side& side) {
    return side.is(Kind::kInteger) || side.is(Kind::kReal);
  };
  if (left.is(Kind::kText)) {
    if (right.is(Kind::kText)) return compare_texts(left, right);
    // The year of a date; any other text is of another kind than a number.
    if (!is_year(*right.value) || left.date.size <= 4) return std::partial_ordering::unordered;
    return left.date.text().substr(0, 4) <=> std::to_string(right.value->integer);
  }
  if (left.is(Kind::kBool) && right.is(Kind::kBool))
    return left.value->integer <=> right.value->integer;
  if (!is_number(left) || !is_number(right)) return std::partial_ordering::unordered;
  return compare_numbers(*left.value, *right.value);
}

bool is_ordered(Order order, const Side& left, const Side& right) {
  if (left.is_nothing() || right.is_nothing())
    return order == Order::kEqual && left.value->kind == right.value->kind;
  return is_ordered(order, compare_sides(left, right));
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

Side side_of(const Operand& operand, Fields fields) {
  static const JsonValue nothing, list{Kind::kList, 0, 0, {}, {}, 0, 0};
  if (operand.is_list) return {&list, {}};
  if (!operand.field) return {&operand.constants[0].value, operand.constants[0].date};
  const JsonValue* value = fields[*operand.field];
  if (value == nullptr) return {&nothing, {}};
  return {value, date_of(value->text)};
}

bool is_in(const Side& value, const Operand& group, Fields fields) {
  if (group.is_list)
    return std::any_of(group.constants.begin(), group.constants.end(), [&](const Constant& one) {
      return is_ordered(Order::kEqual, value, {&one.value, one.date});
    });
  const JsonValue& text = *side_of(group, fields).value;
  return value.is(Kind::kText) && text.is(Kind::kText) && contains(text.text, value.value->text);
}

bool is_true(const JsonValue& value) {
  return !value.text.empty() || value.integer != 0 || value.real != 0;
}

bool compares(const Condition& condition, Fields fields) {
  const Side left = side_of(condition.left, fields);
  if (condition.kind == Condition::Kind::kTruth) return is_true(*left.value);
  if (condition.order == Order::kIn) return is_in(left, condition.right, fields);
  return is_ordered(condition.order, left, side_of(condition.right, fields));
}

}  // namespace

std::optional<Symbol> find_symbol(std::string_view written) {
  static constexpr std::array<std::pair<std::string_view, Symbol>, 8> kKnown{
      {{"==", {Order::kEqual}},
       {"<", {Order::kLess}},
       {"<=", {Order::kLessEqual}},
       {">", {Order::kGreater}},
       {">=", {Order::kGreaterEqual}},
       {"!=", {Order::kEqual, true}},
       {"in", {Order::kIn}},
       {"not in", {Order::kIn, true}}}};
  for (const auto& [name, symbol] : kKnown)
    if (name == written) return symbol;
  return std::nullopt;
}

Condition compare(Symbol symbol, Operand left, Operand right) {
  // The precision of a date is that of the value, which therefore stands on the right.
  if (right.field && !left.field && symbol.order != Order::kIn) {
    std::swap(left, right);
    symbol.order = mirror(symbol.order);
  }
  return {Condition::Kind::kComparison,
          symbol.is_negated,
          symbol.order,
          std::move(left),
          std::move(right),
          {}};
}

Condition join(Condition::Kind kind, std::vector<Condition> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  Condition joined;
  joined.kind = kind;
  joined.parts = std::move(parts);
  return joined;
}

bool holds(const Condition& condition, Fields fields) {
  const auto does_hold = [&](const Condition& part) { return holds(part, fields); };
  const auto& parts = condition.parts;
  bool found = false;
  if (condition.kind == Condition::Kind::kAll)
    found = std::all_of(parts.begin(), parts.end(), does_hold);
  else if (condition.kind == Condition::Kind::kAny)
    found = std::any_of(parts.begin(), parts.end(), does_hold);
  else
    found = compares(condition, fields);
  return found != condition.is_negated;
}

}  // namespace gossamer
