#include "query/snippet.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "query/units.h"

using namespace gossamer;

namespace {

using Words = std::vector<std::string>;

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

Snippet choose(std::string_view text, std::string_view question, std::size_t max_lines = 3,
               std::size_t max_characters = 320) {
  return choose_snippet(show(text, Marks::kNone), LexicalQuery(question), nullptr, max_lines,
                        max_characters);
}

std::string best_of(const Snippet& snippet) {
  return std::string(Characters(snippet.text).slice(snippet.best.first, snippet.best.second));
}

// What is highlighted in a snippet without characters of several bytes.
Words marked(const Snippet& snippet) {
  Words words;
  for (const auto& [start, end] : snippet.highlights)
    words.push_back(snippet.text.substr(start, end - start));
  return words;
}

}  // namespace

TEST_CASE("a snippet is where the words of the question are") {
  const std::string text =
      repeat("Nothing to see here.\n", 20) + "The lease is due in March.\nx\nx\nx\nx";

  const Snippet snippet = choose(text, "when is the lease due");

  CHECK(snippet.text == "Nothing to see here.\nThe lease is due in March.\nx");
  CHECK(marked(snippet) == Words{"lease", "due"});
  CHECK(snippet.line == 20);
  CHECK(snippet.first_line == 19);
}

TEST_CASE("a rare word draws the snippet more than a common one") {
  const char* text = "The lease.\n\nA lease.\n\nThis lease.\n\nAnd the deposit.\n\nLease.";

  CHECK(choose(text, "lease deposit", 1).text == "And the deposit.");
}

TEST_CASE("each word counts once and a little for each time, wherever it stands") {
  CHECK(choose("rent rent\nlease rent\nlease lease", "lease rent", 1).text == "lease rent");
  CHECK(choose("rent\nrent rent\nrent", "rent", 1).text == "rent rent");
}

TEST_CASE("a text without the words is shown from its beginning") {
  const Snippet snippet = choose("\n \none\ntwo\nthree\nfour", "lease");

  CHECK(snippet.text == "one\ntwo\nthree");
  CHECK(snippet.highlights.empty());
  CHECK(snippet.line == 2);
  CHECK(snippet.first_line == 2);
}

TEST_CASE("the best line stands in the middle, where there is text on both sides") {
  CHECK(choose("a\nb\nc\nlease\nd\ne", "lease").text == "c\nlease\nd");
  CHECK(choose("a\nb\nc\nlease", "lease").text == "b\nc\nlease");
  CHECK(choose("lease\na\nb\nc", "lease").text == "lease\na\nb");
}

TEST_CASE("what answers in a paragraph of one line stands in the middle of what is shown") {
  const std::string before = repeat("This goes on and says nothing of it. ", 30);
  const std::string after = repeat(" That goes on and says no more.", 30);
  const std::string stream = repeat("words without an end that ", 40);
  for (const auto& [first, last] : {std::pair(before, after), std::pair(stream, " " + stream)}) {
    const std::string answer = "The roof was replaced in 1998 by a firm";
    const Snippet snippet = choose(first + answer + last, "roof replaced", 6, 520);

    const std::size_t at = snippet.text.find(answer);
    REQUIRE(at != std::string::npos);
    CHECK(at > 100);
    CHECK(snippet.text.size() - at - answer.size() > 100);
  }
}

TEST_CASE("an answer that goes on from one piece of a sentence to the next is shown whole") {
  for (std::size_t begin = 600; begin < 760; ++begin) {
    std::string text = repeat("filler ", 200);
    const std::string answer = " roof replaced in 1998 by a firm from the town that ";
    text.replace(begin, answer.size(), answer);

    CHECK(choose(text, "roof replaced", 6, 520).text.find(answer) != std::string::npos);
  }
}

TEST_CASE("the best line is the first of several") {
  const Snippet snippet = choose("the rent\n\nthe lease is due\nlease due", "lease due rent");

  CHECK(snippet.text == "the rent\nthe lease is due\nlease due");
  CHECK(snippet.line == 2);
  CHECK(snippet.first_line == 0);
}

TEST_CASE("what a stretch means counts beside its words") {
  const std::string text = "One apple.\nTwo pears.\nThree plums.\nFour figs.\nFive dates.";
  const std::size_t figs = text.find("Four"), dates = text.find("Five");
  // The stretch that holds the line of the figs answers.
  const auto match = [&](std::size_t begin, std::size_t end) {
    return begin <= figs && figs < end ? 0.9 : 0.1;
  };
  const Relevance relevance(match);
  const LexicalQuery words("two");

  const Snippet snippet = choose_snippet(show(text, Marks::kNone), words, &relevance, 1);
  const Snippet whole = whole_snippet(show(text, Marks::kNone), words, &relevance);

  CHECK(snippet.text == "Four figs.");
  for (const Snippet& one : {snippet, whole}) {
    CHECK(one.line == 3);
    CHECK(one.begin == figs);
    CHECK(one.end == dates - 1);
    CHECK(best_of(one) == "Four figs.");
  }
}

TEST_CASE("of a long line sentences are shown, with a mark where it goes on") {
  const std::string text = repeat("Filler goes here. ", 30) + "The lease is due in March.";

  const Snippet last = choose(text, "lease due", 3, 40);
  const Snippet middle = choose(text + repeat(" More filler.", 30), "lease due", 3, 60);

  CHECK(last.text == "… The lease is due in March.");
  CHECK(last.highlights == std::vector<std::pair<std::size_t, std::size_t>>{{6, 11}, {15, 18}});
  CHECK(best_of(last) == "The lease is due in March.");
  CHECK(best_of(middle) == "The lease is due in March.");
  CHECK(middle.text == "… Filler goes here. The lease is due in March. More filler. …");
}

TEST_CASE("sentences of Chinese and Japanese end without space") {
  const std::string text = repeat("これは文です。", 30) + "東京の部屋！" + repeat("次の文？", 30);

  CHECK(choose(text, "東京", 3, 14).text == "… 東京の部屋！次の文？次の文？ …");
}

TEST_CASE("a sentence longer than a snippet is cut at a space, a word anywhere") {
  CHECK(choose("aaaa bbbb cccc dddd", "dddd", 1, 10).text == "… cccc dddd");
  CHECK(choose("abcdefghijklmno", "x", 1, 10).text == "abcdefghij …");
  const Snippet cut = choose("abcdefghijklmno", "abcdefghijklmno", 1, 10);
  CHECK(marked(cut) == Words{"abcdefghij"});
}

TEST_CASE("lines lose the indentation that they share, of any kind of space") {
  const char* text = "class A:\n    def pay(self):\n        self.rent += 1\n";

  CHECK(choose(text, "pay rent", 2).text == "def pay(self):\n    self.rent += 1");
  CHECK(choose("\t lease\n\u3000\u00A0\u2003due", "lease due").text == "lease\n\u2003due");
}

TEST_CASE("lengths are counted in characters") {
  const std::string surrogate = "\xED\xA0\x80";
  const Snippet snippet = choose("😀é" + surrogate + " Größe 東京", "größe 東京");

  CHECK(snippet.text == "😀é" + surrogate + " Größe 東京");
  CHECK(snippet.highlights == std::vector<std::pair<std::size_t, std::size_t>>{{4, 9}, {10, 12}});
  CHECK(choose("éééé éééé", "x", 1, 9).text == "éééé éééé");
  CHECK(choose("éééé éééé", "x", 1, 8).text == "éééé …");
}

TEST_CASE("what holds nothing but space has no snippet") {
  for (const char* text : {"", "\n", " \t\r\n\u3000\n\u2028"}) {
    const Snippet snippet = choose(text, "lease");
    CHECK(snippet.text.empty());
    CHECK(snippet.highlights.empty());
    CHECK(snippet.line == 0);
  }
}

TEST_CASE("a whole text is shown as it is") {
  const std::string text = "  é rent\n\n  lease, due. " + repeat("More. ", 40) + "\n";

  const Snippet snippet = whole_snippet(show(text, Marks::kNone), LexicalQuery("lease due rent"));

  CHECK(snippet.text == text);
  CHECK(snippet.highlights ==
        std::vector<std::pair<std::size_t, std::size_t>>{{4, 8}, {12, 17}, {19, 22}});
  CHECK(snippet.line == 2);
  CHECK(snippet.first_line == 0);
  CHECK(whole_snippet(show("", Marks::kNone), LexicalQuery("lease")).line == 0);
}

TEST_CASE("a text of very many sentences, words or lines takes no longer than it must") {
  for (const char* part : {"a. ", "a ", "a\n", "\n", "。"}) {
    const Snippet snippet = choose(repeat(part, 300'000) + "lease.", "a lease");
    CHECK(snippet.text.ends_with("lease."));
  }
}

TEST_CASE("a snippet without room for a character is refused") {
  CHECK_THROWS_AS(choose("lease", "lease", 3, 0), Error);
}
