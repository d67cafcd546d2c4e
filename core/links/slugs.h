#pragma once

#include <string>
#include <string_view>

namespace gossamer {

// How the anchor of a heading follows from its words.
enum class SlugRule {
  kGithub,    // as GitHub and most generators of sites make them of Markdown
  kDocutils,  // as docutils and Sphinx make them
};

// The anchor of a heading with these words, as people read them; "" where the rule gives none.
std::string slug_of(SlugRule rule, std::string_view words);

}  // namespace gossamer
