#include "filters/paths.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

bool match(const std::vector<std::string>& patterns, std::string_view path,
           bool ignores_case = false) {
  PathPatterns all;
  for (const std::string& pattern : patterns) all.add(pattern, ignores_case);
  return all.match(path);
}

}  // namespace

TEST_CASE("patterns that match the path, and those that do not") {
  constexpr std::string_view kPath = "/home/me/notes/2024/lease.md";
  for (const char* pattern :
       {"*.md", "lease.md", "l?ase.*", "notes", "notes/", "notes/2024", "notes/**", "**/*.md",
        "notes/**/lease.md", "2024/*.md", "me/**/2024/**", "/home/me", "/home/*/notes",
        "/**/lease.md", "/home/me/notes/2024/lease.md", "[kl]ease.md", "*",
        "/"
        "home//me"})
    CHECK_MESSAGE(match({pattern}, kPath), std::string(pattern));
  for (const char* pattern : {"*.txt", "note", "ease.md", "/notes", "notes/*.md", "/home/me/*.md",
                              "me/2024", "lease", "*/x", "NOTES", "lease.md/*"})
    CHECK_MESSAGE(!match({pattern}, kPath), std::string(pattern));
  CHECK(match({"NOTES/*/Lease.*"}, kPath, true));
  CHECK(match({"?"}, "/Ω"));
  CHECK(match({"?"}, "/\xED\xA0\x80"));
  CHECK(!match({"?"}, "/ab"));
}

TEST_CASE("a pattern with an exclamation mark leaves out what it matches") {
  CHECK(match({"*.md", "!drafts"}, "/notes/a.md"));
  CHECK(!match({"*.md", "!drafts"}, "/notes/drafts/a.md"));
  CHECK(match({"!drafts"}, "/notes/a.md"));
  for (const char* pattern : {"", "/", " ", "!", "!/ /"})
    CHECK(reason_of([&] { match({pattern}, "/a"); }) == "invalid argument");
}

// What Python's fnmatch says of a pattern and the names of one character.
TEST_CASE("sets of characters are those of fnmatch") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[ab]", "ab"},         {"[!ab]", "c-!]^x"},    {"[a-c]", "abc"},       {"[]a]", "]a"},
      {"[!]a]", "bc-!^x"},    {"[a-]", "a-"},         {"[-a]", "-a"},         {"[!-a]", "bc!]^x"},
      {"[^a]", "^a"},         {"[c-a]", ""},          {"[!c-a]", "abc-!]^x"}, {"[c-b-a]", "-a"},
      {"[b-a!]", "abc-!]^x"}, {"[b-a!c]", "ab-!]^x"}, {"[b-a!-c]", "ab!]^x"}, {"[--a]", "-]^a"}};
  for (const auto& [pattern, expected] : cases) {
    std::string found;
    for (const char c : {'-', '!', ']', '^', 'a', 'b', 'c', 'x'})
      if (match({pattern}, std::string("/") + c)) found.push_back(c);
    std::string sorted;
    for (const char c : {'-', '!', ']', '^', 'a', 'b', 'c', 'x'})
      if (expected.find(c) != expected.npos) sorted.push_back(c);
    CHECK_MESSAGE(found == sorted, std::string(pattern));
  }
  for (const auto& [pattern, name] : std::vector<std::pair<std::string, std::string>>{
           {"a[b", "a[b"}, {"[ab][*", "b[c"}, {"[]x[", "[]x["}, {"[[]?[", "[a["}, {"[!]", "[!]"}})
    CHECK_MESSAGE(match({pattern}, "/" + name), std::string(pattern));
}

TEST_CASE("no pattern is slow") {
  const auto start = std::chrono::steady_clock::now();
  std::string path, pattern;
  for (int i = 0; i < 60; ++i) path += "/" + std::string(60, 'a');
  for (int i = 0; i < 20; ++i) pattern += "**/*a*a*a*a*a*b/";

  CHECK(!match({pattern + "x"}, path));
  CHECK(!match({std::string(500'000, '[')}, path));
  CHECK(!match({std::string(500'000, '[') + "]"}, path));
  std::string set = "[";
  for (int i = 0; i < 150'000; ++i) set += "b-a";
  CHECK(!match({set + "]"}, path));

  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}
