// A session over a small collection, supplied in any order with anything, with and without vectors
// of tokens: what is right, what is missing, spoilt, of another size or given twice. It gives an
// error or goes on, comes to an end once it is supplied rightly, and its answer is JSON that shows
// no text but what was indexed. What was only refused changes nothing.
//
// The first five bytes are the question, the others what is done, one after the other.

#include <limits>
#include <map>
#include <string>

#include "fuzz/input.h"
#include "query/session.h"
#include "tests/query_fixture.h"
#include "tests/query_host.h"

using namespace gossamer;
using namespace gossamer::fuzz;
using namespace gossamer::testing;

namespace {

constexpr int kMostWrong = 200;   // things that are done
constexpr int kMostSteps = 1000;  // that a session takes which is supplied rightly
constexpr const char* kQuestions[] = {"The lease ends in March.",
                                      "tea rent landlord",
                                      "",
                                      "\xED\xA0\x80 tea",
                                      "Nobody drinks tea there.",
                                      "\"lease ends\"",
                                      "+nowhere lease",
                                      "tea -rent",
                                      "\"of the moon\" tea -\"the lease\"",
                                      "title:lease rent",
                                      "-title:tea \"ends in\" \"rent is\"",
                                      "class tea",
                                      "E1101"};
constexpr const char* kFilters[] = {R"({"where": "lang == 'en'"})", R"({"where": "year > 1"})",
                                    R"({"types": ["none"]})"};

struct World {
  World() {
    PostingsWriter words;
    for (std::uint32_t chunk = 0; chunk < collection.layout().chunk_count(); ++chunk)
      words.add(chunk, library.written.at(collection.layout().id_of(chunk)).embedded);
    postings = words.finish(static_cast<std::uint32_t>(collection.layout().chunk_count()), {});
    collection.attach_postings(
        ByteView(postings).first(PostingsView::head_bytes(postings, postings.size())),
        postings.size());
  }

  QueryHost host(const Query& query, bool gives_tokens) const {
    QueryHost made(library, index.get());
    made.question = query.question;
    made.gives_tokens = gives_tokens;
    made.ranking = {library.id_of("tea"), 99, library.id_of("away"), library.id_of("lease.md")};
    made.postings = postings;
    return made;
  }

  SmallLibrary library;
  Collection collection{library.catalogue(), {kFolder}};
  std::unique_ptr<Index> index = library.index();
  Bytes postings;
};

Query read_query(Choices& choices, const World& world) {
  Query query;
  query.question = kQuestions[choices.below(std::size(kQuestions))];
  const std::uint8_t kinds = choices.next(), rest = choices.next(), k = choices.next();
  query.mode = static_cast<QueryMode>(kinds % 3);
  query.words = static_cast<WordSource>(kinds / 3 % 4);
  query.rescores = kinds / 12 % 2 > 0;
  query.shows_whole = kinds >= 128;
  query.k = k < 250 ? 1u + k % 16 : ~std::size_t{0} - k;
  query.reranks = rest / 4 % 4 > 0;
  if (rest / 4 % 4 == 1) query.recall = 0.9;
  if (rest % 4 > 0) query.filter = kFilters[rest % 4 - 1];
  if (rest >= 128) query.excluded = {rest % 16u, world.library.id_of("lease.md")};
  return query;
}

// A session, and what is done to it.
class Run {
 public:
  Run(const World& world, Query query, bool gives_tokens, Choices& choices)
      : world_(world),
        choices_(choices),
        host_(world.host(query, gives_tokens)),
        session_(world.collection, true, std::move(query)) {}

  void do_anything() {
    const JsonTree needs = read_back(session_.needs());
    require(needs.items.empty() == session_.is_over(), "what is not over needs something");
    try {
      if (!needs.items.empty() && !choices_.is_one_in(3)) {
        const JsonTree& need = needs.items[choices_.below(needs.items.size())];
        if (choices_.is_one_in(3))
          supply_spoilt(need);
        else
          supply(need);
      } else {
        supply_out_of_order();
      }
    } catch (const Error&) {
    }
  }

  void finish() {
    for (int step = 0; !session_.is_over(); ++step) {
      require(step < kMostSteps, "a session comes to an end");
      const JsonTree needs = read_back(session_.needs());
      require(!needs.items.empty(), "what is not over needs something");
      finish(needs.items[0]);
    }
  }

  const QuerySession& session() const { return session_; }
  bool is_spoilt() const { return is_spoilt_; }

 private:
  // Words that were counted partly are counted to their end.
  void finish(const JsonTree& need) {
    if (at(need, "need").text != "words") return host_.supply(session_, need);
    WordPass& pass = session_.pass();
    for (const WordPiece& piece : pass.pieces()) {
      try {
        host_.count(pass, piece);
      } catch (const Error& error) {
        require(error.reason() == Reason::kWrongState, "a piece is counted, or was");
      }
    }
    session_.finish_words();
  }

  // What is right, sometimes twice: a later round may take what was meant for another.
  void supply(const JsonTree& need) {
    host_.supply(session_, need);
    if (!choices_.is_one_in(16)) return;
    is_spoilt_ = true;
    host_.supply(session_, need);
  }

  void supply_spoilt(const JsonTree& need) {
    const std::string& name = at(need, "need").text;
    is_spoilt_ = true;
    if (name == "question") supply_question();
    if (name == "words") count_anything();
    if (name == "ranking") return choices_.is_one_in(2) ? session_.count_words() : supply_ranking();
    if (name == "postings") supply_postings(need);
    if (name == "vectors") supply_vectors(ids_in(need).size());
    if (name == "texts") supply_texts(need);
    if (name == "embeddings") supply_embeddings(ids_in(need).size());
    if (name == "chunks") supply_chunks(ids_in(need));
    if (name == "scores") session_.supply_scores(floats(ids_in(need).size()));
  }

  void supply_out_of_order() {
    static const std::vector<float> some(kWordDim + 1);
    switch (choices_.below(10)) {
      case 0:
        return session_.supply_question(*world_.index, some);
      case 1:
        return session_.finish_words();
      case 2:
        return session_.supply_ranking({}, {"a"}, {});
      case 3:
        return session_.supply_postings({});
      case 4:
        return session_.supply_vectors({}, some);
      case 5:
        return session_.finish_rows();
      case 6:
        return session_.supply_texts(std::vector<std::optional<ByteView>>(choices_.next() + 99));
      case 7:
        return session_.supply_embeddings(some, {some, {}, {}});
      case 8:
        return session_.supply_scores(std::vector<float>(99));  // never so many are scored
      default:
        return session_.supply_chunks(std::vector<std::optional<AwayText>>(99), true);
    }
  }

  // Mostly so many.
  std::vector<float> floats(std::size_t count) {
    constexpr float kAny[] = {0,
                              1,
                              -1,
                              1e-30f,
                              3e38f,
                              -3e38f,
                              std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
    std::vector<float> values(
        choices_.is_one_in(8) ? std::max<std::size_t>(count, 1) + choices_.below(3) - 1 : count);
    const bool is_wild = choices_.is_one_in(2);
    for (float& value : values) value = kAny[choices_.below(is_wild ? std::size(kAny) : 3)];
    return values;
  }

  void spoil(std::string& text) {
    if (choices_.is_one_in(4)) text += 'x';
    if (!text.empty() && choices_.is_one_in(2))
      text[choices_.next() % text.size()] = static_cast<char>(choices_.next());
  }

  void count_anything() {
    WordPass& pass = session_.pass();
    WordPiece piece = pass.pieces()[choices_.below(pass.pieces().size())];
    if (choices_.is_one_in(4)) piece.number = choices_.next();
    std::string text(static_cast<std::size_t>(piece.end - piece.begin), 't');
    spoil(text);
    pass.count(piece, text);
  }

  void supply_ranking() {
    Ids ids(choices_.below(4));
    for (std::uint64_t& id : ids) id = choices_.next();
    std::vector<std::string> terms(choices_.below(4), "\xC3\xA4");
    session_.supply_ranking(ids, terms,
                            std::vector<std::uint64_t>(choices_.below(4), choices_.next() - 1ull));
  }

  void supply_question() {
    std::vector<std::uint32_t> starts(choices_.below(5));
    for (std::uint32_t& start : starts) start = choices_.next() % 32 - 1u;
    session_.supply_question(*world_.index, floats(kWordDim), floats(kWordDim * starts.size()),
                             starts);
  }

  void supply_embeddings(std::size_t count) {
    std::vector<std::uint32_t> counts(choices_.is_one_in(8) ? count + 1 : count);
    std::size_t sum = 0;
    for (std::uint32_t& one : counts) sum += one = static_cast<std::uint32_t>(choices_.below(4));
    const std::vector<float> rows = floats(kWordDim * count), tokens = floats(kWordDim * sum);
    if (choices_.is_one_in(8)) counts.back() -= 4;
    std::vector<std::uint32_t> starts(choices_.is_one_in(8) ? choices_.below(9) : sum);
    for (std::uint32_t& start : starts) start = choices_.next() % 256 - 1u;
    session_.supply_embeddings(rows, {tokens, counts, starts});
  }

  void supply_postings(const JsonTree& need) {
    std::vector<Bytes> parts;
    for (const JsonTree& range : at(need, "ranges").items) {
      const auto begin = world_.postings.begin() + range.items[0].integer;
      parts.emplace_back(begin, begin + range.items[1].integer);
    }
    Bytes& part = parts[choices_.below(parts.size())];
    if (!part.empty()) part[choices_.next() % part.size()] ^= choices_.next();
    if (choices_.is_one_in(4)) part.push_back(0);
    if (choices_.is_one_in(4)) parts.pop_back();
    session_.supply_postings(std::vector<ByteView>(parts.begin(), parts.end()));
  }

  void supply_vectors(std::size_t count) {
    std::vector<Supplied> states(choices_.is_one_in(8) ? count + 1 : count);
    for (Supplied& state : states) state = static_cast<Supplied>(choices_.below(4));
    session_.supply_vectors(states, floats(kWordDim * count));
  }

  void supply_texts(const JsonTree& need) {
    ReadSpans spans = host_.read(at(need, "documents"));
    std::optional<Bytes>& span = spans.bytes[choices_.below(spans.bytes.size())];
    if (choices_.is_one_in(3)) {
      span.reset();
    } else if (!span->empty()) {
      (*span)[choices_.next() % span->size()] = choices_.next();
    }
    if (choices_.is_one_in(8)) spans.bytes.pop_back();
    session_.supply_texts(spans.views());
  }

  void supply_chunks(const Ids& ids) {
    std::vector<std::optional<AwayText>> chunks;
    for (const std::uint64_t id : ids) {
      AwayText text = *host_.away_text(id);
      spoil(text.title);
      spoil(text.body);
      spoil(text.embedded);
      text.first = choices_.is_one_in(2) ? INT64_MIN : INT64_MAX;
      text.last = choices_.is_one_in(2) ? INT64_MIN : INT64_MAX;
      chunks.push_back(choices_.is_one_in(4) ? std::nullopt : std::optional(text));
    }
    session_.supply_chunks(chunks, choices_.is_one_in(2));
  }

  const World& world_;
  Choices& choices_;
  QueryHost host_;
  QuerySession session_;
  bool is_spoilt_ = false;
};

// Large ones are written as whole numbers.
double number_of(const JsonTree& value) {
  return value.is(JsonTree::Kind::kReal) ? value.real : static_cast<double>(value.integer);
}

void check(const JsonTree& answer, const World& world, const Query& query) {
  std::set<std::uint64_t> seen;
  double before = std::numeric_limits<double>::infinity();
  for (const JsonTree& hit : at(answer, "hits").items) {
    const auto id = static_cast<std::uint64_t>(at(hit, "id").integer);
    require(seen.insert(id).second, "each chunk is one hit");
    require(std::find(query.excluded.begin(), query.excluded.end(), id) == query.excluded.end(),
            "what is excluded is no hit");
    const double score = number_of(at(hit, "score"));
    require(score <= before, "the best come first");
    before = score;
    const std::string& text = at(hit, "text").text;
    require(text.empty() || text == world.library.written.at(id).body,
            "a hit shows what was indexed");
  }
  require(seen.size() <= query.k, "there are no more hits than were asked for");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  Choices choices(data, size);
  const Query query = read_query(choices, world);
  const bool gives_tokens = !choices.is_one_in(4);
  Run run(world, query, gives_tokens, choices);
  for (int i = 0; i < kMostWrong && !choices.empty(); ++i) run.do_anything();
  run.finish();
  const std::string answer = run.session().answer();
  check(read_back(answer), world, query);
  if (run.is_spoilt()) return 0;
  QueryHost host = world.host(query, gives_tokens);
  QuerySession again(world.collection, true, query);
  host.run(again);
  require(again.answer() == answer, "what was refused changes nothing");
  return 0;
}
