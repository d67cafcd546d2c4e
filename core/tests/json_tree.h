#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace gossamer {

// JSON that was read back, as values that own what they hold.
struct JsonTree {
  using Kind = JsonValue::Kind;

  Kind kind = Kind::kNothing;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<JsonTree> items;  // of an object names and values in turn

  bool is(Kind other) const { return kind == other; }
  const JsonTree* find(std::string_view name) const {
    for (std::size_t i = 0; kind == Kind::kObject && i + 1 < items.size(); i += 2)
      if (items[i].text == name) return &items[i + 1];
    return nullptr;
  }
};

inline JsonTree tree_at(const Json& json, std::size_t at) {
  const JsonValue& value = json.values()[at];
  JsonTree tree{value.kind, value.integer, value.real, std::string(value.text), {}};
  for (const std::size_t item : json.items(at)) {
    tree.items.push_back(tree_at(json, item));
    if (value.is(JsonTree::Kind::kObject)) tree.items.push_back(tree_at(json, item + 1));
  }
  return tree;
}

inline JsonTree read_tree(std::string_view text) {
  Json json;
  json.read(text, "this", Reason::kDamaged);
  return tree_at(json, 0);
}

}  // namespace gossamer
