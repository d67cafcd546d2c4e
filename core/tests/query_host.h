#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json_tree.h"
#include "query/session.h"
#include "query_fixture.h"

namespace gossamer::testing {

using Ids = std::vector<std::uint64_t>;

inline JsonTree read_back(std::string_view json) { return read_tree(json); }

// A member of an object that must be there.
inline const JsonTree& at(const JsonTree& value, std::string_view name) {
  const JsonTree* found = value.find(name);
  expect(found != nullptr, Reason::kUnknownId, "there is no such member");
  return *found;
}

inline Ids ids_in(const JsonTree& need) {
  Ids ids;
  for (const JsonTree& id : at(need, "ids").items)
    ids.push_back(static_cast<std::uint64_t>(id.integer));
  return ids;
}

// Bytes that were read, and views of them.
struct ReadSpans {
  std::vector<std::optional<Bytes>> bytes;

  std::vector<std::optional<ByteView>> views() const {
    std::vector<std::optional<ByteView>> views;
    for (const std::optional<Bytes>& one : bytes)
      views.push_back(one ? std::optional(ByteView(*one)) : std::nullopt);
    return views;
  }
};

// Supplies sessions out of a library, as a host does out of files and services.
class QueryHost {
 public:
  explicit QueryHost(const Library& library, const Index* index = nullptr)
      : vectors(index), library_(library) {}

  // What a server says of a chunk.
  std::optional<AwayText> away_text(std::uint64_t id) const {
    const Written& chunk = library_.written.at(id);
    return AwayText{id, chunk.title, chunk.body, chunk.embedded, 3, 3};
  }

  std::vector<float> vectors_of(const Ids& ids) const {
    std::vector<float> rows;
    for (const std::uint64_t id : ids) {
      const std::vector<float> one = vector_of(library_.written.at(id).embedded);
      rows.insert(rows.end(), one.begin(), one.end());
    }
    return rows;
  }

  // The vectors of the words of chunks, and how many each has.
  std::pair<std::vector<float>, std::vector<std::uint32_t>> tokens_of(const Ids& ids) const {
    std::pair<std::vector<float>, std::vector<std::uint32_t>> tokens;
    for (const std::uint64_t id : ids) {
      const WordVectors one = word_vectors_of(library_.written.at(id).embedded);
      tokens.first.insert(tokens.first.end(), one.rows.begin(), one.rows.end());
      tokens.second.push_back(static_cast<std::uint32_t>(one.starts.size()));
    }
    return tokens;
  }

  // Of a model to which later ids answer better.
  static std::vector<float> scores_of(const Ids& ids) {
    std::vector<float> scores;
    for (const std::uint64_t id : ids) scores.push_back(static_cast<float>(id) / 4 - 3);
    return scores;
  }

  // All spans of documents, as the files and stored texts are now.
  ReadSpans read(const JsonTree& documents) const {
    ReadSpans read;
    for (const JsonTree& document : documents.items)
      for (const JsonTree& span : at(document, "spans").items)
        read.bytes.push_back(read_span(document, static_cast<std::size_t>(span.items[0].integer),
                                       static_cast<std::size_t>(span.items[1].integer)));
    return read;
  }

  void supply(QuerySession& session, const JsonTree& need) {
    const std::string& name = at(need, "need").text;
    ++asked[name];
    if (name == "question") supply_question(session);
    if (name == "words") count_words(session);
    if (name == "ranking") session.supply_ranking(ranking, {"word"}, {ranking.size()});
    if (name == "postings") supply_postings(session, need);
    if (name == "vectors") supply_vectors(session, need);
    if (name == "texts") session.supply_texts(read(at(need, "documents")).views());
    if (name == "embeddings") supply_embeddings(session, need);
    if (name == "chunks") supply_chunks(session, need);
    if (name == "scores") session.supply_scores(scores_of(ids_in(need)));
  }

  // Supplies a session until it is over, and gives its answer.
  JsonTree run(QuerySession& session) {
    while (true) {
      const JsonTree needs = read_back(session.needs());
      if (needs.items.empty()) break;
      for (const JsonTree& need : needs.items) supply(session, need);
    }
    return read_back(session.answer());
  }
  JsonTree ask(const Collection& collection, const Query& query) {
    question = query.question;
    QuerySession session(collection, vectors != nullptr, query);
    return run(session);
  }

  void count_words(QuerySession& session) const {
    WordPass& pass = session.pass();
    for (const WordPiece& piece : pass.pieces()) count(pass, piece);
    session.finish_words();
  }
  void count(WordPass& pass, const WordPiece& piece) const {
    if (piece.segment == kVerbatim) {
      const auto file = library_.files.find(std::string(pass.path_of(piece)));
      const std::string text = file == library_.files.end() ? "" : file->second;
      const auto begin = std::min(static_cast<std::size_t>(piece.begin), text.size());
      pass.count(piece, std::string_view(text).substr(
                            begin, static_cast<std::size_t>(piece.end - piece.begin)));
    } else {
      const Bytes text = library_.texts.read(piece.segment, piece.begin, piece.end);
      pass.count(piece, {reinterpret_cast<const char*>(text.data()), text.size()});
    }
  }

  std::string question;
  const Index* vectors;
  Ids ranking;                              // by words, where the host ranks
  Bytes postings;                           // of all chunks
  std::map<std::uint64_t, Supplied> given;  // what is said of vectors that are not to be embedded
  bool has_server = true;
  bool gives_tokens = true;

  std::map<std::string, int> asked;  // how often, by need
  Ids embedded;                      // in their order
  Ids wanted;                        // vectors

 private:
  std::optional<Bytes> read_span(const JsonTree& document, std::size_t start,
                                 std::size_t end) const {
    const std::int64_t segment = at(document, "segment").integer;
    if (segment == kVerbatim) {
      const auto file = library_.files.find(at(document, "path").text);
      if (file == library_.files.end() || file->second.size() < end) return std::nullopt;
      return Bytes(file->second.begin() + static_cast<std::ptrdiff_t>(start),
                   file->second.begin() + static_cast<std::ptrdiff_t>(end));
    }
    const auto offset = static_cast<std::uint64_t>(at(document, "offset").integer);
    return library_.texts.read(static_cast<std::uint64_t>(segment), offset + start, offset + end);
  }

  void supply_question(QuerySession& session) const {
    const WordVectors tokens = gives_tokens ? word_vectors_of(question) : WordVectors();
    session.supply_question(*vectors, vector_of(question), tokens.rows, tokens.starts);
  }

  void supply_embeddings(QuerySession& session, const JsonTree& need) {
    const Ids ids = ids_in(need);
    embedded.insert(embedded.end(), ids.begin(), ids.end());
    const bool with_tokens = at(need, "tokens").integer != 0;
    const auto [rows, counts] = tokens_of(with_tokens ? ids : Ids());
    session.supply_embeddings(vectors_of(ids), {rows, counts});
  }

  void supply_postings(QuerySession& session, const JsonTree& need) const {
    std::vector<ByteView> ranges;
    for (const JsonTree& range : at(need, "ranges").items)
      ranges.push_back(
          ByteView(postings).subspan(static_cast<std::size_t>(range.items[0].integer),
                                     static_cast<std::size_t>(range.items[1].integer)));
    session.supply_postings(ranges);
  }

  void supply_vectors(QuerySession& session, const JsonTree& need) {
    const Ids ids = ids_in(need);
    wanted.insert(wanted.end(), ids.begin(), ids.end());
    const bool is_away = at(need, "away").integer != 0;
    std::vector<Supplied> states;
    for (const std::uint64_t id : ids) {
      const auto known = given.find(id);
      if (known != given.end())
        states.push_back(known->second);
      else if (is_away)
        states.push_back(has_server ? Supplied::kGiven : Supplied::kOutOfReach);
      else
        states.push_back(Supplied::kEmbed);
    }
    session.supply_vectors(states, vectors_of(ids));
  }

  void supply_chunks(QuerySession& session, const JsonTree& need) const {
    std::vector<std::optional<AwayText>> chunks;
    for (const std::uint64_t id : ids_in(need))
      chunks.push_back(has_server ? away_text(id) : std::nullopt);
    session.supply_chunks(chunks, has_server);
  }

  const Library& library_;
};

// What is said of hits, in their order.
inline Ids hit_ids(const JsonTree& answer) {
  Ids ids;
  for (const JsonTree& hit : at(answer, "hits").items)
    ids.push_back(static_cast<std::uint64_t>(at(hit, "id").integer));
  return ids;
}

inline const JsonTree& hit_of(const JsonTree& answer, std::size_t number) {
  return at(answer, "hits").items.at(number);
}

inline std::int64_t explained(const JsonTree& answer, const char* name) {
  return at(at(answer, "explanation"), name).integer;
}

inline std::vector<std::string> stale_of(const JsonTree& answer) {
  std::vector<std::string> paths;
  for (const JsonTree& path : at(answer, "stale").items) paths.push_back(path.text);
  return paths;
}

inline Query query_of(const std::string& question, QueryMode mode = QueryMode::kHybrid,
                      std::size_t k = 5) {
  Query query;
  query.question = question;
  query.mode = mode;
  query.k = k;
  return query;
}

inline constexpr QueryMode kModes[] = {QueryMode::kHybrid, QueryMode::kSemantic,
                                       QueryMode::kLexical};

// A library that questions are asked of.
template <class Held>
struct Asked {
  JsonTree ask(const Query& query) { return host.ask(collection, query); }
  Ids hits(const Query& query) { return hit_ids(ask(query)); }
  std::uint64_t id(const std::string& name) const { return library.id_of(name); }

  Held library;
  Collection collection{library.catalogue(), {kFolder}};
  std::unique_ptr<Index> index = library.index();
  QueryHost host{library, index.get()};
};
using Small = Asked<SmallLibrary>;
using Large = Asked<LargeLibrary>;

}  // namespace gossamer::testing
