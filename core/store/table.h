#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace gossamer {

// How a column of numbers is written.
struct TableColumn {
  enum class Form : std::uint8_t {
    kPlain,   // not below zero
    kSigned,  // of either sign
    kRising,  // the distance from the row before
    kAfter,   // the distance from the row before and what that has in another column
    kHash4,   // four bytes each, as they are
    kHash8,
  };
  std::string_view name;
  Form form = Form::kPlain;
  std::size_t after = 0;  // the other column, for kAfter
};

struct Schema;

// A table that the rows of another one own rows of.
struct Child {
  std::string_view name;
  const Schema* schema;
};

// The columns of a table, and its children. How many rows of a child each row owns is one more
// column; those stand behind the others, in the order of the children.
struct Schema {
  std::vector<TableColumn> columns;
  std::vector<Child> children;
  bool is_bytes = false;  // one column of bytes: texts, end to end
  std::size_t cost = 1;   // of memory that a byte of these takes once it is read

  std::size_t width() const { return columns.size() + children.size(); }
  // The column that says how many rows of a child each row owns.
  std::size_t count_column(std::size_t child) const { return columns.size() + child; }
  TableColumn column(std::size_t number) const {
    return number < columns.size() ? columns[number]
                                   : TableColumn{children[number - columns.size()].name};
  }
};

using Ints = std::vector<std::int64_t>;

// Columns of one length, and child tables whose rows stand in the order of their owners.
struct Table {
  explicit Table(const Schema& of) : schema(&of), columns(of.width()) {
    for (const Child& child : of.children) children.emplace_back(*child.schema);
  }

  std::size_t size() const { return schema->is_bytes ? content.size() : columns[0].size(); }
  // Where the rows of a child begin that each row owns; one more than there are rows.
  Ints starts(std::size_t child) const;

  // Appends rows of another table of the same schema, in this order, and all they own.
  void append(const Table& other, std::span<const std::size_t> rows);
  void append(const Table& other);

  const Schema* schema;
  std::vector<Ints> columns;
  std::vector<Table> children;
  Bytes content;
};

}  // namespace gossamer
