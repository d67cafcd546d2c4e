#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "store/codec.h"
#include "store/schema.h"
#include "store/strings.h"
#include "store/table_pack.h"

namespace gossamer {

// Sources and all they own in one piece: what packages carry from machine to machine, and what
// the catalogue of an index or a single file was before there were segments. Never changed once
// it is made.
class SourceList {
 public:
  SourceList() = default;
  // Believes the tables.
  SourceList(Strings strings, Table sources)
      : strings_(std::move(strings)), sources_(std::move(sources)) {}

  // Reads what pack() gave; kNotGossamer, kUnknownVersion, kTruncated or kDamaged for anything
  // else.
  static SourceList read(ByteView bytes, Origin origin, const Codec& codec);
  Bytes pack(const Codec& codec) const;

  // For who makes a list of other tables: the numbers that their strings have here, and then their
  // rows. Texts that are kept there are in this segment.
  Ints number_strings(const Strings& strings);
  void append(const Ints& numbers, const Table& sources, std::span<const std::size_t> rows,
              std::int64_t segment = kHere);
  void append_all(const Ints& numbers, const Table& sources, std::int64_t segment = kHere);

  const Strings& strings() const { return strings_; }
  const Table& sources() const { return sources_; }
  Table take_sources() && { return std::move(sources_); }
  const Table& documents() const { return sources_.children[SourceColumns::kDocument]; }
  // The bytes of text of every document.
  Ints text_lengths() const;
  // The rows in the order of their names.
  std::vector<std::size_t> order() const;

  // These sources in this order, with the strings that they need, sorted: the same bytes for the
  // same content. kInvalidArgument for a row that is not there.
  SourceList take(std::span<const std::size_t> rows) const;
  // These and then others.
  SourceList join(const SourceList& other) const;
  // With texts elsewhere: a segment and an offset for each document (kInvalidArgument).
  SourceList place_texts(std::span<const std::int64_t> segments,
                         std::span<const std::int64_t> offsets) const;
  SourceList put_texts_away() const;
  // With other roots, in place of each that has another name: one for each string.
  SourceList rename_roots(std::span<const std::string> names) const;

  // Gives the bytes that tell this content from any other, one piece after the other, whatever
  // changes led to it: neither rows, numbers of strings nor places of texts are part of them.
  void give_content(const std::function<void(ByteView)>& take_piece) const;

 private:
  // Translates what the last rows, from these on, were appended with.
  void settle(const Ints& numbers, std::size_t first, std::size_t first_document,
              std::int64_t segment);

  Strings strings_;
  Table sources_{sources_schema()};
};

}  // namespace gossamer
