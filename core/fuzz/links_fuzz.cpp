// Any bytes as a text, as anchors that somebody wrote of it, and as addresses: the headings above a
// byte rise and stand in the text; anchors that were written of a text are found again and read
// without a crash when they are others; no link leads elsewhere than to the web or its own site.
//
// The first byte says which markup and style; a zero byte parts what is said from the text.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "links/anchors.h"
#include "links/headings.h"
#include "links/url.h"

using namespace gossamer;
using namespace gossamer::fuzz;

namespace {

void check_headings(std::string_view text, std::string_view markup, const Anchors& others) {
  const std::string written = write_anchors(text, {.markup = markup, .has_slugs = true});
  const Anchors anchors(written);
  require(written.empty() || anchors.markup() == markup, "anchors say the markup of their text");
  for (const std::size_t byte : {std::size_t{0}, text.size() / 2, text.size()}) {
    std::vector<HeadingAbove> above;
    pass_headings(above, markup, text, 0, byte);
    std::size_t end = 0;
    for (const HeadingAbove& heading : above) {
      require(end <= heading.words.start && heading.words.start < heading.words.end &&
                  heading.words.end <= text.size(),
              "headings rise and stand in the text");
      end = heading.words.end;
      const std::string_view words = words_of(text, heading.words);
      anchors.find(heading.words.start, words);
      others.find(heading.words.start, words);
      require(without_id(words).size() <= words.size(), "an id is a part of the words");
    }
  }
}

// What browsers take for the scheme of an address.
bool leads_to_web(std::string_view url) {
  if (url.empty()) return true;
  for (const char byte : url)
    if (static_cast<unsigned char>(byte) <= ' ' || byte == '\\') return false;
  const std::size_t colon = url.find_first_of(":/?#");
  if (colon == std::string_view::npos || url[colon] != ':') return !url.starts_with("//");
  std::string scheme(url.substr(0, colon));
  for (char& letter : scheme) letter = static_cast<char>(letter | 0x20);
  return (scheme == "http" || scheme == "https") && url.substr(colon).starts_with("://");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view said = rest.substr(0, rest.find('\0'));
  const std::string_view text = rest.substr(std::min(said.size() + 1, rest.size()));
  const auto style = static_cast<UrlStyle>(data[0] % 3);
  for (const char* markup : {"markdown", "rst"}) check_headings(text, markup, Anchors(said));
  for (const char* base : {"", "/docs/", "https://example.org/d"}) {
    const Site site{base, style};
    require(leads_to_web(url_of_said(site, said)), "what is said leads to the web");
    require(leads_to_web(url_of_said({std::string(said), style}, text)), "whatever the base");
    for (const char* kind : {"markdown", "html", "text"}) {
      require(leads_to_web(url_of_path(site, said, kind)), "a path leads to the web");
      require(leads_to_web(url_of_path({std::string(said), style}, text, kind)), "on any base");
    }
  }
  for (const std::string& fragment : {fragment_of_anchor(said), fragment_of_line(said)})
    require(fragment.empty() || (fragment[0] == '#' && leads_to_web(fragment)), "of a page");
  return 0;
}
