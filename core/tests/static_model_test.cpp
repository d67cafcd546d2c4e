#include "text/static_model.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "index/model_file.h"
#include "index_fixture.h"
#include "storage/container.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

struct Parts {
  std::string vocabulary;
  Bytes table;
};

Bytes bytes_of(const std::string& text) { return Bytes(text.begin(), text.end()); }

Bytes file_of(const Parts& parts) {
  FileImage image;
  image.add(static_cast<SectionKind>(40), bytes_of("{\"name\": \"small\"}"));
  image.add(static_cast<SectionKind>(41), bytes_of(parts.vocabulary));
  image.add(static_cast<SectionKind>(42), parts.table);
  Bytes bytes;
  for (const ByteView part : image.finish()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

Bytes table_of(std::uint32_t tokens, std::uint32_t dim, std::uint32_t pieces,
               std::uint32_t max_tokens) {
  ByteWriter out;
  out.put_array<std::uint32_t>(std::array{tokens, dim, pieces, max_tokens});
  out.put_array<std::uint8_t>(std::array<std::uint8_t, 3>{0, 2, 1});
  for (std::size_t i = 0; i < std::size_t{256} * 4; ++i) {
    // Piece 0: (i, 1), piece 1: (-i, 0) for centroid i of 0 to 127.
    const auto centroid = static_cast<int>(i / 2 % 128);
    const bool is_first = i < 512;
    out.put(static_cast<std::int8_t>(i % 2 == 0 ? (is_first ? centroid : -centroid) : is_first));
  }
  out.put_array<std::uint8_t>(std::array<std::uint8_t, 6>{9, 9, 3, 4, 5, 0});
  return out.take();
}

// [UNK] of no weight, "ab" = 2 × (3, 1, -4, 0), "abc" = 1 × (5, 1, 0, 0).
Parts small_parts() {
  std::string vocabulary{3, 0, 0, 0};
  vocabulary +=
      "\x05[UNK]\x02"
      "ab\x21"
      "c";
  return {vocabulary, table_of(3, 4, 2, 5)};
}

StaticModel small_model() { return read_static_model(file_of(small_parts())); }

std::vector<float> vector_of(const StaticModel& model, std::string_view text) {
  std::vector<float> vector(model.dim());
  model.embed(text, vector);
  return vector;
}

}  // namespace

TEST_CASE("a text is the weighted sum of its tokens, at length 1") {
  const StaticModel model = small_model();
  std::vector<float> vector(4);

  const std::size_t tokens = model.embed("AB abc unheard-of", vector);

  const double length = std::sqrt(11. * 11 + 3 * 3 + 8 * 8);
  CHECK(tokens == 5);
  CHECK(vector == std::vector<float>{static_cast<float>(11 / length),
                                     static_cast<float>(3 / length),
                                     static_cast<float>(-8 / length), 0.0f});
  CHECK(model.max_tokens() == 5);
  CHECK(model.description() == "{\"name\": \"small\"}");
}

TEST_CASE("the vectors of tokens are those that a text is the sum of") {
  const StaticModel model = small_model();

  const StaticModel::Tokens tokens = model.embed_tokens("AB abc unheard");

  CHECK(tokens.rows == std::vector<float>{6, 2, -8, 0, 5, 1, 0, 0, 0, 0, 0, 0});
  CHECK(tokens.starts == std::vector<std::uint32_t>{0, 3, 7});
  CHECK(model.embed_tokens("").starts.empty());
}

TEST_CASE("a text without a token that counts is the first axis") {
  const StaticModel model = small_model();

  CHECK(vector_of(model, "") == std::vector<float>{1, 0, 0, 0});
  CHECK(vector_of(model, "unheard of") == std::vector<float>{1, 0, 0, 0});
}

TEST_CASE("a text of a million tokens has the direction of one") {
  const StaticModel model = small_model();
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "ab ";

  const std::vector<float> vector = vector_of(model, text);

  const std::vector<float> one = vector_of(model, "ab");
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(vector[i] == doctest::Approx(one[i]));
}

TEST_CASE("a model file that is cut short or has a wrong byte is refused") {
  Bytes bytes = file_of(small_parts());

  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    CHECK(reason_of([&] { read_static_model(ByteView(bytes).first(size)); }) == "truncated");
  }
  bytes.back() ^= 1;
  CHECK(reason_of([&] { read_static_model(bytes); }) == "damaged");
}

TEST_CASE("a model whose numbers do not fit together is damaged") {
  for (const Bytes& table : {table_of(2, 4, 2, 5), table_of(3, 4, 3, 5), table_of(3, 0, 1, 5),
                             table_of(3, 4, 0, 5), table_of(3, 5000, 2, 5), table_of(3, 4, 2, 0)}) {
    CHECK(reason_of([&] { read_static_model(file_of({small_parts().vocabulary, table})); }) ==
          "damaged");
  }
  CHECK(reason_of([&] {
          read_static_model(file_of({small_parts().vocabulary, table_of(3, 4096, 2, 5)}));
        }) == "truncated");
}

TEST_CASE("a vocabulary that does not hold together is damaged") {
  const std::string count{1, 0, 0, 0};
  const std::string none{0, 0, 0, 0};
  for (const std::string& vocabulary : {none,
                                        count + "\x31"
                                                "abc",
                                        count + "\x02"
                                                "ab",
                                        count + "\x03"
                                                "a\nb",
                                        count + "\x05[UNK]more"}) {
    CHECK(reason_of([&] { read_static_model(file_of({vocabulary, small_parts().table})); }) ==
          "damaged");
  }
}
