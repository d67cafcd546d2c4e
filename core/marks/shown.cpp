#include "marks/shown.h"

#include <algorithm>

#include "marks/blocks.h"
#include "marks/mask.h"
#include "marks/names.h"
#include "text/json.h"

namespace gossamer {
namespace {

constexpr std::string_view kPlain = " text pdf xlsx ods csv jsonl asciidoc org latex typst ";
constexpr std::string_view kReaders = " html mail docx odt pptx odp epub ";
constexpr std::string_view kMarkdowns = " markdown notebook ";
constexpr std::string_view kAssistants = " chatgpt claude ";  // who write Markdown in a chat

bool is_of_assistant(std::string_view metadata) {
  Json about;
  about.read_metadata(metadata);
  const JsonValue* const program = about.find("program");
  return program != nullptr && is_among(program->text, kAssistants);
}

// Code is read from where a line was left empty.
Shown show_code(std::string_view text) {
  Shown shown(text);
  bool is_after_blank = false;
  for (const TextSpan& line : lines_of(text)) {
    if (is_after_blank && !line.empty()) shown.begin_section(line.start);
    is_after_blank = line.empty();
  }
  shown.add(0, text, true);
  return shown;
}

}  // namespace

Marks marks_of(std::string_view kind, std::string_view metadata) {
  if (kind == "chat") return is_of_assistant(metadata) ? Marks::kMarkdown : Marks::kNone;
  if (is_among(kind, kMarkdowns)) return Marks::kMarkdown;
  if (is_among(kind, kReaders)) return Marks::kBlocks;
  if (kind == "rst") return Marks::kRst;
  return is_among(kind, kPlain) ? Marks::kNone : Marks::kCode;
}

void Shown::add(std::size_t begin, std::string_view said, bool is_code) {
  const std::size_t at = text_.size();
  if (pieces_.empty() || at - pieces_.back().at != begin - pieces_.back().source)
    pieces_.push_back({at, begin});
  text_ += said;
  if (!is_code || said.empty()) return;
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
  if (marks == Marks::kCode) return show_code(text);
  if (marks == Marks::kNone) {
    Shown shown(text);
    shown.add(0, text, false);
    return shown;
  }
  Mask mask(text);
  if (marks == Marks::kRst)
    hide_rst(mask);
  else
    hide_blocks(mask, marks == Marks::kMarkdown);
  return mask.show();
}

}  // namespace gossamer
