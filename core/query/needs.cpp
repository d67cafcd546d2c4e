#include "query/needs.h"

namespace gossamer {

JsonWriter& NeedsWriter::begin(std::string_view name) {
  return json_.begin_object().key("need").text(name);
}

void NeedsWriter::ids(std::span<const std::uint64_t> ids) {
  json_.key("ids").begin_array();
  for (const std::uint64_t id : ids) json_.number(id);
  json_.end_array();
}

void NeedsWriter::strings(std::span<const std::string_view> texts) {
  json_.key("texts").begin_array();
  for (const std::string_view text : texts) json_.text(text);
  json_.end_array();
}

void NeedsWriter::words(std::size_t pieces) {
  begin("words").key("pieces").number(std::uint64_t{pieces});
  json_.end_object();
}

void NeedsWriter::ranking(std::string_view text, std::size_t best) {
  begin("ranking").key("text").text(text).key("best").number(std::uint64_t{best});
  json_.end_object();
}

void NeedsWriter::postings(std::span<const PostingsView::Range> ranges) {
  begin("postings").key("ranges").begin_array();
  for (const PostingsView::Range& range : ranges)
    json_.begin_array().number(range.at).number(range.length).end_array();
  json_.end_array().end_object();
}

void NeedsWriter::meaning(const MeaningSearch& search) {
  switch (search.stage()) {
    case MeaningSearch::Stage::kVectors:
      begin("vectors");
      ids(search.wanted());
      json_.key("away").boolean(search.is_away()).key("tokens").boolean(search.wants_tokens());
      break;
    case MeaningSearch::Stage::kRows:
      begin("rows");
      break;
    case MeaningSearch::Stage::kEmbeddings:
      begin("embeddings");
      ids(search.to_embed());
      strings(search.texts());
      json_.key("tokens").boolean(search.wants_tokens());
      break;
    case MeaningSearch::Stage::kTexts:
    case MeaningSearch::Stage::kOver:
      return;
  }
  json_.end_object();
}

void NeedsWriter::scores(std::string_view question, std::span<const std::uint64_t> ids,
                         std::span<const std::string_view> texts) {
  begin("scores").key("question").text(question);
  this->ids(ids);
  strings(texts);
  json_.end_object();
}

void NeedsWriter::texts(std::span<const TextNeed> needs) {
  if (needs.empty()) return;
  begin("texts").key("documents").begin_array();
  for (const TextNeed& need : needs) document(need);
  json_.end_array().end_object();
}

// Where the text of a document is, and what the host must know to tell whether it is still that.
void NeedsWriter::document(const TextNeed& need) {
  const auto& [row, source_row, source, document, path] = *need.document;
  json_.begin_object().key("row").number(std::uint64_t{row});
  json_.key("path").text(path).key("is_file").boolean(!source.root.empty());
  json_.key("segment").number(document.segment).key("offset").number(document.offset);
  json_.key("size").number(source.size).key("modified").number(source.time_ns);
  json_.key("hash").number(source.content_hash);
  json_.key("spans").begin_array();
  for (const TextSpan span : need.spans) {
    json_.begin_array().number(std::uint64_t{span.start}).number(std::uint64_t{span.end});
    json_.end_array();
  }
  json_.end_array().end_object();
}

void NeedsWriter::chunks(std::span<const std::uint64_t> ids) {
  if (ids.empty()) return;
  begin("chunks");
  this->ids(ids);
  json_.end_object();
}

}  // namespace gossamer
