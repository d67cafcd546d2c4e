#include "store/table.h"

#include <numeric>

namespace gossamer {

Ints Table::starts(std::size_t child) const {
  const Ints& counts = columns[schema->count_column(child)];
  Ints starts(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

void Table::append(const Table& other, std::span<const std::size_t> rows) {
  if (schema->is_bytes) {
    for (const std::size_t row : rows) content.push_back(other.content[row]);
    return;
  }
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (const std::size_t row : rows) columns[column].push_back(other.columns[column][row]);
  for (std::size_t child = 0; child < children.size(); ++child) {
    const Ints starts = other.starts(child);
    std::vector<std::size_t> owned;
    for (const std::size_t row : rows)
      for (std::int64_t i = starts[row]; i < starts[row + 1]; ++i)
        owned.push_back(static_cast<std::size_t>(i));
    children[child].append(other.children[child], owned);
  }
}

void Table::append(const Table& other) {
  content.insert(content.end(), other.content.begin(), other.content.end());
  for (std::size_t column = 0; column < columns.size(); ++column)
    columns[column].insert(columns[column].end(), other.columns[column].begin(),
                           other.columns[column].end());
  for (std::size_t child = 0; child < children.size(); ++child)
    children[child].append(other.children[child]);
}

}  // namespace gossamer
