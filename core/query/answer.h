#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lexical/query.h"
#include "query/fusion.h"
#include "query/passages.h"
#include "text/json_writer.h"

namespace gossamer {

// A hit: a passage, and why it is one.
struct Hit {
  Passage passage;
  FusedChunk rank;
  std::optional<float> distance;
};

// Writes a hit as JSON: the one record of it that all hosts have. `words` are marked in its
// snippet, which is the whole text if it is to be.
void write_hit(JsonWriter& json, const Hit& hit, std::size_t number, const LexicalQuery& words,
               bool shows_whole);

}  // namespace gossamer
