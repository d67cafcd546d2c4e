#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chunking/cuts.h"
#include "chunking/outline.h"

namespace gossamer {

// An empty heading stands for a line that did not fit the chunk size and is left out.
inline constexpr TextSpan kNoContextLine{0, 0};

// The line that is embedded before every chunk of a document: its title, or the last parts of its
// path below the folder that was added. Texts that programs give have no such name ("").
std::string context_line(std::string_view name, std::string_view title);

// A title or path on one line of bounded length, cut between words where it can be.
std::string shorten_line(std::string_view line);

// What is embedded and hashed: the context line as shorten_line() gives it, headings outermost
// first, body. Empty parts leave no line behind; an empty heading says that the context line is
// left out.
std::string embedded_text(std::string_view line, std::span<const std::string_view> headings,
                          std::string_view body);

// What Unicode calls space is taken off at both ends of a span.
TextSpan trim(std::string_view text, TextSpan span);

// The headings open at a place of a text, on a walk through it from begin to end.
class HeadingPath {
 public:
  struct Context {
    std::vector<TextSpan> spans;
    std::size_t tokens = 0;
  };

  // Contexts have at most `room` tokens. A heading that says the same as `line` is left out.
  HeadingPath(std::string_view text, std::span<const Heading> headings, std::string_view line,
              std::size_t room)
      : text_(text), headings_(headings), line_(line), room_(room) {}

  // Goes on to the next stretch of the text.
  void enter(const Stretch& stretch);

  // The context of a chunk that begins at `offset`; the offsets must rise. A chunk that begins with
  // a heading does not stand under it.
  Context at(std::size_t offset);

 private:
  struct Open {
    std::size_t at;
    std::size_t level;
    TextSpan words;
    std::vector<std::size_t> tokens;  // as many as a context can hold and one more
  };

  void pass(const Open& heading);
  Context within_room(std::size_t below_level) const;
  // Where the words end that `room` tokens have space for; 0 if they are too few.
  std::size_t end_of_words(const Open& heading, std::size_t room) const;

  std::string_view text_;
  std::span<const Heading> headings_;
  std::string_view line_;
  std::size_t room_;
  std::vector<Open> open_;
  std::vector<Open> ahead_;  // those of the stretch
  std::size_t next_ = 0;     // the first of them that is still to come
  Context context_;
};

}  // namespace gossamer
