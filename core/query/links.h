#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "links/headings.h"
#include "links/url.h"
#include "query/passages.h"

namespace gossamer {

// The headings that a byte of a passage stands under, outermost first.
std::vector<HeadingAbove> headings_above(const Passage& passage, std::size_t byte);

// What of these is shown: their words without marks.
std::vector<std::string> shown_headings(const Passage& passage,
                                        const std::vector<HeadingAbove>& headings);

// Where people read a passage: the page of its document, at the anchor of the innermost heading, or
// else at the line that answers best, as it is shown. "" where nobody knows, or what is known is
// not safe.
std::string url_of(const Site& site, const Passage& passage,
                   const std::vector<HeadingAbove>& headings, std::string_view best_line,
                   std::int64_t number);

}  // namespace gossamer
