#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gossamer {

// What the generator of a site makes of Markdown and reStructuredText.
enum class UrlStyle : std::uint8_t {
  kHtml,    // guide/start.md is guide/start.html, guide/index.md is guide/
  kFolder,  // guide/start.md is guide/start/, guide/index.md and guide/README.md are guide/
  kFile,    // every file is itself
};

// Where people read what was indexed.
struct Site {
  std::string base;  // of the folder that was indexed; "" if nobody knows
  UrlStyle style = UrlStyle::kHtml;

  // kInvalidArgument for a word that is none.
  static UrlStyle read_style(std::string_view word);
};

// Whether a link may lead there: http(s), or relative to the page that it stands on; never to
// another scheme, such as javascript:, nor to what browsers take for one.
bool is_safe_url(std::string_view url);

// The page of a file by its path below the folder that was indexed; "" without a base, or for a
// path that leads out of the folder.
std::string url_of_path(const Site& site, std::string_view path, std::string_view kind);

// The page that a document names itself, seen from the site's base as a browser would; "" if it is
// not safe.
std::string url_of_said(const Site& site, std::string_view said);

// "#anchor", and "" for none.
std::string fragment_of_anchor(std::string_view anchor);
// "#:~:text=..." of the first words of a line that people read on the page; "" if it has none.
std::string fragment_of_line(std::string_view line);

}  // namespace gossamer
