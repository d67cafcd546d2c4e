#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exports.h"
#include "index/search.h"
#include "storage/container.h"

namespace gossamer::wasm {

// An index with the bytes that it reads: what JavaScript holds of it is its address.
struct OpenIndex {
  std::vector<Taken> taken;
  std::optional<Container> parts;  // until the index is opened
  std::unique_ptr<Index> index;
};

}  // namespace gossamer::wasm
