#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "store/codec.h"
#include "store/table.h"

namespace gossamer {

// Whose bytes they are: those of strangers may take less memory for their size.
enum class Origin { kOwn, kOther };

// The bytes of a table: the number of its rows, its columns, its children; docs/format.md. Padded
// so that a reader that believes nobody may read them.
Bytes pack_table(const Table& table, const Codec& codec);

// What a stranger's table may take in memory whatever its size: one of many, and one alone.
inline constexpr std::uint64_t kMostOfMany = 1 << 20, kMostAlone = 1 << 24;

// Reads what pack_table() gave; kDamaged or kTruncated for anything else. Nothing is believed of
// the numbers themselves, save that counts of children are not negative and fit the children. What
// it takes is taken off a `budget` that several tables share, where one is given (kDamaged).
Table unpack_table(ByteView bytes, const Schema& schema, Origin origin, const Codec& codec,
                   std::uint64_t most = kMostOfMany, std::uint64_t* budget = nullptr);

}  // namespace gossamer
