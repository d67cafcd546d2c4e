// Any bytes as a text and as a question: snippets whose highlights rise within them, whose lines
// are those of the text, and which leave out no word of the question where there is room for all.
//
// The first two bytes are how many lines and characters there is room for; a question goes up to
// the first zero byte, then comes its text.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "query/snippet.h"
#include "query/units.h"

using namespace gossamer;
using namespace gossamer::fuzz;

namespace {

void check(const Snippet& snippet, std::string_view text) {
  std::size_t end = 0;
  for (const auto& highlight : snippet.highlights) {
    require(end <= highlight.first && highlight.first < highlight.second, "highlights rise");
    end = highlight.second;
  }
  require(end <= Characters(snippet.text).size(), "highlights lie within the snippet");
  const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  require(snippet.first_line <= snippet.line && snippet.line <= breaks,
          "lines are those of the text");
}

void check_small(const Snippet& snippet, std::size_t max_lines, std::size_t max_characters) {
  const auto breaks = std::count(snippet.text.begin(), snippet.text.end(), '\n');
  require(static_cast<std::size_t>(breaks) < max_lines, "a snippet has few lines");
  const std::size_t marks = std::string_view("… …").size() + 1;
  require(snippet.text.size() <= 4 * max_characters + marks, "a snippet has few characters");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t middle = std::min(input.find('\0'), input.size());
  const LexicalQuery words(input.substr(0, middle));
  const std::string_view text = input.substr(std::min(middle + 1, input.size()));
  const std::size_t max_lines = 1u + data[0] % 8;
  const std::size_t max_characters = 1u + data[1];

  const Snippet small = choose_snippet(text, words, nullptr, max_lines, max_characters);
  check(small, text);
  check_small(small, max_lines, max_characters);

  const Snippet whole = whole_snippet(text, words);
  check(whole, text);
  require(whole.text == text, "a whole text is shown as it is");
  require(whole.highlights.size() == words.find_in(text).size(), "each word is highlighted");

  const Snippet all = choose_snippet(text, words, nullptr, text.size() + 1, text.size() + 1);
  check(all, text);
  require(all.highlights.size() == whole.highlights.size(), "with room for all, all is chosen");
  require(all.line == whole.line, "the best line is the same");
  return 0;
}
