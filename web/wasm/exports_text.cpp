// WordPiece, and checksums.

#include <string>

#include "base/crc32c.h"
#include "exports.h"
#include "text/wordpiece.h"

namespace gossamer::wasm {
namespace {

constexpr const char* kSpecials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

}  // namespace

GOSSAMER_EXPORT(tokenizer_new)
WordPiece* tokenizer_new(const std::uint8_t* vocabulary, std::size_t size, bool lowercase) {
  const std::vector<std::string> specials(std::begin(kSpecials), std::end(kSpecials));
  return new WordPiece(text_of(vocabulary, size), lowercase, specials);
}

GOSSAMER_EXPORT(tokenizer_free) void tokenizer_free(WordPiece* tokenizer) { delete tokenizer; }

GOSSAMER_EXPORT(tokenizer_tokens)
std::size_t tokenizer_tokens(const WordPiece* tokenizer, const std::uint8_t* text,
                             std::size_t size) {
  static Tokens tokens;
  tokens = tokenizer->tokenize(text_of(text, size));
  given().first = tokens.ids.data();
  given().second = tokens.starts.data();
  return tokens.ids.size();
}

GOSSAMER_EXPORT(tokenizer_id)
std::int32_t tokenizer_id(const WordPiece* tokenizer, const std::uint8_t* piece, std::size_t size) {
  return static_cast<std::int32_t>(tokenizer->id_of(text_of(piece, size)));
}

GOSSAMER_EXPORT(crc32c)
std::uint32_t crc32c_of(const std::uint8_t* bytes, std::size_t size) {
  return gossamer::crc32c({bytes, size});
}

}  // namespace gossamer::wasm
