#pragma once

namespace gossamer {

// std::vector::insert at the end, for few values: in WebAssembly that takes most of a kilobyte for
// each type.
template <class Values, class More>
void append(Values& values, const More& more) {
  for (const auto& value : more) values.push_back(value);
}

}  // namespace gossamer
