#include "query/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "links/anchors.h"
#include "query/links.h"
#include "query/session.h"
#include "query/units.h"
#include "text/json.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// Where a hit stands, to show and to click on: path:line, or path and page; the pages, where the
// answer goes on from one to another.
std::string location_of(const Passage& passage, std::int64_t line, std::int64_t last) {
  const DocumentFacts& document = *passage.chunk.document;
  std::string where = document.path;
  if (!document.document.key.empty()) where += '#' + document.document.key;
  // Of a text that is not here nobody counted the lines.
  if (passage.body.empty() && line == 0) return where;
  const std::string& unit = document.document.unit;
  if (unit == "line") return where + ':' + std::to_string(line);
  where += ' ' + unit + (last > line ? "s " : " ") + std::to_string(line);
  return last > line ? where + '-' + std::to_string(last) : where;
}

void write_line(JsonWriter& json, const Passage& passage, const Snippet& snippet) {
  const bool is_placed = passage.first > 0;
  const std::int64_t line = is_placed ? passage.number_at(snippet.begin) : 0;
  const std::int64_t last =
      is_placed ? passage.number_at(std::max(snippet.end, snippet.begin + 1) - 1) : 0;
  json.key("line").number(line).key("location").text(location_of(passage, line, last));
}

// The line that answers best, as it is shown.
std::string best_of(const Snippet& snippet) {
  const Characters text(snippet.text);
  const auto [start, end] = snippet.best;
  return end <= text.size() ? std::string(text.slice(start, end)) : std::string();
}

// The headings are written too, if there is a name for them.
void write_link(JsonWriter& json, const Passage& passage, const Snippet& snippet,
                const Showing& showing, const char* headings_name) {
  const std::vector<HeadingAbove> headings = headings_above(passage, snippet.begin);
  if (headings_name != nullptr) {
    json.key(headings_name).begin_array();
    for (const std::string& words : shown_headings(passage, headings)) json.text(words);
    json.end_array();
  }
  const std::int64_t number = passage.first > 0 ? passage.number_at(snippet.begin) : 0;
  json.key("url").text(
      showing.site ? url_of(*showing.site, passage, headings, best_of(snippet), number) : "");
}

void write_place(JsonWriter& json, const Passage& passage, const Snippet& snippet,
                 const Showing& showing) {
  json.key("unit").text(passage.chunk.document->document.unit);
  json.key("first").number(passage.first).key("last").number(passage.last);
  write_line(json, passage, snippet);
  write_link(json, passage, snippet, showing, "headings");
}

void write_span(JsonWriter& json, std::size_t start, std::size_t end) {
  json.begin_array().number(std::uint64_t{start}).number(std::uint64_t{end}).end_array();
}

void write_spans(JsonWriter& json, const char* name, const Snippet::Spans& spans) {
  json.key(name).begin_array();
  for (const auto& [start, end] : spans) write_span(json, start, end);
  json.end_array();
}

void write_snippet(JsonWriter& json, const Snippet& snippet, std::string_view body) {
  json.key("snippet").text(snippet.text);
  write_spans(json, "highlights", snippet.highlights);
  write_spans(json, "code", snippet.code);
  write_span(json.key("best"), snippet.best.first, snippet.best.second);
  write_span(json.key("answer"), count_characters(body.substr(0, snippet.begin)),
             count_characters(body.substr(0, snippet.end)));
}

// Metadata again, as JSON to the letter: it may be a stranger's.
void write_metadata(JsonWriter& json, std::string_view written) {
  Json metadata;
  metadata.read_metadata(written);  // kDamaged if it is none
  json.key("metadata").begin_object();
  for (const std::size_t name : metadata.items(0)) {
    if (metadata.values()[name].text == kAnchorsName) continue;
    json.key(metadata.values()[name].text);
    const JsonValue& value = metadata.values()[name + 1];
    if (value.is(JsonValue::Kind::kText))
      json.text(value.text);
    else if (value.is(JsonValue::Kind::kReal) && !std::isfinite(value.real))
      json.null();
    else
      json.raw(value.written);
  }
  json.end_object();
}

void write_reasons(JsonWriter& json, const Hit& hit) {
  const auto write = [&](const char* name, std::optional<double> value) {
    json.key(name);
    if (value)
      json.decimal(*value);
    else
      json.null();
  };
  json.key("score").decimal(hit.rank.score);
  write("distance", hit.distance);
  json.key("ranks").begin_object();
  if (hit.rank.by_meaning > 0) json.key("semantic").number(std::uint64_t{hit.rank.by_meaning});
  if (hit.rank.by_words > 0) json.key("lexical").number(std::uint64_t{hit.rank.by_words});
  json.end_object();
  write("tokens", hit.rank.tokens);
  write("words", hit.rank.words);
  write("exact", hit.rank.exact);
  write("reranker", hit.rank.reranker);
  write("nearness", hit.grounds.nearness);
  write("coverage", hit.grounds.coverage);
  write("probability", hit.probability);
  json.key("strength").text(strength_of(hit.probability));
}

void write_places(JsonWriter& json, const char* name, std::span<const Hit> places, const Hit& hit,
                  const Snippet& snippet, const Showing& showing) {
  json.key(name).begin_array();
  for (const Hit& place : places) {
    const Passage& passage = place.passage;
    json.begin_object().key("id").number(passage.chunk.id);
    json.key("path").text(passage.chunk.document->path);
    // Where the text is the same, so is its best line.
    const bool is_same = passage.body == hit.passage.body;
    const Snippet own = is_same ? snippet : snippet_of(place, showing);
    write_line(json, passage, own);
    write_link(json, passage, own, showing, nullptr);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Snippet snippet_of(const Hit& hit, const Showing& showing) {
  if (hit.snippet) return *hit.snippet;
  const std::string& body = hit.passage.body;
  // What is embedded ends with the body.
  const std::size_t before = hit.passage.embedded.size() - body.size();
  const auto match = [&](std::size_t begin, std::size_t end) {
    return showing.tokens->match_within(*hit.tokens, before + begin, before + end);
  };
  const Relevance by_tokens(match);
  const Relevance* relevance = showing.tokens && hit.tokens ? &by_tokens : nullptr;
  const DocumentRecord& document = hit.passage.chunk.document->document;
  const Shown shown = show(body, marks_of(document.kind, document.metadata));
  return showing.is_whole ? whole_snippet(shown, showing.words, relevance)
                          : choose_snippet(shown, showing.words, relevance);
}

void write_hit(JsonWriter& json, const Hit& hit, std::size_t number, const Showing& showing) {
  const Passage& passage = hit.passage;
  const DocumentFacts& document = *passage.chunk.document;
  const Snippet snippet = snippet_of(hit, showing);
  json.begin_object().key("number").number(std::uint64_t{number});
  json.key("id").number(passage.chunk.id).key("path").text(document.path);
  json.key("key").text(document.document.key).key("kind").text(document.document.kind);
  json.key("title").text(passage.title);
  write_place(json, passage, snippet, showing);
  json.key("start").number(std::uint64_t{passage.chunk.place.span.start});
  json.key("end").number(std::uint64_t{passage.chunk.place.span.end});
  write_reasons(json, hit);
  write_metadata(json, document.document.metadata);
  write_snippet(json, snippet, passage.body);
  json.key("copies").number(std::uint64_t{hit.copies});
  write_places(json, "also", hit.also, hit, snippet, showing);
  write_places(json, "more", hit.more, hit, snippet, showing);
  json.key("text").text(passage.body).end_object();
}

std::optional<std::size_t> QuerySession::allowed_count() const {
  if (scope_.holds_all()) return std::nullopt;
  return scope_.ids(collection_.layout()).size();
}

Showing QuerySession::showing_of_hits() const {
  return {LexicalQuery(query_.highlight.value_or(question_.text)),
          meaning_ ? &std::as_const(*meaning_).tokens() : nullptr, query_.shows_whole,
          &collection_.site()};
}

std::string QuerySession::answer() const {
  expect(is_over(), Reason::kWrongState, "the session still needs something; supply it first");
  JsonWriter json;
  const Showing showing = showing_of_hits();
  json.begin_object().key("hits").begin_array();
  for (std::size_t i = 0; i < hits_.size(); ++i) write_hit(json, hits_[i], i + 1, showing);
  json.end_array().key("stale").begin_array();
  for (const std::size_t source : reader_.stale()) {
    const Catalogue::Place place = collection_.catalogue().source(source);
    json.text(place.group->rows.name(place.row).path);
  }
  json.end_array().key("explanation");
  write_explanation(json);
  return json.end_object().take();
}

// What was to be found to the letter, and is nowhere: what the question requires, and its names.
void QuerySession::write_absent(JsonWriter& json) const {
  json.key("absent").begin_array();
  for (std::size_t i = 0; i < question_.requirements.size(); ++i)
    if ((given_up_ >> i & 1) != 0) json.text(question_.requirements[i].shown());
  const bool is_counted = query_.mode != QueryMode::kSemantic && query_.words != WordSource::kNone;
  const bool has_away = query_.words == WordSource::kTexts && collection_.layout().has_away_texts();
  // What a filter leaves out may have it.
  const bool is_whole = scope_.holds_all() && test_.empty() && !has_away;
  for (const std::string& name : exact_.names()) {
    if (!is_counted || !is_whole) break;
    const std::vector<std::string> forms = LexicalQuery(name).terms();
    const auto term = std::find(word_terms_.begin(), word_terms_.end(), forms.at(0));
    if (term != word_terms_.end() &&
        by_words_.chunks_with[static_cast<std::size_t>(term - word_terms_.begin())] == 0)
      json.text(name);
  }
  json.end_array();
}

void QuerySession::write_explanation(JsonWriter& json) const {
  const bool has_words = query_.mode != QueryMode::kSemantic;
  json.begin_object().key("strategy").text(meaning_ ? meaning_->strategy() : "");
  json.key("chunks").number(std::uint64_t{collection_.catalogue().counts().chunks});
  json.key("allowed_chunks");
  if (const auto count = allowed_count())
    json.number(std::uint64_t{*count});
  else
    json.null();
  const SearchCounters none;
  const SearchCounters& counters = meaning_ ? meaning_->counters() : none;
  json.key("codes_touched").number(std::uint64_t{counters.codes_touched});
  json.key("rounds").number(std::uint64_t{counters.rounds});
  json.key("candidates").number(std::uint64_t{candidates_.size()});
  json.key("copies").number(std::uint64_t{copies_.count()});
  json.key("chunks_scored").number(std::uint64_t{scores_.size()});
  json.key("out_of_reach").number(std::uint64_t{meaning_ ? meaning_->out_of_reach() : 0});
  write_absent(json);
  json.key("counts_words").boolean(has_words && query_.words == WordSource::kTexts);
  json.key("lexical_bytes").number(word_bytes_).key("lexical_terms").begin_object();
  const std::size_t asked = query_.words == WordSource::kHost ? word_terms_.size() : terms_.asked();
  for (std::size_t i = 0; has_words && i < std::min(asked, word_terms_.size()); ++i)
    json.key(word_terms_[i]).number(by_words_.chunks_with[i]);
  json.end_object().end_object();
}

}  // namespace gossamer
