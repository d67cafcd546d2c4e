#pragma once

#include <cstddef>

#include "store/table.h"
#include "store/table_pack.h"

namespace gossamer {

// Fails with kDamaged unless every number of a catalogue is within its bounds, so that all of them
// may be used as they are. In one of a stranger nothing may be larger than what is ever made here.
void verify_sources(const Table& sources, std::size_t string_count, Origin origin);

// The bytes of text of every document.
Ints text_lengths(const Table& sources);

}  // namespace gossamer
