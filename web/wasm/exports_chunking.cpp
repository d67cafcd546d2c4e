// gossamer-chunks.wasm: documents cut into chunks. Where tokens begin is asked of the page, whose
// models have their tokenizers elsewhere.

#include "chunking/chunks.h"
#include "chunking/context.h"
#include "exports.h"
#include "links/anchors.h"

namespace gossamer::wasm {
namespace {

// Gives memory that alloc() gave: how many tokens there are, and where each begins.
extern "C" __attribute__((import_module("host"), import_name("find_tokens"))) std::uint8_t*
find_tokens(const char* text, std::size_t size);

std::vector<std::uint32_t> ask_for_tokens(std::string_view text) {
  const Taken memory(find_tokens(text.data(), text.size()));
  expect(memory != nullptr, Reason::kWrongState, "nobody says where the tokens of a text begin");
  const auto* words = reinterpret_cast<const std::uint32_t*>(memory.get());
  return {words + 1, words + 1 + words[0]};
}

}  // namespace

// Gives for each chunk its start, its end, how many headings it stands under, and their starts and
// ends. The line and the markup stand behind the text.
GOSSAMER_EXPORT(chunk_document)
std::size_t chunk_document_of(const std::uint8_t* text, std::size_t size, std::size_t line_size,
                              std::size_t markup_size, std::size_t tokens) {
  const std::string_view line = text_of(text + size, line_size);
  const std::string_view markup = text_of(text + size + line_size, markup_size);
  std::vector<std::uint32_t>& words = given().words;
  words.clear();
  const auto add = [&](TextSpan span) {
    words.push_back(static_cast<std::uint32_t>(span.start));
    words.push_back(static_cast<std::uint32_t>(span.end));
  };
  const ChunkOptions options{tokens, line, markup, {}};
  for (const ChunkSpan& chunk : chunk_document(text_of(text, size), options, ask_for_tokens)) {
    add(chunk.span);
    words.push_back(static_cast<std::uint32_t>(chunk.context.size()));
    for (const TextSpan& heading : chunk.context) add(heading);
  }
  given().first = words.data();
  return words.size();
}

// The ids stand behind the text, and behind them the markup; `numbers` are where the words of each
// of the headings begin that have an id, and the id's length; then where the words of the headings
// begin and end that chunks stand under.
GOSSAMER_EXPORT(write_anchors)
std::size_t write_anchors_of(const std::uint8_t* text, std::size_t size, std::size_t markup_size,
                             const std::uint32_t* numbers, std::size_t given, std::size_t innermost,
                             std::uint32_t has_slugs) {
  std::vector<GivenAnchor> anchors;
  const std::uint8_t* id = text + size;
  for (std::size_t i = 0; i < given; ++i, numbers += 2) {
    anchors.push_back({numbers[0], text_of(id, numbers[1])});
    id += numbers[1];
  }
  std::vector<TextSpan> headings;
  for (std::size_t i = 0; i < innermost; ++i, numbers += 2)
    headings.push_back({numbers[0], numbers[1]});
  const std::string_view markup = text_of(id, markup_size);
  return give_text(write_anchors(text_of(text, size), {markup, has_slugs != 0, anchors, headings}));
}

// The title stands behind the name.
GOSSAMER_EXPORT(context_line)
std::size_t context_line_of(const std::uint8_t* name, std::size_t size, std::size_t title_size) {
  return give_text(context_line(text_of(name, size), text_of(name + size, title_size)));
}

// The parts stand one behind the other: the line, the headings, the body.
GOSSAMER_EXPORT(embedded_text)
std::size_t embedded_text_of(const std::uint8_t* parts, const std::uint32_t* sizes,
                             std::size_t count) {
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < count; parts += sizes[i++]) texts.push_back(text_of(parts, sizes[i]));
  const std::span headings = std::span(texts).subspan(1, count - 2);
  return give_text(embedded_text(shorten_line(texts.front()), headings, texts.back()));
}

}  // namespace gossamer::wasm
