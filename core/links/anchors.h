#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chunking/outline.h"
#include "links/slugs.h"

namespace gossamer {

// The name in a document's metadata under which its anchors are kept; nobody is shown it.
inline constexpr std::string_view kAnchorsName = "#";

// The id that a page has for the heading whose words begin at an offset of its text.
struct GivenAnchor {
  std::size_t offset;
  std::string_view id;
};

// What is known of the headings of a document.
struct AnchorFacts {
  std::string_view markup;  // "markdown" or "rst"; nothing else has headings
  bool has_slugs = false;   // anchors follow from words; else they are only those given
  std::span<const GivenAnchor> given = {};   // by rising offsets
  std::span<const TextSpan> innermost = {};  // of the headings that each chunk stands under
};

// The anchors of a document's headings in few bytes: how they follow from the words, and those that
// do not. "" where there are none. docs/format.md, "Anchors".
std::string write_anchors(std::string_view text, const AnchorFacts& facts);

// What write_anchors() wrote, or somebody else: any bytes will do. It looks into them.
class Anchors {
 public:
  explicit Anchors(std::string_view written);

  bool empty() const { return rest_.empty() && !has_rule_; }
  std::string_view markup() const { return markup_; }
  // The anchor of the heading whose words stand at an offset of the text; "" if it has none.
  std::string find(std::size_t offset, std::string_view words) const;

 private:
  std::string_view markup_, rest_;
  bool has_rule_ = false;
  SlugRule rule_ = SlugRule::kGithub;
};

// The words of a heading without an id that they end with: "Rent {#rent}".
std::string_view without_id(std::string_view words);

}  // namespace gossamer
