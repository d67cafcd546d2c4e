#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lexical/query.h"
#include "links/url.h"
#include "query/fusion.h"
#include "query/passages.h"
#include "query/snippet.h"
#include "query/strength.h"
#include "query/tokens.h"
#include "text/json_writer.h"

namespace gossamer {

// A hit: a passage, and why it is one.
struct Hit {
  Passage passage;
  FusedChunk rank;
  std::optional<float> distance;
  const TokenLikeness* tokens = nullptr;  // of the passage's embedded text
  Grounds grounds = {};
  std::optional<double> probability = std::nullopt;  // that it answers the question
  std::size_t copies = 0;                            // of it elsewhere
  std::vector<Hit> also = {};                        // the first of these
  std::vector<Hit> more = {};  // of the same documents, which left room for others
  std::optional<Snippet> snippet = std::nullopt;  // once it was chosen

  std::size_t row() const { return passage.chunk.document->row; }  // of its document
};

// What hits are shown by.
struct Showing {
  LexicalQuery words;                      // that are marked
  const QuestionTokens* tokens = nullptr;  // that say where an answer stands
  bool is_whole = false;                   // the whole text is the snippet
  const Site* site = nullptr;              // that hits lead to
};

// What is shown of a hit: what was chosen, or is now.
Snippet snippet_of(const Hit& hit, const Showing& showing);

// Writes a hit as JSON: the one record of it that all hosts have.
void write_hit(JsonWriter& json, const Hit& hit, std::size_t number, const Showing& showing);

}  // namespace gossamer
