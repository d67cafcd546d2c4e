#include "chunking/context.h"

#include <doctest/doctest.h>

#include <string>

using namespace gossamer;

TEST_CASE("the line before a chunk is its title, or the last parts of its path") {
  CHECK(context_line("a/b.md", "A title") == "A title");
  CHECK(context_line("b.md", "") == "b.md");
  CHECK(context_line("one/two/three/four.md", "") == "two/three/four.md");
  CHECK(context_line("./one//two/./three/four.md/", "") == "two/three/four.md");
  CHECK(context_line("a/../b", "") == "a/../b");
  CHECK(context_line("", "") == "");
  CHECK(context_line("/", "") == "");
  CHECK(context_line("", " ") == " ");
}

TEST_CASE("a line is shortened between words, and has no spaces but single ones") {
  CHECK(shorten_line("  a\tb\u00A0\n c ") == "a b c");
  CHECK(shorten_line("") == "");
  const std::string word(50, 'w');
  CHECK(shorten_line(word + ' ' + word + ' ' + word) == word + ' ' + word);
  CHECK(shorten_line(std::string(500, 'w')) == std::string(120, 'w'));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ä";
  CHECK(shorten_line('x' + umlauts) == 'x' + umlauts.substr(0, 118));
}
