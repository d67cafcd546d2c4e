#include "query/links.h"

#include <algorithm>

#include "chunking/scan.h"
#include "links/anchors.h"
#include "marks/shown.h"
#include "text/json.h"

namespace gossamer {
namespace {

// What the metadata of a document says of where it is to be read.
struct Said {
  Json json;

  explicit Said(std::string_view metadata) { json.read_metadata(metadata); }
  std::string_view find(std::string_view name) const {
    const JsonValue* const value = json.find(name);
    return value != nullptr && value->is(JsonValue::Kind::kText) ? value->text : "";
  }
};

// How the headings of a document are marked: as it was noted, or as its kind has it.
std::string_view markup_of(const DocumentRecord& document, const Anchors& anchors) {
  if (!anchors.markup().empty()) return anchors.markup();
  switch (marks_of(document.kind)) {
    case Marks::kRst:
      return "rst";
    case Marks::kBlocks:
    case Marks::kMarkdown:
      return "markdown";
    default:
      return {};
  }
}

// The words of a heading, which are embedded with the passage: in its body, or before it.
std::string_view words_of(const Passage& passage, const HeadingAbove& heading) {
  const auto& [span, context] = passage.chunk.place;  // as long as the body
  const std::size_t size = heading.words.end - heading.words.start;
  // A stranger's chunk may say that it stands under what is behind it.
  if (heading.words.start >= span.end) return {};
  if (heading.words.start >= span.start)
    return std::string_view(passage.body).substr(heading.words.start - span.start, size);
  std::size_t end = passage.embedded.size() - passage.body.size();
  for (auto one = context.rbegin(); one != context.rend() && end > 0; ++one) {
    if (one->empty()) continue;
    const std::size_t behind = end - 1;  // without the line end
    end = behind - std::min(behind, one->end - one->start);
    if (*one == heading.words) return std::string_view(passage.embedded).substr(end, size);
  }
  return {};
}

// "permalink" may be a word for a pattern, or one that is filled in: no address.
std::string page_of(const Site& site, const DocumentFacts& document, const Said& said) {
  std::string page = url_of_said(site, said.find("url"));
  const std::string_view permalink = said.find("permalink");
  const bool is_address = permalink.starts_with('/') || permalink.starts_with("http");
  if (page.empty() && is_address && permalink.find("/:") == std::string_view::npos)
    page = url_of_said(site, permalink);
  if (!page.empty() || document.source.root.empty()) return page;
  return url_of_path(site, document.source.name, document.document.kind);
}

bool is_text(const DocumentRecord& document) {
  return document.unit == "line" && document.kind != "mail" && document.kind != "chat";
}

}  // namespace

std::vector<HeadingAbove> headings_above(const Passage& passage, std::size_t byte) {
  const DocumentRecord& document = passage.chunk.document->document;
  const Said said(document.metadata);
  std::vector<HeadingAbove> above = passage.headings;
  pass_headings(above, markup_of(document, Anchors(said.find(kAnchorsName))), passage.body,
                passage.chunk.place.span.start, byte);
  return above;
}

std::vector<std::string> shown_headings(const Passage& passage,
                                        const std::vector<HeadingAbove>& headings) {
  const DocumentRecord& document = passage.chunk.document->document;
  const Marks marks = marks_of(document.kind, document.metadata);
  std::vector<std::string> words;
  for (const HeadingAbove& heading : headings) {
    const Shown shown = show(without_id(words_of(passage, heading)), marks);
    words.emplace_back(without_space_at_end(shown.text()));
  }
  return words;
}

std::string url_of(const Site& site, const Passage& passage,
                   const std::vector<HeadingAbove>& headings, std::string_view best_line,
                   std::int64_t number) {
  const DocumentFacts& facts = *passage.chunk.document;
  const DocumentRecord& document = facts.document;
  const Said said(document.metadata);
  const std::string page = page_of(site, facts, said);
  if (page.empty() || page.find('#') != std::string::npos) return page;
  if (document.kind == "pdf" && document.unit == "page" && number > 0)
    return page + "#page=" + std::to_string(number);
  const Anchors anchors(said.find(kAnchorsName));
  if (!headings.empty()) {
    const HeadingAbove& nearest = headings.back();
    const std::string anchor = anchors.find(nearest.words.start, words_of(passage, nearest));
    if (!anchor.empty()) return page + fragment_of_anchor(anchor);
  }
  return is_text(document) ? page + fragment_of_line(best_line) : page;
}

}  // namespace gossamer
