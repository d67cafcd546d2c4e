// Rows, as of CSV: cut between rows only, the header before each chunk.

#include "chunking/outline.h"
#include "chunking/scan.h"

namespace gossamer {

// A newline within quotes ends no row. A lone quote in the text makes rows and quotes change
// places; then the cuts that are added where rows seem too long fall on lines again.
Outline outline_of_rows(std::string_view text, std::size_t begin) {
  Outline outline;
  outline.is_prose = false;
  std::vector<std::size_t> rows;  // where each but the first begins
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') is_quoted = !is_quoted;
    if (text[at] == '\n' && !is_quoted) rows.push_back(at + 1);
  }
  if (rows.empty()) return outline;
  const std::string_view header = without_space_at_end(text.substr(begin, rows[0] - begin));
  outline.headings.push_back({begin, 1, {begin, begin + header.size()}});
  for (std::size_t row = 0; row < rows.size(); ++row) {
    outline.whole.push_back({rows[row], row + 1 < rows.size() ? rows[row + 1] : text.size()});
    if (row > 0) outline.cuts.push_back({rows[row], kSectionCost});
  }
  return outline;
}

}  // namespace gossamer
