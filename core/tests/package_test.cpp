#include "store/package.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

using namespace gossamer;

namespace {

const std::string kSections = R"([{"name":"rows","size":10,"unpacked":20,"crc32":5},)"
                              R"({"name":"catalogue","size":4,"unpacked":4,"crc32":9}])";

std::string head_with(const std::string& base, const std::string& sections) {
  return R"({"protocol":1,"kind":"delta","index":"i","mode":"codes","texts":"kept","base":)" +
         base + R"(,"epoch":"e","version":5,"state":"cd","next_chunk_id":7,"is_signed":true,)" +
         R"("model":{"name":"m"},"settings":{},"sections":)" + sections + "}";
}

const std::string kHead = head_with(R"({"epoch":"e","version":3,"state":"ab"})", kSections);

std::string package_of(const std::string& head, std::size_t packed = 14) {
  std::string file = "GSMPACK1";
  for (int byte = 0; byte < 4; ++byte) file += static_cast<char>(head.size() >> (8 * byte) & 0xff);
  return file + head + std::string(packed + 32, '\0');
}

ByteView view_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Reason reason_of(const std::string& file) {
  try {
    read_package_head(view_of(file), file.size());
  } catch (const Error& error) {
    return error.reason();
  }
  return Reason::kCancelled;  // which no head gives
}

bool refuses(const std::string& section, const char* letters) {
  try {
    read_package_rows(section, letters);
  } catch (const Error& error) {
    return error.reason() == Reason::kDamaged;
  }
  return false;
}

}  // namespace

TEST_CASE("the head of a package is given as it stands, with where its sections begin") {
  const std::string file = package_of(kHead);

  CHECK(read_package_head(view_of(file), file.size()) ==
        "{\"start\":" + std::to_string(12 + kHead.size()) + ",\"head\":" + kHead + "}");
}

TEST_CASE("a package that is cut anywhere is refused") {
  const std::string file = package_of(kHead);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Reason expected = size < 7    ? Reason::kNotGossamer
                            : size == 7 ? Reason::kUnknownVersion
                                        : Reason::kTruncated;
    CHECK(reason_of(file.substr(0, size)) == expected);
  }
  CHECK(reason_of(file + "x") == Reason::kTruncated);
}

TEST_CASE("a head of another protocol is told from a damaged one") {
  const auto with = [](const std::string& protocol) {
    std::string head = kHead;
    return reason_of(package_of(head.replace(head.find(":1,") + 1, 1, protocol)));
  };

  CHECK(with("2") == Reason::kUnknownVersion);
  CHECK(with("true") == Reason::kDamaged);
  CHECK(with("1.0") == Reason::kDamaged);
}

TEST_CASE("heads that say what no server says are refused") {
  const std::string base = R"({"epoch":"e","version":3,"state":"ab"})";
  const auto section = [&](const std::string& said) {
    return reason_of(package_of(head_with(base, "[{" + said + "}]"), 10));
  };

  CHECK(section(R"("name":"rows","size":10,"unpacked":20,"crc32":5)") == Reason::kCancelled);
  CHECK(section(R"("name":"../x","size":10,"unpacked":20,"crc32":5)") == Reason::kDamaged);
  CHECK(section(R"("name":"rows","size":-1,"unpacked":20,"crc32":5)") == Reason::kDamaged);
  CHECK(section(R"("name":"rows","size":0,"unpacked":20,"crc32":5)") == Reason::kDamaged);
  CHECK(section(R"("name":"rows","size":10,"unpacked":67109505,"crc32":5)") == Reason::kDamaged);
  CHECK(section(R"("name":"rows","size":10,"unpacked":67109504,"crc32":5)") == Reason::kCancelled);
  CHECK(section(R"("name":"catalogue","size":10,"unpacked":20,"crc32":5)") == Reason::kDamaged);
  CHECK(section(R"("name":"rows","size":10,"unpacked":20)") == Reason::kDamaged);
  CHECK(reason_of(package_of(head_with("null", kSections))) == Reason::kDamaged);
  CHECK(reason_of(package_of(head_with("{}", kSections))) == Reason::kDamaged);
  CHECK(reason_of(package_of(head_with(base, "{}"))) == Reason::kDamaged);
}

TEST_CASE("rows of a section have the values that their letters say") {
  const std::string touched =
      R"([[true,"a \"12\" \u00e9",1700000000123456789,3], [false,"b",-5,0]])";

  CHECK(read_package_rows(touched, "btin") ==
        R"([[true,"a \"12\" \u00e9","1700000000123456789",3],[false,"b","-5",0]])");
  CHECK(read_package_rows("", "bt") == "[]");
  CHECK(read_package_rows(" [ ] ", "bt") == "[]");
  CHECK(read_package_rows("[3,12]", "N") == "[3,12]");
}

TEST_CASE("sections that hold something else are damaged") {
  for (const char* text :
       {"{}", "[1]", "[[1,2]]", R"([[true,"a",3]])", R"([["true","a"]])", "[[true,1]]",
        "[[true,\"\xC3\xA9\"]]", "[[true]]", "[[]]", "[", "[[true,", R"([[true,"a"]],)",
        R"([[true,"a"],])", R"([,[true,"a"]])", "[[true,[]]]"})
    CHECK_MESSAGE(refuses(text, "bt"), text);
  for (const char* number : {"1.5", "1e3", "-1", "9007199254740992", "\"1\"", "null", "[]"})
    CHECK_MESSAGE(refuses("[" + std::string(number) + "]", "N"), number);
  CHECK(refuses(R"([[true,"a",9223372036854775808,0]])", "btin"));
  CHECK(refuses(std::string(100000, '['), "bt"));
}
