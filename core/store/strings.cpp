#include "store/strings.h"

#include <algorithm>

#include "base/sort.h"
#include "store/schema.h"

namespace gossamer {

Strings Strings::read(ByteView bytes, Origin origin, const Codec& codec, std::uint64_t most) {
  const Table table = unpack_table(bytes, strings_schema(), origin, codec, most);
  const Ints starts = table.starts(0);
  const auto* content = reinterpret_cast<const char*>(table.children[0].content.data());
  Strings strings;
  expect(table.size() > 0 && starts[1] == 0, Reason::kDamaged,
         "the first string of the catalogue is not empty");
  for (std::size_t row = 1; row < table.size(); ++row)
    strings.texts_.emplace_back(content + starts[row],
                                static_cast<std::size_t>(starts[row + 1] - starts[row]));
  std::vector<std::string_view> sorted(strings.texts_.begin(), strings.texts_.end());
  sort_values(sorted.begin(), sorted.end());
  expect(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), Reason::kDamaged,
         "a string of the catalogue is there twice");
  return strings;
}

Strings Strings::of(std::vector<std::string> sorted) {
  Strings strings;
  strings.texts_ = std::move(sorted);
  return strings;
}

Bytes Strings::pack(const Codec& codec) const {
  Table table(strings_schema());
  for (const std::string& text : texts_) {
    table.columns[0].push_back(static_cast<std::int64_t>(text.size()));
    Bytes& content = table.children[0].content;
    content.insert(content.end(), text.begin(), text.end());
  }
  return pack_table(table, codec);
}

std::int64_t Strings::number_of(std::string_view text) {
  for (std::size_t known = numbers_.size(); known < texts_.size(); ++known)
    numbers_.emplace(texts_[known], static_cast<std::int64_t>(known));
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto number = static_cast<std::int64_t>(texts_.size());
  numbers_.emplace(text, number);
  texts_.emplace_back(text);
  return number;
}

}  // namespace gossamer
