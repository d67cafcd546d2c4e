#pragma once

#include <vector>

#include "filters/filter.h"
#include "store/catalogue.h"

namespace gossamer {

// Says of each document, by row, whether the filter lets it through. What is known of its file
// (path, source, type, extension, size, modified) goes before what its metadata says; what the
// filter does not ask for is not looked at. kDamaged for metadata that is none.
std::vector<bool> allowed_documents(const Catalogue& catalogue, const Filter& filter);

}  // namespace gossamer
