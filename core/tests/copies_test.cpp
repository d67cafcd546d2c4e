#include "query/copies.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gossamer;

namespace {

using Ids = std::vector<std::uint64_t>;

const std::string kNotice =
    "The heating of the whole house is going to be off from noon until four o'clock while the "
    "valves in the cellar are replaced by the plumber, who needs a key to the cellar and a light "
    "that works.";

Ids copies_of(const CopyFinder& finder, std::uint64_t id) {
  const auto found = finder.copies_of(id);
  return {found.begin(), found.end()};
}

std::string replace(std::string text, const std::string& word, const std::string& other) {
  return text.replace(text.find(word), word.size(), other);
}

// Whether the second of two texts is taken for a copy of the first.
bool is_copy(const std::string& first, const std::string& second) {
  CopyFinder finder;
  finder.add(1, first);
  return finder.add(2, second) == 1;
}

}  // namespace

TEST_CASE("a copy is found by what it says, whatever its marks and spaces") {
  CopyFinder finder;

  CHECK(finder.add(7, kNotice) == 7);
  CHECK(finder.add(8, "Something else is said here, in as many words as that takes.") == 8);
  CHECK(finder.add(9, kNotice) == 7);
  CHECK(finder.add(5, "# " + replace(kNotice, "of the whole", "OF THE\n  *whole*")) == 7);
  CHECK(copies_of(finder, 7) == Ids{9, 5});
  CHECK(copies_of(finder, 8).empty());
  CHECK(copies_of(finder, 9).empty());
  CHECK(finder.count() == 2);
}

TEST_CASE("what was added before stays what it was") {
  CopyFinder finder;
  finder.add(7, kNotice);
  finder.add(9, kNotice);

  CHECK(finder.add(7, "other") == 7);
  CHECK(finder.add(9, "other") == 7);
  CHECK(finder.count() == 1);
}

TEST_CASE("another word, or number, makes it another passage") {
  const std::string bill = kNotice + " Bill 1041, to be paid within 14 days.";

  CHECK(is_copy(bill, bill));
  CHECK(!is_copy(bill, replace(bill, "1041", "1042")));
  CHECK(!is_copy(bill, replace(bill, "plumber", "fitter")));
  CHECK(!is_copy(kNotice, kNotice + " The fee is due in March."));
  CHECK(!is_copy(kNotice + " The fee is 9000.", kNotice + " The fee is high."));
}

TEST_CASE("another form of a word is the same word") {
  CHECK(is_copy(kNotice, replace(kNotice, "valves", "valve")));
  CHECK(is_copy("Größe: 7 café", "GRÖSSE: 7 cafe"));
}

TEST_CASE("a part of a passage says nothing new, more than it does") {
  const std::string part = kNotice.substr(0, kNotice.find(" are replaced"));

  CHECK(is_copy(kNotice, part));
  CHECK(!is_copy(part, kNotice));
}

TEST_CASE("a few words that stand in a longer text are no copy of it") {
  CHECK(!is_copy(kNotice, "The heating of"));
  CHECK(is_copy("The heating of", "the Heating of"));
  CHECK(is_copy("Tea", "tea."));
  CHECK(!is_copy("Tea", "Coffee"));
}

TEST_CASE("what holds no words, or too many, is nobody's copy") {
  std::string endless;
  for (int i = 0; i < 5000; ++i) endless += "word and another ";

  CHECK(!is_copy("", ""));
  CHECK(!is_copy("...", "..."));
  CHECK(!is_copy(endless, endless));
}

TEST_CASE("what shows nothing new is a copy, with its own copies") {
  const std::string before = "What comes before it is cut off elsewhere. ";
  CopyFinder finder;
  finder.add(1, "Tea is said to be steamed, and nothing else.");
  finder.add(2, before + kNotice);
  finder.add(3, kNotice + " What comes behind it is another matter.");
  finder.add(4, kNotice + " What comes behind it is another matter.");
  const Ids others{1, 2};

  CHECK(!finder.fold(3, kNotice + " What comes behind it", others));
  CHECK(!finder.fold(3, replace(kNotice, "four", "five"), others));
  CHECK(!finder.fold(3, "The heating of the whole house", others));
  CHECK(!finder.fold(3, kNotice, Ids{1, 7}));
  CHECK(finder.count() == 1);
  CHECK(finder.fold(3, "… " + kNotice, others));
  CHECK(copies_of(finder, 2) == Ids{3, 4});
  CHECK(copies_of(finder, 3).empty());
  CHECK(finder.count() == 2);
  CHECK(finder.add(3, "other") == 2);
  CHECK(finder.add(5, kNotice + " What comes behind it is another matter.") == 5);
}

TEST_CASE("many passages are told apart in little time") {
  CopyFinder finder;
  for (std::uint64_t id = 0; id < 6000; ++id) {
    std::string text;
    for (std::uint64_t i = 0; i < 100; ++i) text += "word" + std::to_string(id * i % 9973) + ' ';
    CHECK(finder.add(id + 1, text) == id + 1);
  }
}
