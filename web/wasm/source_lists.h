#pragma once

#include "exports.h"
#include "store/source_list.h"

namespace gossamer::wasm {

// What unpacks columns: the page has zstd, and packs nothing.
const Codec& columns_codec();

}  // namespace gossamer::wasm
