#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
enum class Order : std::uint8_t { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn };
struct Symbol {
  Order order;
  bool is_negated = false;  // != and not in
};
// Those of orders first, then the others.
inline constexpr std::array<std::string_view, 8> kSymbols{"==", "<",  "<=", ">",
                                                          ">=", "!=", "in", "not in"};
// Of the number of one of them.
Symbol symbol_of(std::size_t number);

// A value, and the date that it is: read once for what many documents are compared with.
struct Constant {
  JsonValue value;
  Date date;
  Date clock;  // of what is asked for, if it names its zone
};

// What is compared: a field by the number of its name, or constants by their numbers.
struct Operand {
  enum class Kind : std::uint8_t { kField, kConstant, kList };

  Kind kind = Kind::kField;
  std::size_t first = 0;
  std::size_t count = 1;  // of a list
};

// Conditions on documents, all of which must hold. Those that are joined stand behind what joins
// them, in one list. What texts and names are views of must outlive it.
class Conditions {
 public:
  enum class Kind : std::uint8_t { kAll, kAny, kComparison, kTruth };

  // The number of a field, a new one if its name is not there yet; kInvalidArgument for too many.
  std::size_t number_of(std::string_view name);
  bool has(std::string_view name) const;
  const std::vector<std::string_view>& names() const { return names_; }

  std::size_t constant_count() const { return constants_.size(); }
  Operand add_constant(const JsonValue& value);
  void add_truth(Operand value);
  void add_comparison(Symbol symbol, Operand left, Operand right);
  // What is added in between is joined.
  std::size_t begin(Kind kind);
  void end(std::size_t begun, bool is_negated);

  bool is_bool(Operand constant) const;
  // Whether all hold for a document; never fails.
  bool hold(Fields fields) const;

 private:
  struct Test {
    Kind kind;
    bool is_negated;
    Order order;
    Operand left, right;  // of a comparison; the left one alone says whether it is true
    std::size_t end;      // behind what it joins
  };

  void add(Kind kind, Symbol symbol, Operand left, Operand right);
  bool holds(std::size_t number, Fields fields) const;
  bool is_in(const Constant& value, Operand group, Fields fields) const;
  Constant value_of(Operand operand, Fields fields) const;

  std::vector<std::string_view> names_;
  std::vector<Constant> constants_;
  std::vector<Test> tests_;
};

}  // namespace gossamer
