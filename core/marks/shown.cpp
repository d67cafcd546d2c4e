#include "marks/shown.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chunking/scan.h"
#include "marks/blocks.h"
#include "marks/mask.h"

namespace gossamer {
namespace {

constexpr std::array<std::pair<std::string_view, Marks>, 18> kKinds{{
    {"asciidoc", Marks::kNone}, {"chat", Marks::kMarkdown},     {"csv", Marks::kNone},
    {"docx", Marks::kBlocks},   {"epub", Marks::kBlocks},       {"html", Marks::kBlocks},
    {"jsonl", Marks::kNone},    {"mail", Marks::kBlocks},       {"markdown", Marks::kMarkdown},
    {"odp", Marks::kBlocks},    {"notebook", Marks::kMarkdown}, {"odt", Marks::kBlocks},
    {"org", Marks::kNone},      {"pdf", Marks::kNone},          {"pptx", Marks::kBlocks},
    {"rst", Marks::kRst},       {"text", Marks::kNone},         {"xlsx", Marks::kNone},
}};

// Code is read from a blank line on.
Shown show_to_the_letter(std::string_view text, bool is_code) {
  Shown shown(text);
  bool is_after_blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(end_of_line(text, at) + 1, text.size());
    const bool is_empty = skip(text, at, is_space) >= next;
    if (is_code && is_after_blank && !is_empty) shown.begin_section();
    shown.add(at, text.substr(at, next - at), is_code);
    is_after_blank = is_empty;
    at = next;
  }
  return shown;
}

}  // namespace

Marks marks_of(std::string_view kind) {
  for (const auto& [name, marks] : kKinds)
    if (name == kind) return marks;
  return Marks::kCode;
}

void Shown::add(std::size_t begin, std::string_view said, bool is_code) {
  const std::size_t at = text_.size();
  if (pieces_.empty() || at - pieces_.back().at != begin - pieces_.back().source)
    pieces_.push_back({at, begin});
  text_ += said;
  if (!is_code) return;
  const bool goes_on = !code_.empty() && (code_.back().end == at ||
                                          (code_.back().end + 1 == at && text_[at - 1] == '\n'));
  if (goes_on)
    code_.back().end = text_.size();
  else
    code_.push_back({at, text_.size()});
}

std::size_t Shown::source_of(std::size_t byte) const {
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), byte,
                               [](std::size_t value, const Piece& one) { return value < one.at; });
  if (next == pieces_.begin()) return 0;
  const std::size_t most = next == pieces_.end() ? source_.size() : next->source;
  --next;
  return std::min(next->source + (byte - next->at), most);
}

Shown show(std::string_view text, Marks marks) {
  if (marks == Marks::kNone || marks == Marks::kCode)
    return show_to_the_letter(text, marks == Marks::kCode);
  Mask mask(text);
  if (marks == Marks::kRst)
    hide_rst(mask);
  else
    hide_blocks(mask, marks == Marks::kMarkdown);
  return mask.show();
}

}  // namespace gossamer
