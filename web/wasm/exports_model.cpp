// Models that are a table of tokens.

#include <utility>

#include "exports.h"
#include "index/model_file.h"

namespace gossamer::wasm {

GOSSAMER_EXPORT(model_new)
StaticModel* model_new(const std::uint8_t* file, std::size_t size) {
  return new StaticModel(read_static_model({file, size}));
}

GOSSAMER_EXPORT(model_free) void model_free(StaticModel* model) { delete model; }

GOSSAMER_EXPORT(model_dim) std::size_t model_dim(const StaticModel* model) { return model->dim(); }

GOSSAMER_EXPORT(model_max_tokens) std::size_t model_max_tokens(const StaticModel* model) {
  return model->max_tokens();
}

GOSSAMER_EXPORT(model_description) std::size_t model_description(const StaticModel* model) {
  given().first = model->description().data();
  return model->description().size();
}

// Its tokenizer, for the calls of tokenizers; it goes with the model.
GOSSAMER_EXPORT(model_tokenizer) const WordPiece* model_tokenizer(const StaticModel* model) {
  return &model->tokenizer();
}

// The number of tokens; the vector is beside it.
GOSSAMER_EXPORT(model_embed)
std::size_t model_embed(const StaticModel* model, const std::uint8_t* text, std::size_t size) {
  std::vector<float>& vector = given().floats;
  vector.resize(model->dim());
  given().first = vector.data();
  return model->embed(text_of(text, size), vector);
}

// The number of tokens; their vectors are beside it, and where each begins.
GOSSAMER_EXPORT(model_embed_tokens)
std::size_t model_embed_tokens(const StaticModel* model, const std::uint8_t* text,
                               std::size_t size) {
  StaticModel::Tokens tokens = model->embed_tokens(text_of(text, size));
  given().floats = std::move(tokens.rows);
  given().words = std::move(tokens.starts);
  given().first = given().floats.data();
  given().second = given().words.data();
  return given().words.size();
}

}  // namespace gossamer::wasm
