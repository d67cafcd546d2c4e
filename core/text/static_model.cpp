#include "text/static_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace gossamer {
namespace {

constexpr std::uint32_t kMostTokens = 1 << 20;
constexpr std::uint32_t kMostDim = 4096;
constexpr std::size_t kMostDescriptionBytes = std::size_t{1} << 16;
constexpr std::size_t kMostVocabularyBytes = std::size_t{8} << 20;
constexpr std::size_t kCentroids = 256;
// So many products of a weight and a centroid stay within 32 bits.
constexpr std::size_t kTokensAtOnce = 65'536;
// Below it the squares of kMostDim values add up within 63 bits.
constexpr std::int64_t kMostValue = std::int64_t{1} << 25;
constexpr std::uint8_t kLongPiece = 15;

constexpr const char* kSpecials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

// Pieces are sorted, and each says how many bytes it shares with the one before. Gives one a line.
std::string read_vocabulary(ByteView bytes) {
  ByteReader in(bytes, "vocabulary");
  const auto count = in.get<std::uint32_t>();
  expect(count > 0 && count <= kMostTokens, Reason::kDamaged,
         "a model has 1 to 1,048,576 tokens, this one says otherwise");
  std::string lines;
  std::string piece;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto lengths = in.get<std::uint8_t>();
    const std::size_t shared = lengths >> 4;
    std::size_t rest = lengths & 0xf;
    if (rest == kLongPiece) rest = in.get<std::uint8_t>();
    expect(shared <= piece.size(), Reason::kDamaged,
           "a piece of the vocabulary shares more with the one before than that has");
    const ByteView added = in.take(rest);
    piece.resize(shared);
    piece.append(added.begin(), added.end());
    expect(piece.find('\n') == std::string::npos, Reason::kDamaged,
           "a piece of the vocabulary has a line break");
    expect(lines.size() + piece.size() < kMostVocabularyBytes, Reason::kDamaged,
           "the vocabulary is larger than 8 MiB");
    lines.append(piece).push_back('\n');
  }
  in.expect_end();
  return lines;
}

// The usual width, which takes one instruction each for what a loop takes four.
void add_fours(std::span<const std::uint8_t> codes, const std::int8_t* centroids,
               std::int32_t weight, std::int32_t* sums) {
  for (const std::uint8_t code : codes) {
    std::array<std::int8_t, 4> values;
    std::memcpy(values.data(), centroids + 4 * code, sizeof(values));
    for (std::size_t i = 0; i < 4; ++i) sums[i] += weight * values[i];
    centroids += 4 * kCentroids;
    sums += 4;
  }
}

// Halves all values until their squares can be added.
void shorten(std::span<std::int64_t> values) {
  std::int64_t most = 0;
  for (const std::int64_t value : values) most = std::max(most, std::abs(value));
  int halvings = 0;
  for (; most > kMostValue; most >>= 1) ++halvings;
  for (std::int64_t& value : values) value >>= halvings;
}

}  // namespace

StaticModel StaticModel::from_parts(ByteView description, ByteView vocabulary, ByteView table) {
  expect(description.size() <= kMostDescriptionBytes, Reason::kDamaged,
         "what the file says about its model is longer than 64 KiB");
  const std::string lines = read_vocabulary(vocabulary);
  expect(("\n" + lines).find("\n[UNK]\n") != std::string::npos, Reason::kDamaged,
         "the vocabulary of the model has no piece '[UNK]'");
  StaticModel model(lines, std::string(description.begin(), description.end()));
  model.read_table(table);
  return model;
}

std::size_t StaticModel::embed(std::string_view text, std::span<float> vector) const {
  expect(vector.size() == dim_, Reason::kWrongDimension, "the vector has another length");
  const std::vector<std::uint32_t> ids = tokenizer_.tokenize(text).ids;
  std::vector<std::int64_t> values = sum(ids);
  shorten(values);
  std::int64_t squares = 0;
  for (const std::int64_t value : values) squares += value * value;
  if (squares == 0) squares = values[0] = 1;
  const double length = std::sqrt(static_cast<double>(squares));
  for (std::size_t i = 0; i < dim_; ++i)
    vector[i] = static_cast<float>(static_cast<double>(values[i]) / length);
  return ids.size();
}

StaticModel::Tokens StaticModel::embed_tokens(std::string_view text) const {
  const auto found = tokenizer_.tokenize(text);
  Tokens tokens{{}, found.starts};
  tokens.rows.resize(found.ids.size() * dim_);
  std::vector<std::int32_t> row(dim_);
  auto end = tokens.rows.begin();
  for (const std::uint32_t id : found.ids) {
    std::fill(row.begin(), row.end(), 0);
    add_token(id, row);
    end = std::copy(row.begin(), row.end(), end);
  }
  return tokens;
}

WordPiece StaticModel::make_tokenizer(std::string_view vocabulary) {
  const std::vector<std::string> specials(std::begin(kSpecials), std::end(kSpecials));
  return WordPiece(vocabulary, true, specials);
}

void StaticModel::read_table(ByteView table) {
  ByteReader in(table, "table of tokens");
  const auto tokens = in.get<std::uint32_t>();
  const auto dim = in.get<std::uint32_t>();
  const auto pieces = in.get<std::uint32_t>();
  const auto max_tokens = in.get<std::uint32_t>();
  expect(tokens == tokenizer_.size(), Reason::kDamaged,
         "the model has another number of rows than of tokens");
  expect(dim > 0 && dim <= kMostDim && pieces > 0 && pieces <= dim && dim % pieces == 0,
         Reason::kDamaged, "the model's vectors cannot be cut into its number of pieces");
  expect(max_tokens > 0, Reason::kDamaged, "the model takes texts of no token at all");
  dim_ = dim;
  pieces_ = pieces;
  max_tokens_ = max_tokens;
  weights_ = in.get_array<std::uint8_t>(tokens);
  centroids_ = in.get_array<std::int8_t>(kCentroids * dim);
  codes_ = in.get_array<std::uint8_t>(std::uint64_t{tokens} * pieces);
  in.expect_end();
}

std::vector<std::int64_t> StaticModel::sum(std::span<const std::uint32_t> ids) const {
  std::vector<std::int64_t> sums(dim_);
  std::vector<std::int32_t> some(dim_);
  while (!ids.empty()) {
    std::fill(some.begin(), some.end(), 0);
    const std::size_t count = std::min(ids.size(), kTokensAtOnce);
    for (const std::uint32_t id : ids.first(count)) add_token(id, some);
    for (std::size_t i = 0; i < dim_; ++i) sums[i] += some[i];
    ids = ids.subspan(count);
  }
  return sums;
}

void StaticModel::add_token(std::uint32_t id, std::span<std::int32_t> sums) const {
  const std::int32_t weight = weights_[id];
  if (weight == 0) return;
  const std::size_t width = dim_ / pieces_;
  const auto codes = std::span(codes_).subspan(id * pieces_, pieces_);
  if (width == 4) return add_fours(codes, centroids_.data(), weight, sums.data());
  for (std::size_t piece = 0; piece < pieces_; ++piece) {
    const std::int8_t* centroid = centroids_.data() + (piece * kCentroids + codes[piece]) * width;
    for (std::size_t i = 0; i < width; ++i) sums[piece * width + i] += weight * centroid[i];
  }
}

}  // namespace gossamer
