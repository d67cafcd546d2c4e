#include "query/question.h"

#include <doctest/doctest.h>

#include "lexical/words.h"
#include "query/exact_words.h"
#include "query/requirements.h"

using namespace gossamer;

namespace {

std::string text_of(std::string_view written) { return read_question(written).text; }

// Each with its sign, and a letter for its kind.
std::string required(std::string_view written) {
  std::string all;
  for (const Requirement& one : read_question(written).requirements) {
    if (!all.empty()) all += ' ';
    all += one.is_excluded ? '-' : '+';
    all += "wpt"[one.kind];
    all += '(' + one.text + ')';
  }
  return all;
}

bool is_plain(std::string_view written) {
  const Question question = read_question(written);
  return question.text == written && question.requirements.empty() && question.files.empty();
}

// What a text holds of what a question requires.
Held held_by(std::string_view written, std::string_view title, std::string_view body) {
  const Question question = read_question(written);
  LexicalQuery query(question.text);
  const RequirementTest test(question.requirements, query);
  TermCounter counter(query);
  counter.add(title);
  counter.add(body);
  return test.find(counter.found(), title, body);
}

}  // namespace

TEST_CASE("phrases, words that must and must not be there, and fields are read") {
  CHECK(required("\"must be idempotent\"") == "+p(must be idempotent)");
  CHECK(required("jaguar -car +cat") == "-w(car) +w(cat)");
  CHECK(required("lock -\"thread pool\" +os.path") == "-p(thread pool) +p(os.path)");
  CHECK(required("title:\"getting started\" setup") == "+t(getting started)");
  CHECK(required("“so quoted” here") == "+p(so quoted)");
  CHECK(text_of("jaguar -car +cat") == "jaguar cat");
  CHECK(text_of("path:docs type:pdf lease") == "lease");

  const Question question = read_question("-path:tests path:*.py type:pdf lease");
  REQUIRE(question.files.size() == 3);
  CHECK(read_question("path:api/guide x").files[0].filter ==
        R"({"paths":["*api/guide*"],"ignores_case":true})");
  CHECK(question.files[0].filter == R"({"paths":["*tests*"],"ignores_case":true})");
  CHECK(question.files[0].is_excluded);
  CHECK(question.files[1].filter == R"({"paths":["*.py"],"ignores_case":true})");
  CHECK(question.files[2].filter == R"({"types":["pdf"]})");
}

TEST_CASE("what is no syntax is text, to the letter") {
  for (const char* written :
       {"when is  the lease due", "a \"quote that never ends", "C++ and a + b", "- a list",
        "5\" disk", "tar -x or -1", "+1 nucleosomes", "see http://host/path: it", "path: ", "type:",
        "\"\"", "\"...\" lease", "-car", "path:docs", "+", "-", "re: path", "-\"car\""})
    CHECK_MESSAGE(is_plain(written), written);
}

TEST_CASE("quotes in a sentence are quotes, unless a sign says more") {
  CHECK(is_plain("What did Caroline take away from the book \"Becoming Nicole\"?"));
  CHECK(is_plain("the song \"Hello\" was first sung by which of all the artists of that year"));
  CHECK(required("who wrote +\"Becoming Nicole\"?") == "+p(Becoming Nicole)");
  CHECK(required("how do I handle \"connection reset by peer\" in sockets") ==
        "+p(connection reset by peer)");
}

TEST_CASE("more requirements than can be kept are text") {
  std::string written = "lease";
  for (int i = 0; i < 40; ++i) written += " +word" + std::to_string(i);

  const Question question = read_question(written);

  CHECK(question.requirements.size() == Question::kMostRequirements);
  CHECK(question.text.ends_with("+word39"));
}

TEST_CASE("a phrase is held where its words stand side by side, in any case and across lines") {
  const char* phrase = "\"take_delta of Straßen\"";
  CHECK(held_by(phrase, "", "so Take_Delta  of\n    straßen goes") == 1);
  CHECK(held_by(phrase, "", "takeDelta of straßen") == 0);
  CHECK(held_by(phrase, "", "take_delta of all straßen") == 0);
  CHECK(held_by(phrase, "take_delta of straßen", "") == 1);
  CHECK(held_by("\"be is\"", "", "to be: is it") == 1);
  CHECK(held_by("\"Fluss ﬁnance\"", "", "der Fluß: finance") == 1);
  CHECK(held_by("\"本語\"", "", "日本語です") == 1);
  CHECK(held_by("\"Python\"", "", "Python入門") == 1);
  CHECK(held_by("\"パン\"", "", "ﾊﾟﾝを") == 1);
  CHECK(held_by("\"really important\"", "", "so _really important stuff_") == 1);
  CHECK(held_by("\"ends here\"", "it ends", "here it is") == 0);
}

TEST_CASE("what is required is looked for whatever else a question asks") {
  std::string many = "alpha";
  for (int i = 0; i < 1100; ++i) many += " zq" + std::to_string(i) + 'x';

  CHECK(held_by(many + " +lease", "", "no such word") == 0);
  CHECK(held_by(many + " -zebra", "", "no such word") == 0);
  CHECK(held_by(many + " +lease", "", "a lease") == 1);
}

TEST_CASE("quotes that are never closed take no more time than others") {
  std::string open;
  for (int i = 0; i < 200000; ++i) open += "“a ";

  CHECK(is_plain(open));
}

TEST_CASE("a question has no more pairs of words than terms") {
  std::string many;
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 200; ++j)
      many += "w" + std::to_string(i) + "q w" + std::to_string(j) + "q ";

  CHECK(LexicalQuery(many).pairs().size() <= LexicalQuery::kMostTerms);
}

TEST_CASE("a word that must be there counts in all its forms, a title where it is a title") {
  CHECK(held_by("rent +leases", "", "a leasing contract") == 1);
  CHECK(held_by("rent +leases", "", "a releasing contract") == 0);
  CHECK(held_by("rent title:lease", "The lease", "nothing") == 1);
  CHECK(held_by("rent title:lease", "The leaseholder", "lease") == 0);
}

TEST_CASE("names are what is written as only names are, or alone, or behind a keyword") {
  using Names = std::vector<std::string>;
  CHECK(ExactWords("take_delta").names() == Names{"take_delta"});
  CHECK(ExactWords("sys.getswitchinterval").names() == Names{"getswitchinterval"});
  CHECK(ExactWords("class Hit").names() == Names{"Hit"});
  CHECK(ExactWords("what does EADDRINUSE mean for sha256").names() ==
        Names{"EADDRINUSE", "sha256"});
  CHECK(ExactWords("when is the lease due").names().empty());
  CHECK(ExactWords("class of the lease that is due").names().empty());
}

TEST_CASE("a definition beats an entry, that a use, and a use another word") {
  const auto find = [](std::string_view text) { return find_definition("Hit", text); };
  CHECK(find("from a import b\nclass Hit:\n") == 1);
  CHECK(find("export abstract class Hit {") == 1);
  CHECK(find("  Hit = 5") == 0.8);
  CHECK(find("errors.Hit¶\n\nIs raised") == 0.8);
  CHECK(find("## About Hit and others") == 0.7);
  CHECK(find("return Hit(5)") == 0.4);
  CHECK(find("- Hit\n- Miss") == 0.4);
  CHECK(find("a hit") == doctest::Approx(0.24));
  CHECK(find("class Hits: Hitting, «Hité»") == 0);
  CHECK(find(std::string(5000, 'x') + " class Hit") == 0.4);
}

TEST_CASE("a short question that stands in a text word for word weighs more") {
  const ExactWords exact("cannot release un-acquired lock");
  CHECK(exact.weigh("", "raise X(\"cannot release un-acquired lock\")") == 3);
  CHECK(exact.weigh("", "the lock cannot be acquired or released") == 0);
}
