#include "text/json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

using Kind = JsonValue::Kind;

// The outermost value, whose text is kept.
struct Parsed {
  explicit Parsed(std::string_view text) { json.read(text, "it", Reason::kInvalidArgument); }
  const JsonValue* operator->() const { return &json.root(); }

  Json json;
};

std::string reason_for(std::string_view text) {
  return reason_of([&] { Parsed{text}; });
}
std::string message_for_metadata(std::string_view text) {
  try {
    Json().read_metadata(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("values are read as they are") {
  const Parsed value(R"( {"a": [1, -2.5, true, false, null], "b": {}, "c": "x"} )");

  REQUIRE(value->is(Kind::kObject));
  const JsonValue& list = *value.json.find("a");
  const JsonValue* first = &list + 1;
  CHECK(value.json.items(2).size() == 5);
  CHECK(list.end == 8);
  CHECK(list.written == "[1, -2.5, true, false, null]");
  CHECK(first[0].is(Kind::kInteger));
  CHECK(first[0].integer == 1);
  CHECK(first[1].is(Kind::kReal));
  CHECK(first[1].real == -2.5);
  CHECK(first[2].is(Kind::kBool));
  CHECK(first[2].integer == 1);
  CHECK(first[3].integer == 0);
  CHECK(first[4].is(Kind::kNothing));
  CHECK(value.json.find("b")->is(Kind::kObject));
  CHECK(value.json.find("c")->text == "x");
  CHECK(value.json.find("d") == nullptr);
  CHECK(value.json.items(0).size() == 3);
}

TEST_CASE("texts are UTF-8, and a surrogate without its other half stands as three bytes") {
  CHECK(Parsed(R"("\"\\\/\b\f\n\r\t")")->text == "\"\\/\b\f\n\r\t");
  CHECK(Parsed(R"("\u00e9é\u4e2d")")->text == "éé中");
  CHECK(Parsed(R"("\ud83d\ude00")")->text == "😀");
  CHECK(Parsed(R"("\ud83d")")->text == "\xED\xA0\xBD");
  CHECK(Parsed(R"("\ud83d\ud83d\ude00")")->text == "\xED\xA0\xBD😀");
  CHECK(Parsed(R"("\ud83d\n")")->text == "\xED\xA0\xBD\n");
  CHECK(Parsed("\"\xED\xA0\xBD\xED\xB8\x80\"")->text == "\xED\xA0\xBD\xED\xB8\x80");
  CHECK(Parsed("\"\xEF\xBF\xBD\"")->text == "\xEF\xBF\xBD");
}

TEST_CASE(
    "integers of 64 bits are integers, larger ones and all with a point or exponent are not") {
  CHECK(Parsed("9223372036854775807")->integer == std::numeric_limits<std::int64_t>::max());
  CHECK(Parsed("-9223372036854775808")->integer == std::numeric_limits<std::int64_t>::min());
  CHECK(Parsed("-0")->is(Kind::kInteger));
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1.0", "1e2", "-0.0"})
    CHECK(Parsed(text)->is(Kind::kReal));
  CHECK(Parsed("9223372036854775808")->real == 9223372036854775808.0);
  CHECK(Parsed("1e400")->real == HUGE_VAL);
  CHECK(std::isnan(Parsed("NaN")->real));
  CHECK(Parsed("-Infinity")->real == -HUGE_VAL);
}

TEST_CASE("of members of one name the last counts") {
  const Parsed value(R"({"a": 1, "b": 2, "a": 3, "c": 4, "a": 5})");

  CHECK(value.json.find("a")->integer == 5);
  CHECK(value.json.find("b")->integer == 2);
}

TEST_CASE("what was read before is gone") {
  Parsed value(R"({"a": "\n"})");
  value.json.read(R"({"b": "\t"})", "it", Reason::kInvalidArgument);

  CHECK(value.json.find("a") == nullptr);
  CHECK(value.json.find("b")->text == "\t");
}

TEST_CASE("what is no JSON is refused") {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "[1,]",
                           "{\"a\"}",
                           "{\"a\":1,}",
                           "{1:2}",
                           "[1 2]",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "-",
                           "1e",
                           "tru",
                           "nul",
                           "'a'",
                           "\"a",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\u12",
                           "1 1",
                           "\"\xff\"",
                           "\"\xc3\"",
                           "\"\xed\xa0\"",
                           "\"\xc0\xaf\"",
                           "infinity",
                           "--1",
                           "{\"a\" 1}",
                           "]"})
    CHECK_MESSAGE(reason_for(text) == "invalid argument", std::string(text));
  CHECK(reason_for(std::string_view("\"\0\"", 3)) == "invalid argument");
  CHECK(reason_of([] { Json().read("{", "it", Reason::kDamaged); }) == "damaged");
}

TEST_CASE("what is nested without end is refused, what is long is read") {
  CHECK(reason_for(std::string(30, '[') + std::string(30, ']')) == "none");
  CHECK(reason_for(std::string(33, '[') + std::string(33, ']')) == "invalid argument");
  CHECK(reason_for(std::string(1'000'000, '[')) == "invalid argument");
  std::string members = "{";
  for (int i = 0; i < 100'000; ++i) members += "\"" + std::to_string(i % 50'000) + "\":0,";
  members += "\"\":0}";
  CHECK(Parsed(members).json.items(0).size() == 100'001);
  const std::string number(1'000'000, '9');
  CHECK(Parsed(number)->real == HUGE_VAL);
}

TEST_CASE("metadata is an object of texts, numbers and truths, or nothing") {
  Json value;
  value.read_metadata("");
  CHECK(value.items(0).empty());
  value.read_metadata(R"({"draft":true,"n":NaN,"title":"x","year":2024})");
  CHECK(value.find("year")->integer == 2024);
  CHECK(value.find("title")->text == "x");

  CHECK(message_for_metadata("{").starts_with("metadata in the catalogue is no JSON: "));
  CHECK(message_for_metadata("[1]") == "metadata in the catalogue is no object");
  for (const char* text : {R"({"a":null})", R"({"a":[]})", R"({"a":{}})"})
    CHECK(message_for_metadata(text) ==
          "metadata in the catalogue holds more than text and numbers");
  CHECK(reason_of([] { Json().read_metadata("x"); }) == "damaged");
}
