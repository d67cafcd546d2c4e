#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "filters/dates.h"
#include "text/json.h"

namespace gossamer {

// The values of the fields that a filter asks for, in the order of their names; nullptr for what a
// document does not have.
using Fields = std::span<const JsonValue* const>;

// What may stand between two values.
enum class Order { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn };
struct Symbol {
  Order order;
  bool is_negated = false;  // != and not in
};
inline constexpr std::string_view kSymbols = "==, <, <=, >, >=, !=, in, not in";
std::optional<Symbol> find_symbol(std::string_view written);

// A value, and the date that it is: read once for what many documents are compared with.
struct Constant {
  explicit Constant(JsonValue given) : value(std::move(given)), date(date_of(value.text)) {}

  JsonValue value;
  Date date;
};

// What is compared: a field by the number of its name, or constants.
struct Operand {
  std::optional<std::size_t> field;
  std::vector<Constant> constants;  // one, unless it is a list
  bool is_list = false;
};

// A test of documents.
struct Condition {
  enum class Kind { kAll, kAny, kComparison, kTruth };

  Kind kind = Kind::kAll;
  bool is_negated = false;
  Order order = Order::kEqual;
  Operand left, right;           // of a comparison; the left one alone says whether it is true
  std::vector<Condition> parts;  // of which all or any must hold
};

Condition compare(Symbol symbol, Operand left, Operand right);
// Joins conditions; one alone stays as it is.
Condition join(Condition::Kind kind, std::vector<Condition> parts);
// Whether it holds for a document; never fails.
bool holds(const Condition& condition, Fields fields);

}  // namespace gossamer
