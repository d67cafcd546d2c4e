// Any bytes as a document of any markup, with any captures: chunks that stand in their order within
// the text, hold no more tokens than they may, and leave no token out.
//
// The first byte chooses the markup, the second the size and the tokenizer; of source code the next
// twelve bytes are three captures.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "chunking/chunks.h"
#include "chunking/context.h"
#include "fuzz/input.h"

using namespace gossamer;
using namespace gossamer::fuzz;

namespace {

constexpr std::array<std::string_view, 6> kMarkups = {"plain", "markdown",  "rst",
                                                      "rows",  "code/rust", "code/text"};
constexpr std::string_view kLine = "a path/of words";

bool is_letter(char byte) { return byte > ' ' || byte < 0; }

// Words, or (contrary) every third byte and every newline, whatever stands there.
std::vector<std::uint32_t> find_tokens(std::string_view text, bool is_contrary) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t at = 0; at < text.size(); ++at) {
    const bool is_word = is_letter(text[at]) && (at == 0 || !is_letter(text[at - 1]));
    if (is_contrary ? at % 3 == 0 || text[at] == '\n' : is_word) starts.push_back(at);
  }
  return starts;
}

// A contrary tokenizer finds tokens in the space around chunks too. A byte order mark is no text.
void check(std::string_view text, const ChunkOptions& options, const FindTokens& find,
           bool is_contrary) {
  const auto is_empty = [&](TextSpan span) {  // space of any script is
    return find(words_of(text, trim(text, span))).empty();
  };
  std::size_t end = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (const ChunkSpan& chunk : chunk_document(text, options, find)) {
    const TextSpan span = chunk.span;
    require(end <= span.start && span.start < span.end && span.end <= text.size(),
            "chunks rise within the text");
    require(is_contrary || is_empty({end, span.start}), "no token stands between chunks");
    require(trim(text, span) == span, "a chunk has no space at its ends");
    std::vector<std::string_view> headings;
    for (const TextSpan& heading : chunk.context) {
      require(heading.start <= heading.end && heading.end <= text.size(),
              "headings lie within the text");
      headings.push_back(words_of(text, heading));
    }
    const std::string whole =
        embedded_text(shorten_line(options.line), headings, words_of(text, span));
    const bool is_character = span.end - span.start <= 4;
    require(is_character || find(whole).size() <= options.size, "a chunk fits the model");
    end = span.end;
  }
  require(is_contrary || is_empty({end, text.size()}), "no token stands behind the last chunk");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 14) return 0;
  const bool is_contrary = data[1] % 2 == 1;
  const std::string_view text(reinterpret_cast<const char*>(data + 14), size - 14);
  std::vector<Capture> captures;
  for (std::size_t i = 2; i < 14; i += 4) {
    const std::size_t start = data[i] * (text.size() + 1) / 256;
    const std::size_t end = std::min(start + data[i + 1], text.size() + data[i + 3] / 250);
    captures.push_back({data[i + 3] % 2 == 0, start, end, data[i + 2] * end / 256});
  }
  const ChunkOptions options{32u + data[1] / 8, kLine, kMarkups[data[0] % kMarkups.size()],
                             captures};
  const FindTokens find = [&](std::string_view some) { return find_tokens(some, is_contrary); };
  try {
    check(text, options, find, is_contrary);
  } catch (const Error&) {  // a capture outside the text
  }
  return 0;
}
