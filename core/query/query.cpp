#include "query/query.h"

#include <algorithm>

#include "base/error.h"
#include "text/json.h"

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

[[noreturn]] void refuse(std::string_view name, const char* expected) {
  fail(Reason::kInvalidArgument,
       "the field '" + std::string(name) + "' of a query must be " + expected);
}

// The place of a word in a list of them.
template <class Enum>
Enum choose(std::string_view name, const JsonValue& value,
            std::initializer_list<const char*> words) {
  std::size_t place = 0;
  for (const char* word : words) {
    if (value.is(Kind::kText) && value.text == word) return static_cast<Enum>(place);
    ++place;
  }
  refuse(name, "one of the words that it knows");
}

std::uint64_t whole_number(std::string_view name, const JsonValue& value) {
  if (!value.is(Kind::kInteger) || value.integer < 0) refuse(name, "a whole number from 0 on");
  return static_cast<std::uint64_t>(value.integer);
}

bool* option_of(Query& query, std::string_view name) {
  if (name == "shows_whole") return &query.shows_whole;
  if (name == "reads_rows") return &query.reads_rows;
  if (name == "rescores") return &query.rescores;
  if (name == "is_plain") return &query.is_plain;
  if (name == "is_distinct") return &query.is_distinct;
  return name == "reranks" ? &query.reranks : nullptr;
}

void read_field(Query& query, const Json& json, std::size_t name_at) {
  const std::string_view name = json.values()[name_at].text;
  const JsonValue& value = json.values()[name_at + 1];
  const auto text = [&] {
    if (!value.is(Kind::kText)) refuse(name, "a text");
    return std::string(value.text);
  };
  const auto count = [&] {
    return static_cast<std::size_t>(std::min<std::uint64_t>(whole_number(name, value), SIZE_MAX));
  };
  if (name == "question") {
    query.question = text();
  } else if (name == "highlight") {
    query.highlight = text();
  } else if (name == "k") {
    query.k = count();
  } else if (name == "per_file") {
    query.per_file = count();
  } else if (name == "recall") {
    if (!value.is(Kind::kReal) && !value.is(Kind::kInteger)) refuse(name, "a number");
    query.recall = value.is(Kind::kReal) ? value.real : static_cast<double>(value.integer);
  } else if (name == "min_score") {
    query.min_score = value.is(Kind::kReal) ? value.real : static_cast<double>(value.integer);
    const bool is_number = value.is(Kind::kReal) || value.is(Kind::kInteger);
    if (!is_number || !(query.min_score >= 0 && query.min_score <= 1))
      refuse(name, "a number from 0 to 1");
  } else if (name == "mode") {
    query.mode = choose<QueryMode>(name, value, {"hybrid", "semantic", "lexical"});
  } else if (name == "words") {
    query.words = choose<WordSource>(name, value, {"texts", "postings", "host", "none"});
  } else if (name == "filter") {
    query.filter = std::string(value.written);
  } else if (name == "excluded") {
    if (!value.is(Kind::kList)) refuse(name, "a list of ids");
    for (const std::size_t id : json.items(name_at + 1))
      query.excluded.push_back(whole_number(name, json.values()[id]));
  } else if (bool* const option = option_of(query, name)) {
    if (!value.is(Kind::kBool)) refuse(name, "true or false");
    *option = value.integer != 0;
  } else {
    fail(Reason::kInvalidArgument, "a query has no field '" + std::string(name) + "'");
  }
}

// More than k, as the two rankings share about a third of them, and bounded: each costs a run of
// the encoder. What stands below keeps its place among the others.
constexpr std::size_t kLeastCandidates = 10, kMoreCandidates = 4, kMostCandidates = 24;

}  // namespace

std::size_t Query::candidates() const {
  return std::clamp(std::min(k, kMostCandidates) + kMoreCandidates, kLeastCandidates,
                    kMostCandidates);
}

Query Query::read(std::string_view text) {
  Json json;
  json.read(text, "the query", Reason::kInvalidArgument);
  expect(json.root().is(Kind::kObject), Reason::kInvalidArgument, "a query is an object");
  Query query;
  for (const std::size_t name : json.items(0)) read_field(query, json, name);
  return query;
}

}  // namespace gossamer
