// Any bytes as a query: an error, or a question that is answered by words, with its filter.
//
// Bytes below 32 stand for words of queries, so that many inputs are some.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "query/session.h"
#include "tests/query_fixture.h"
#include "tests/query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

constexpr const char* kWords[] = {"\"question\":\"tea rent\"",
                                  "\"question\":",
                                  "\"k\":",
                                  "\"mode\":\"lexical\"",
                                  "\"mode\":\"semantic\"",
                                  "\"recall\":",
                                  "\"filter\":{",
                                  "\"where\":\"",
                                  "\"paths\":[\"",
                                  "\"types\":[\"text\"]",
                                  "\"after\":\"2021\"",
                                  "\"excluded\":[",
                                  "\"words\":\"none\"",
                                  "\"highlight\":\"",
                                  "\"shows_whole\":true",
                                  "\"reads_rows\":false,\"reranks\":false",
                                  "lang == 'en'",
                                  " and year > ",
                                  " in path",
                                  "null",
                                  "18446744073709551616",
                                  "9223372036854775807",
                                  "1e400",
                                  "NaN",
                                  "\\ud800",
                                  "\xED\xA0\x80",
                                  "\\u0000",
                                  "[[[[[[[[",
                                  "{",
                                  "}",
                                  "\",\"",
                                  "]",
                                  ","};

constexpr std::size_t kMostBytes = 1 << 12;

std::string spell(const std::uint8_t* data, std::size_t size) {
  std::string json = "{";
  for (std::size_t i = 0; i < size; ++i)
    if (data[i] < std::size(kWords))
      json += kWords[data[i]];
    else
      json += static_cast<char>(data[i]);
  return json + "}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SmallLibrary library;
  static const Collection collection(library.catalogue(), {kFolder});
  try {
    const Query query = Query::read(spell(data, std::min(size, kMostBytes)));
    if (query.words == WordSource::kPostings) return 0;
    QueryHost host(library);
    const JsonTree answer = host.ask(collection, query);
    if (at(answer, "hits").items.size() <= query.k) return 0;
  } catch (const Error&) {
    return 0;
  }
  std::fprintf(stderr, "there are more hits than were asked for\n");
  std::abort();
}
