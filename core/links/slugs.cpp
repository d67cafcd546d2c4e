#include "links/slugs.h"

#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr char32_t kSharpS = 0xDF, kTimes = 0xD7;

// A letter as a small one, accents and all: those of Latin, Greek and Cyrillic.
char32_t lower(char32_t point) {
  if (point < 128) return small_letter(point);
  const auto is_within = [point](char32_t first, char32_t last) {
    return point >= first && point <= last;
  };
  if (is_within(0xC0, 0xDE) && point != kTimes) return point + 32;
  if (is_within(0x391, 0x3A9) || is_within(0x410, 0x42F)) return point + 32;
  if (is_within(0x400, 0x40F)) return point + 80;
  const bool has_pairs = is_within(0x100, 0x137) || is_within(0x14A, 0x177) ||
                         is_within(0x460, 0x4FF) || is_within(0x1E00, 0x1EFF);
  if (has_pairs && point != 0x130) return point | 1;
  const bool has_odd_pairs = is_within(0x139, 0x148) || is_within(0x179, 0x17E);
  return has_odd_pairs && point % 2 == 1 ? point + 1 : point;
}

// Letters, digits, marks, "_" and "-"; spaces become "-", and all else goes.
std::string github_slug(std::string_view words) {
  std::string slug;
  for (std::size_t at = 0; at < words.size();) {
    const char32_t point = next_point(words, at);
    if (is_space_character(point))
      slug += '-';
    else if (is_word(point) || point == U'_' || point == U'-')
      append_utf8(slug, lower(point));
  }
  return slug;
}

// What docutils writes in two letters of ASCII, or in one that no accent is taken off.
std::string_view ascii_of(char32_t point) {
  switch (lower(point)) {
    case kSharpS:
      return "sz";
    case U'æ':
      return "ae";
    case U'œ':
      return "oe";
    case U'ø':
      return "o";
    case U'đ':
      return "d";
    case U'ł':
      return "l";
    case U'ı':
      return "i";
    default:
      return "";
  }
}

// Letters and digits of ASCII without accents, from the first letter on; what is other ASCII
// becomes one "-", and what is none goes.
std::string docutils_id(std::string_view words) {
  std::string id;
  bool is_apart = false;
  const auto add = [&](char32_t point) {
    const bool is_letter = point - U'a' < 26, is_number = point - U'0' < 10;
    if (!is_letter && !is_number) {
      is_apart = is_apart || point < 128;
    } else if (is_letter || !id.empty()) {
      if (is_apart && !id.empty()) id += '-';
      id += static_cast<char>(point);
      is_apart = false;
    }
  };
  for (std::size_t at = 0; at < words.size();) {
    const char32_t point = next_point(words, at);
    if (const std::string_view ascii = ascii_of(point); !ascii.empty()) {
      for (const char letter : ascii) add(static_cast<char32_t>(letter));
    } else if (is_space_character(point)) {
      add(U' ');
    } else {
      for (const char32_t folded : fold(point)) add(folded);
    }
  }
  return id;
}

}  // namespace

std::string slug_of(SlugRule rule, std::string_view words) {
  return rule == SlugRule::kGithub ? github_slug(words) : docutils_id(words);
}

}  // namespace gossamer
