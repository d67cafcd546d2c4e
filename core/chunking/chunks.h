#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "chunking/outline.h"

namespace gossamer {

// A piece of a document's text, and the headings or enclosing signatures that it stands under,
// outermost first.
struct ChunkSpan {
  TextSpan span;
  std::vector<TextSpan> context;
};

// Where each token of a text begins, in bytes; never falling. Any bytes will do.
using FindTokens = std::function<std::vector<std::uint32_t>(std::string_view)>;

struct ChunkOptions {
  std::size_t size;            // tokens that a chunk with its context has at most
  std::string_view line = {};  // stands before each chunk when it is embedded
  // "plain", "markdown", "rst", "rows" or "code/LANGUAGE"; any other is divided as plain text.
  std::string_view markup = "plain";
  std::span<const Capture> captures = {};  // of source code
};

// Divides a document; nothing in it that has tokens is left out, nothing is in two chunks. No
// embedded_text() of a chunk with its headings and the line has more than `size` tokens, unless it
// is one character that has so many. Chunks stand in the order of the text, without space at their
// ends. Empty for a text in which no token is found. kInvalidArgument for a size below 32.
std::vector<ChunkSpan> chunk_document(std::string_view text, const ChunkOptions& options,
                                      const FindTokens& find_tokens);

}  // namespace gossamer
