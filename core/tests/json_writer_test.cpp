#include "text/json_writer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "index_fixture.h"
#include "json_tree.h"
#include "text/unicode.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

std::string written(std::string_view text) { return JsonWriter().text(text).take(); }
std::string written(double value) { return JsonWriter().decimal(value).take(); }
JsonTree read_back(std::string_view json) { return read_tree(json); }

}  // namespace

TEST_CASE("values stand between commas, names before colons") {
  JsonWriter json;
  json.begin_object().key("a").begin_array().number(std::int64_t{-1}).null().end_array();
  json.key("b").begin_object().end_object().key("c").boolean(true).key("d").begin_array();
  json.begin_array().end_array().text("x").raw("{}").number(~std::uint64_t{0}).end_array();

  CHECK(json.end_object().take() ==
        R"({"a":[-1,null],"b":{},"c":true,"d":[[],"x",{},18446744073709551615]})");
}

TEST_CASE("what JSON cannot hold is escaped") {
  CHECK(written("a\"b\\c\nd\x1F\x7F") == "\"a\\u0022b\\u005cc\\u000ad\\u001f\x7F\"");
  CHECK(written(std::string_view("\0", 1)) == R"("\u0000")");
  CHECK(written("äß€😀\uFFFD") == "\"äß€😀\uFFFD\"");
  CHECK(JsonWriter().begin_object().key("\"").null().end_object().take() == R"({"\u0022":null})");
}

TEST_CASE("halves of pairs are escaped, so that bytes are UTF-8") {
  CHECK(written("\xED\xA0\x80") == R"("\ud800")");
  CHECK(written("x\xED\xBF\xBF") == R"("x\udfff")");
  CHECK(written("\xED\x9F\xBF") == "\"\xED\x9F\xBF\"");
  CHECK(read_back(written("\xED\xA0\xBD|\xED\xB8\x80")).text == "\xED\xA0\xBD|\xED\xB8\x80");
}

TEST_CASE("bytes that are no text are refused") {
  for (const std::string text : {"\x80", "\xC0\x80", "\xE2\x82", "\xFF", "a\xED\xA0", "\xED\xA0z",
                                 "\xF4\x90\x80\x80", "\xC3", "\xED\xA0\x80\xBF"}) {
    CAPTURE(text);
    CHECK(reason_of([&] { written(text); }) == "damaged");
  }
}

TEST_CASE("every text comes back as it was") {
  Random random(9);
  for (int run = 0; run < 300; ++run) {
    std::string text;
    for (std::uint64_t left = random.below(20); left > 0; --left)
      append_utf8(text,
                  static_cast<char32_t>(random.below(random.below(2) == 0 ? 0x80 : 0x110000)));
    CHECK(read_back(written(text)).text == text);
  }
}

TEST_CASE("decimals have twelve places, and are numbers whatever they were") {
  CHECK(written(0.0) == "0.000000000000");
  CHECK(written(-0.0) == "0.000000000000");
  CHECK(written(0.25) == "0.250000000000");
  CHECK(written(-12.5) == "-12.500000000000");
  CHECK(written(1.0 / 3) == "0.333333333333");
  CHECK(written(0.9999999999999) == "1.000000000000");
  CHECK(written(-1e-13) == "0.000000000000");
  CHECK(written(8999999.5) == "8999999.500000000000");
  CHECK(written(9e6) == "9000000");
  CHECK(written(-1e17) == "-100000000000000000");
  CHECK(written(1e300) == "9000000000000000000");
  CHECK(written(-1e300) == "-9000000000000000000");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("decimals come back as near as they are written") {
  Random random(4);
  for (int run = 0; run < 1000; ++run) {
    const double value = random.normal() * std::pow(10.0, static_cast<double>(random.below(7)));
    const JsonTree read = read_back(written(value));
    REQUIRE(read.is(JsonTree::Kind::kReal));
    CHECK(std::abs(read.real - value) <= 1e-12 + 1e-15 * std::abs(value));
  }
}
