#pragma once

#include "base/bytes.h"
#include "store/codec.h"
#include "store/table.h"

namespace gossamer {

// Whose bytes they are: those of strangers may take less memory for their size.
enum class Origin { kOwn, kOther };

// The bytes of a table: the number of its rows, its columns, its children; docs/format.md. Padded
// so that a reader that believes nobody may read them.
Bytes pack_table(const Table& table, const Codec& codec);

// Reads what pack_table() gave; kDamaged or kTruncated for anything else. Nothing is believed of
// the numbers themselves, save that counts of children are not negative and fit the children.
Table unpack_table(ByteView bytes, const Schema& schema, Origin origin, const Codec& codec);

}  // namespace gossamer
