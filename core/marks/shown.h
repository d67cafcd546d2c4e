#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chunking/outline.h"

namespace gossamer {

// How a text is marked up: what people read is the text without these marks.
enum class Marks {
  kNone,      // it stands to the letter
  kCode,      // the same, and all of it is code
  kBlocks,    // as readers write it: headings, fences, items and rows, and all else to the letter
  kMarkdown,  // CommonMark with tables, footnotes and what is struck through
  kRst,       // reStructuredText
};

// The marks of a document of some kind, with metadata as the catalogue keeps it. What is no kind of
// prose is a language: code.
Marks marks_of(std::string_view kind, std::string_view metadata = {});

// What of a text is shown.
class Shown {
 public:
  explicit Shown(std::string_view source) : source_(source) {}

  std::string_view source() const { return source_; }
  const std::string& text() const { return text_; }
  // Bytes of text() that are code, over the ends of lines: rising, apart.
  const std::vector<TextSpan>& code() const { return code_; }
  // Where in text() begins what is read from there on: headings, stretches of code. Rising.
  const std::vector<std::size_t>& sections() const { return sections_; }
  // Where a byte of text(), or its end, stands in the source.
  std::size_t source_of(std::size_t byte) const;

  // Appends bytes of the source, or what stands in their place.
  void add(std::size_t begin, std::string_view said, bool is_code);
  // At a byte of text(), which may not be there yet.
  void begin_section(std::size_t at) { sections_.push_back(at); }

 private:
  // From a byte of the text on, all stands in the source one by one.
  struct Piece {
    std::size_t at;
    std::size_t source;
  };

  std::string_view source_;
  std::string text_;
  std::vector<Piece> pieces_;
  std::vector<TextSpan> code_;
  std::vector<std::size_t> sections_;
};

// A text without its marks. It may begin and end anywhere, also within code. The work is linear,
// whatever the bytes; the result looks into the text.
Shown show(std::string_view text, Marks marks);

}  // namespace gossamer
