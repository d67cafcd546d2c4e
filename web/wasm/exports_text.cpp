// gossamer-text.wasm: words of questions and texts, and WordPiece.

#include <optional>
#include <string>

#include "base/crc32c.h"
#include "exports.h"
#include "lexical/bm25.h"
#include "lexical/counter.h"
#include "lexical/query.h"
#include "text/wordpiece.h"

namespace gossamer::wasm {
namespace {

constexpr const char* kSpecials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

// One question on its way through texts, as in the Python bindings.
struct Pass {
  Pass(std::string_view question, std::optional<Bytes> may)
      : query(question), counter(query), counts(query.terms().size()), allowed(std::move(may)) {}

  bool allows(ChunkNumber number) const {
    return !allowed || (number < allowed->size() && (*allowed)[number] != 0);
  }

  LexicalQuery query;
  TermCounter counter;
  ChunkCounts counts;
  std::optional<Bytes> allowed;
};

struct Span {
  const std::uint32_t* starts;
  const std::uint32_t* ends;
  const std::uint32_t* numbers;
  std::size_t count;
};

// Counts the chunk that begins with span `i`; gives the first span after it. A chunk that runs
// past the text is left out.
std::size_t count_chunk(Pass& pass, std::string_view text, const Span& spans, std::size_t i) {
  const ChunkNumber number = spans.numbers[i];
  bool is_counted = pass.allows(number);
  std::uint64_t length = 0;
  for (; i < spans.count && spans.numbers[i] == number; ++i) {
    const std::size_t start = spans.starts[i], end = spans.ends[i];
    is_counted = is_counted && start <= end && end <= text.size();
    if (!is_counted) continue;
    pass.counter.add(text.substr(start, end - start));
    length += end - start;
  }
  if (is_counted) pass.counts.add(number, length, pass.counter);
  pass.counter.clear();
  return i;
}

std::size_t give_terms(const LexicalQuery& query) {
  Bytes& bytes = given().bytes;
  bytes.clear();
  for (const std::string& term : query.terms()) {
    if (!bytes.empty()) bytes.push_back('\n');
    bytes.insert(bytes.end(), term.begin(), term.end());
  }
  given().first = bytes.data();
  return bytes.size();
}

}  // namespace

GOSSAMER_EXPORT(pass_new)
Pass* pass_new(const std::uint8_t* question, std::size_t size, const std::uint8_t* allowed,
               std::size_t allowed_count) {
  std::optional<Bytes> may;
  if (allowed != nullptr) may.emplace(allowed, allowed + allowed_count);
  return new Pass(text_of(question, size), std::move(may));
}

GOSSAMER_EXPORT(pass_free) void pass_free(Pass* pass) { delete pass; }

GOSSAMER_EXPORT(pass_terms) std::size_t pass_terms(const Pass* pass) {
  return give_terms(pass->query);
}

GOSSAMER_EXPORT(pass_add_buffer)
void pass_add_buffer(Pass* pass, const std::uint8_t* text, std::size_t size,
                     const std::uint32_t* spans, std::size_t count) {
  const Span all{spans, spans + count, spans + 2 * count, count};
  for (std::size_t i = 0; i < count;) i = count_chunk(*pass, text_of(text, size), all, i);
}

GOSSAMER_EXPORT(pass_add_counts)
void pass_add_counts(Pass* pass, ChunkNumber number, double bytes, const std::uint32_t* terms,
                     std::size_t count) {
  if (!pass->allows(number)) return;
  std::vector<ChunkCounts::TermCount> found;
  for (std::size_t i = 0; i < count; ++i)
    found.push_back({static_cast<TermId>(terms[i]), terms[count + i]});
  pass->counts.add(number, static_cast<std::uint64_t>(bytes), found);
}

GOSSAMER_EXPORT(pass_add_others) void pass_add_others(Pass* pass, double chunks, double bytes) {
  pass->counts.add_others(static_cast<std::uint64_t>(chunks), static_cast<std::uint64_t>(bytes));
}

// Numbers of the best chunks, and then how many chunks each term stands in; scores beside.
GOSSAMER_EXPORT(pass_top) std::size_t pass_top(const Pass* pass, std::size_t best) {
  Given& out = given();
  out.numbers.clear();
  out.floats.clear();
  for (const ScoredChunk& chunk : pass->counts.top(best)) {
    out.numbers.push_back(chunk.chunk);
    out.floats.push_back(chunk.score);
  }
  for (const std::uint64_t chunks : pass->counts.chunks_with())
    out.numbers.push_back(static_cast<double>(chunks));
  out.first = out.numbers.data();
  out.second = out.floats.data();
  return out.floats.size();
}

GOSSAMER_EXPORT(terms_of) std::size_t terms_of(const std::uint8_t* question, std::size_t size) {
  return give_terms(LexicalQuery(text_of(question, size)));
}

// Starts and ends by turns; the question stands behind the text.
GOSSAMER_EXPORT(find_terms)
std::size_t find_terms(const std::uint8_t* text, std::size_t size, std::size_t question_size) {
  const LexicalQuery query(text_of(text + size, question_size));
  std::vector<std::uint32_t>& words = given().words;
  words.clear();
  for (const auto& [begin, end] : query.find_in(text_of(text, size))) {
    words.push_back(static_cast<std::uint32_t>(begin));
    words.push_back(static_cast<std::uint32_t>(end));
  }
  given().first = words.data();
  return words.size();
}

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
