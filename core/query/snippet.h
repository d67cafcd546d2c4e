#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "lexical/query.h"
#include "marks/shown.h"

namespace gossamer {

// Lines out of what is shown of a text, without the indentation they share and without empty ones.
struct Snippet {
  using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

  std::string text;
  // Characters (code points) of `text`, rising, apart: that answer the question, that are code.
  Spans highlights, code;
  Spans::value_type best;  // likewise: the line that answers best, or the sentence of a long one
  std::size_t line = 0;    // of the chunk, from 0: the line that answers best
  std::size_t first_line = 0;      // of the chunk, from 0: where `text` begins
  std::size_t begin = 0, end = 0;  // bytes of the chunk: what answers best
};

// How well the bytes of a text from one place to another answer, from 0 to 1.
using Relevance = FunctionRef<double(std::size_t begin, std::size_t end)>;

// The stretch of a text that holds most of the question's words, the rarer the better, and answers
// best, where that is known; its beginning where neither is. What answers best stands in its
// middle, if there is text of the same section before it. At most so many lines and characters of
// what is shown of the text, which is UTF-8 and may hold surrogates (of three bytes); other bytes
// are a character each. Relevance is asked of bytes of the text itself.
Snippet choose_snippet(const Shown& shown, const LexicalQuery& words,
                       const Relevance* relevance = nullptr, std::size_t max_lines = 6,
                       std::size_t max_characters = 600);

// All that is shown of a text, with the question's words in it.
Snippet whole_snippet(const Shown& shown, const LexicalQuery& words,
                      const Relevance* relevance = nullptr);

}  // namespace gossamer
