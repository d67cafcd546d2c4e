#pragma once

#include <doctest/doctest.h>

#include <string>

#include "store/codec.h"
#include "store/records.h"
#include "store/segment_file.h"
#include "store/source_rows.h"

namespace gossamer::testing {

// Runs of one byte: what tests need of a packer.
inline const Codec kRuns{[](ByteView bytes) {
                           Bytes packed;
                           for (std::size_t at = 0; at < bytes.size();) {
                             std::size_t end = at;
                             while (end < bytes.size() && end - at < 255 && bytes[end] == bytes[at])
                               ++end;
                             packed.push_back(static_cast<std::uint8_t>(end - at));
                             packed.push_back(bytes[at]);
                             at = end;
                           }
                           return packed;
                         },
                         [](ByteView packed, std::span<std::uint8_t> bytes) {
                           std::size_t at = 0;
                           for (std::size_t i = 0; i + 1 < packed.size(); i += 2)
                             for (int n = 0; n < packed[i]; ++n) {
                               if (at == bytes.size()) return false;
                               bytes[at++] = packed[i + 1];
                             }
                           return at == bytes.size();
                         }};

inline const Codecs kCodecs{kRuns,
                            {[](ByteView text, ByteView) { return kRuns.pack(text); },
                             [](ByteView packed, ByteView, std::span<std::uint8_t> text) {
                               return kRuns.unpack(packed, text);
                             },
                             nullptr}};

inline SourceRecord file_of(int number) {
  SourceRecord source;
  source.root = "/home/ada";
  source.name = "notes/" + std::to_string(number) + ".md";
  source.kind = "markdown";
  source.reader_version = 3;
  source.size = 1000 + number;
  source.time_ns = 1'700'000'000'000'000'000 + number;
  source.content_hash = 0xfedcba9876543210 + static_cast<std::uint64_t>(number);
  DocumentRecord document;
  document.kind = "markdown";
  document.unit = "line";
  document.length = source.size;
  document.title_span = {2, 9};
  document.places = {{0, 1}, {500, 7}};
  document.first_chunk = 10 * number + 1;
  document.chunks = {{{{0, 300}, {}}, 0xffffffff},
                     {{{301, 700}, {{2, 9}, {280, 290}}}, 5},
                     {{{600, 1000}, {{2, 9}, {590, 595}}}, 6}};
  source.documents = {document};
  return source;
}

inline void expect_equal(const SourceRecord& a, const SourceRecord& b) {
  CHECK(path_of(a.root, a.name) == path_of(b.root, b.name));
  CHECK(a.content_hash == b.content_hash);
  CHECK(a.time_ns == b.time_ns);
  REQUIRE(a.documents.size() == b.documents.size());
  for (std::size_t i = 0; i < a.documents.size(); ++i) {
    const DocumentRecord &one = a.documents[i], &other = b.documents[i];
    CHECK(one.length == other.length);
    CHECK(one.first_chunk == other.first_chunk);
    CHECK(one.title_span == other.title_span);
    CHECK(one.places.size() == other.places.size());
    REQUIRE(one.chunks.size() == other.chunks.size());
    for (std::size_t j = 0; j < one.chunks.size(); ++j) {
      CHECK(one.chunks[j].place.span == other.chunks[j].place.span);
      CHECK(one.chunks[j].place.context == other.chunks[j].place.context);
      CHECK(one.chunks[j].check == other.chunks[j].check);
    }
  }
}

}  // namespace gossamer::testing
