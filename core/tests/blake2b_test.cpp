#include "base/blake2b.h"

#include <doctest/doctest.h>

#include <string>

using namespace gossamer;

namespace {

ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hex_of(ByteView digest) {
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  return hex;
}

std::string digest_of(std::string_view text, std::size_t digest_bytes = 16) {
  Blake2b hash(digest_bytes);
  hash.update(bytes_of(text));
  return hex_of(hash.finish());
}

// The bytes 0 to 250, over and over.
std::string counting(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i % 251);
  return text;
}

}  // namespace

// All digests are those of Python's hashlib.
TEST_CASE("digests are those that other programs give") {
  CHECK(digest_of("") == "cae66941d9efbd404e4d88758ea67670");
  CHECK(digest_of("abc") == "cf4ab791c62b8d2b2109c90275287816");
  CHECK(digest_of("日本語 é") == "6dd088f1333217f16820a4d75f283e5e");
  CHECK(digest_of("abc", 8) == "d8bb14d833d59559");
  CHECK(digest_of("abc", 64) ==
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  CHECK(digest_of(counting(127)) == "28b1296c7d4807883de6ee4ec04dcc0a");
  CHECK(digest_of(counting(128)) == "a74787004ef589e31149183900d0294a");
  CHECK(digest_of(counting(129)) == "aaf1b0371f6d4ee49ee4fb5ddd9c49ef");
  CHECK(digest_of(counting(256)) == "1142c504dcd26338b7cbcf41424540d0");
  CHECK(digest_of(counting(100000)) == "7bafffc74b44b4a80f347888022ba2ae");
}

TEST_CASE("a digest does not depend on the pieces that the bytes come in") {
  const std::string text = counting(700);
  for (const std::size_t step : {1, 3, 64, 127, 128, 129, 500}) {
    Blake2b hash(16);
    for (std::size_t at = 0; at < text.size(); at += step)
      hash.update(bytes_of(std::string_view(text).substr(at, step)));
    hash.update({});
    CHECK(hex_of(hash.finish()) == digest_of(text));
  }
}

TEST_CASE("a text is checked by the first four bytes of its digest") {
  CHECK(check_of("") == 0x4169e6cau);
  CHECK(check_of("path/of.md\nHeading\nBody.") == 0xa105eb97u);
  CHECK(check_of("Größe") == 0x9bef94bau);
}
