// Catalogues in one piece, read and changed: see core/sources.ts. Each call that gives a list makes
// a new one.

#include "segments.h"
#include "storage/ids.h"
#include "store/old_texts.h"

namespace gossamer::wasm {
namespace {

SourceList* keep(SourceList list) { return new SourceList(std::move(list)); }

std::vector<std::size_t> to_rows(const std::uint32_t* rows, std::size_t count) {
  return {rows, rows + count};
}

}  // namespace

GOSSAMER_EXPORT(sources_order) std::size_t sources_order(const SourceList* list) {
  const std::vector<std::size_t> order = list->order();
  std::vector<std::uint32_t>& words = given().words;
  words.assign(order.begin(), order.end());
  given().first = words.data();
  return words.size();
}

GOSSAMER_EXPORT(sources_take)
SourceList* sources_take(const SourceList* list, const std::uint32_t* rows, std::size_t count) {
  return keep(list->take(to_rows(rows, count)));
}

// The names stand end to end, one for each string.
GOSSAMER_EXPORT(sources_rename_roots)
SourceList* sources_rename_roots(const SourceList* list, const std::uint8_t* names,
                                 const std::uint32_t* lengths, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.emplace_back(text_of(names, lengths[i]));
    names += lengths[i];
  }
  return keep(list->rename_roots(texts));
}

GOSSAMER_EXPORT(sources_pack) std::size_t sources_pack(const SourceList* list) {
  Bytes& bytes = given().bytes;
  bytes = list->pack(host_codecs().columns);
  given().first = bytes.data();
  return bytes.size();
}

GOSSAMER_EXPORT(sources_content) std::size_t sources_content(const SourceList* list) {
  Bytes& bytes = given().bytes;
  bytes.clear();
  list->give_content(
      [&](ByteView piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  given().first = bytes.data();
  return bytes.size();
}

// The ids of an engine's nodes, in their order, without those that are deleted: its sections of
// either, which may be absent, the second behind the first.
GOSSAMER_EXPORT(live_ids)
std::size_t live_ids(const std::uint8_t* sections, std::size_t ids_size, std::size_t deleted_size,
                     std::size_t nodes) {
  const ByteView deleted(sections + ids_size, deleted_size);
  expect(deleted.empty() || deleted.size() == (nodes + 63) / 64 * 8, Reason::kDamaged,
         "deleted nodes do not fit");
  const IdMap ids =
      ids_size == 0 ? IdMap::identity(nodes) : IdMap::from_bytes({sections, ids_size}, nodes);
  std::vector<std::uint64_t> live;
  for (std::size_t node = 0; node < nodes; ++node)
    if (deleted.empty() || (deleted[node / 8] >> (node % 8) & 1) == 0)
      live.push_back(ids.id(static_cast<NodeId>(node)));
  give_ids(live);
  return live.size();
}

}  // namespace gossamer::wasm
