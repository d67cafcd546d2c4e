#include "links/url.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "chunking/scan.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostUrlBytes = 4096;
constexpr std::string_view kUnreserved = "-._~";
// May stand in a part of a path, besides letters, digits and what is unreserved.
constexpr std::string_view kOfPath = "!$&'()*+,;=@";
// So many words find a place again. Few lines are the same so far.
constexpr std::size_t kMostWords = 8, kMostTextBytes = 90, kLeastWords = 3;
// Of a script without spaces.
constexpr std::size_t kMostUnspaced = 24;

bool is_plain(char byte) { return is_digit(byte) || is_upper(byte) || is_lower(byte); }

void add_escape(std::string& url, std::uint8_t byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  url += '%';
  url += kDigits[byte >> 4];
  url += kDigits[byte & 15];
}

std::string encode(std::string_view text, std::string_view allowed) {
  std::string url;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // A byte of a name that is no UTF-8 is kept as half of a pair: U+DC80 to U+DCFF.
    if (is_half(text, at)) {
      const auto low = static_cast<std::uint8_t>(((text[at + 1] & 3) << 6) | (text[at + 2] & 0x3F));
      add_escape(url, low);
      at += 2;
    } else if (is_plain(text[at]) || allowed.find(text[at]) != std::string_view::npos) {
      url += text[at];
    } else {
      add_escape(url, static_cast<std::uint8_t>(text[at]));
    }
  }
  return url;
}

// Where the path of a URL begins: behind its scheme and host.
std::size_t begin_of_path(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos || scheme > url.find_first_of("/?#")) return 0;
  return std::min(url.find_first_of("/?#", scheme + 3), url.size());
}

bool has_scheme(std::string_view url) { return url.find(':') < url.find_first_of("/?#"); }

bool is_web_scheme(std::string_view url) {
  std::string scheme;
  for (const char byte : url.substr(0, url.find("://")))
    scheme += static_cast<char>(small_letter(static_cast<unsigned char>(byte)));
  return scheme == "http" || scheme == "https";
}

// The base up to its last "/", which what is relative goes on from.
std::string_view folder_of(std::string_view base) {
  base = base.substr(0, base.find_first_of("?#"));
  const std::size_t path = begin_of_path(base);
  const std::size_t slash = base.rfind('/');
  return slash == std::string_view::npos || slash < path ? base.substr(0, path)
                                                         : base.substr(0, slash + 1);
}

std::string join(std::string_view folder, std::string_view rest) {
  std::string url(folder);
  if (!url.empty() && !url.ends_with('/')) url += '/';
  return url += rest;
}

bool leads_out(std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return true;
    at = end + 1;
  }
  return false;
}

// What a site serves for a file.
std::string page_of(UrlStyle style, std::string_view path, std::string_view kind) {
  const bool is_source = kind == "markdown" || kind == "rst";
  if (style == UrlStyle::kFile || (!is_source && kind != "html")) return std::string(path);
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string_view folder = path.substr(0, begin), file = path.substr(begin);
  const std::size_t dot = file.rfind('.');
  const std::string_view name = dot == 0 ? file : file.substr(0, dot);
  const bool is_readme = style == UrlStyle::kFolder && is_source && name == "README";
  if (name == "index" || is_readme) return std::string(folder);
  if (!is_source) return std::string(path);
  std::string page(folder);
  page += name;
  return page += style == UrlStyle::kFolder ? "/" : ".html";
}

// Generators write these in other letters, so that a browser would not find them again.
bool may_change(std::string_view word) {
  return word.find_first_of("'\"") != std::string_view::npos ||
         word.find("--") != std::string_view::npos || word.find("..") != std::string_view::npos ||
         word.find("\xE2\x80") != std::string_view::npos;  // curly quotes, dashes, an ellipsis
}

std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size() && count < most; ++count) next_point(text, at);
  return text.substr(0, at);
}

std::string_view from_word(std::string_view line) {
  for (std::size_t at = 0, start = 0; at < line.size(); start = at)
    if (is_word(next_point(line, at))) return line.substr(start);
  return {};
}

}  // namespace

UrlStyle Site::read_style(std::string_view word) {
  constexpr std::string_view kWords[] = {"html", "folder", "file"};
  const auto found = std::ranges::find(kWords, word);
  expect(found != std::end(kWords), Reason::kInvalidArgument,
         "a URL style must be html, folder or file");
  return static_cast<UrlStyle>(found - std::begin(kWords));
}

bool is_safe_url(std::string_view url) {
  // Browsers pass over what is below a space, and take "\" for "/".
  const auto is_hidden = [](char byte) {
    return static_cast<unsigned char>(byte) <= ' ' || byte == '\x7f' || byte == '\\';
  };
  if (url.empty() || url.size() > kMostUrlBytes || std::ranges::any_of(url, is_hidden))
    return false;
  if (!has_scheme(url)) return !url.starts_with("//");
  if (!is_web_scheme(url)) return false;
  const std::size_t host = url.find("://") + 3;
  return host < url.size() && std::string_view("/?#").find(url[host]) == std::string_view::npos;
}

std::string url_of_path(const Site& site, std::string_view path, std::string_view kind) {
  if (!is_safe_url(site.base) || leads_out(path)) return {};
  const std::string page = page_of(site.style, path, kind);
  std::string allowed(kUnreserved);
  allowed += kOfPath;
  allowed += '/';
  return join(site.base.substr(0, site.base.find_first_of("?#")), encode(page, allowed));
}

std::string url_of_said(const Site& site, std::string_view said) {
  while (!said.empty() && is_space(said.front())) said.remove_prefix(1);
  said = without_space_at_end(said);
  if (!is_safe_url(said)) return {};
  // As it was written, but for what does not stand in URLs.
  const std::string url = encode(said, "-._~!$&'()*+,;=@/?#[]:%");
  if (has_scheme(said) || !is_safe_url(site.base)) return url;
  if (!said.starts_with('/')) return join(folder_of(site.base), url);
  return site.base.substr(0, begin_of_path(site.base)) + url;
}

std::string fragment_of_anchor(std::string_view anchor) {
  if (anchor.empty()) return {};
  std::string allowed(kUnreserved);
  allowed += kOfPath;
  allowed += "/?:";
  return '#' + encode(anchor, allowed);
}

std::string fragment_of_line(std::string_view line) {
  std::string words;
  std::size_t count = 0;
  line = from_word(line.substr(0, line.find(" · ")));
  for (std::size_t at = 0; at < line.size() && count < kMostWords; ++count) {
    const std::size_t end = std::min(line.find_first_of(" \n\t", at), line.size());
    std::string_view word = line.substr(at, end - at);
    const bool is_last = words.size() + word.size() > kMostTextBytes;
    if (count >= kLeastWords && (is_last || may_change(word))) break;
    if (is_last) word = first_characters(word, kMostUnspaced);
    if (!words.empty()) words += ' ';
    words += word;
    if (is_last) break;
    at = skip(line, end, is_space);
  }
  if (words.empty()) return {};
  // "-", "," and "&" part what such a fragment is made of.
  return "#:~:text=" + encode(words, "._~");
}

}  // namespace gossamer
