// Any bytes as a text and as a question: snippets whose highlights and code rise within them, whose
// lines are those of the text, and which leave out no word of the question where there is room for
// all; and what is shown of a text stands in it, in its order.
//
// The first two bytes are how many lines and characters there is room for, and how the text is
// marked up; a question goes up to the first zero byte, then comes its text.

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

void check_spans(const Snippet::Spans& spans, std::size_t length) {
  std::size_t end = 0;
  for (const auto& span : spans) {
    require(end <= span.first && span.first < span.second, "spans rise");
    end = span.second;
  }
  require(end <= length, "spans lie within the snippet");
}

void check(const Snippet& snippet, std::string_view text) {
  const std::size_t length = Characters(snippet.text).size();
  check_spans(snippet.highlights, length);
  check_spans(snippet.code, length);
  const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  require(snippet.first_line <= snippet.line && snippet.line <= breaks,
          "lines are those of the text");
  require(snippet.begin <= snippet.end && snippet.end <= text.size(), "the best is of the text");
  require(snippet.best.first <= snippet.best.second && snippet.best.second <= length,
          "the best is shown");
}

void check_shown(const Shown& shown, std::string_view text, Marks marks) {
  std::size_t source = 0, at = 0;
  for (std::size_t byte = 0; byte <= shown.text().size(); ++byte) {
    require(shown.source_of(byte) >= source, "what is shown stands in its order");
    source = shown.source_of(byte);
  }
  require(source <= text.size(), "what is shown stands in the text");
  for (const TextSpan& span : shown.code()) {
    require(at <= span.start && span.start < span.end, "code rises");
    at = span.end;
  }
  require(at <= shown.text().size(), "code lies within what is shown");
  require(std::is_sorted(shown.sections().begin(), shown.sections().end()), "sections rise");
  const bool is_to_the_letter = marks == Marks::kNone || marks == Marks::kCode;
  require(!is_to_the_letter || shown.text() == text, "a text without marks is shown as it is");
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
  const auto marks = static_cast<Marks>(data[0] / 8 % 5);
  const Shown shown = show(text, marks);
  check_shown(shown, text, marks);

  const Snippet small = choose_snippet(shown, words, nullptr, max_lines, max_characters);
  check(small, text);
  check_small(small, max_lines, max_characters);

  const Snippet whole = whole_snippet(shown, words);
  check(whole, text);
  require(whole.text == shown.text(), "all that is shown is the whole snippet");
  require(whole.highlights.size() == words.find_in(shown.text()).size(),
          "each word is highlighted");

  const Snippet all = choose_snippet(shown, words, nullptr, text.size() + 1, 4 * text.size() + 1);
  check(all, text);
  require(all.line == whole.line, "the best line is the same");
  return 0;
}
