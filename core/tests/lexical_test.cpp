#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "lexical/bm25.h"
#include "lexical/byte_masks.h"
#include "lexical/counter.h"
#include "lexical/query.h"
#include "lexical/stem.h"
#include "lexical/words.h"

using namespace gossamer;

namespace {

using Counts = std::map<std::string, std::uint32_t>;

std::string stemmed(std::string word) {
  stem(word);
  return word;
}

// Every term of the text, looked up one by one: what the counter must give.
bool is_run_byte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) || byte == '_' || (byte & 0x80) != 0;
}

// Whether nothing stands between two words but signs, of which those beyond ASCII belong to one of
// them.
bool are_side_by_side(std::string_view between) {
  while (!between.empty() && is_run_byte(between.front())) between.remove_prefix(1);
  while (!between.empty() && is_run_byte(between.back())) between.remove_suffix(1);
  return between.size() <= 64 && std::none_of(between.begin(), between.end(), is_run_byte);
}

std::string name_of(const LexicalQuery& query, LexicalQuery::Pair pair) {
  return query.terms()[pair.first] + ' ' + query.terms()[pair.second];
}

Counts slow_counts(const LexicalQuery& query, std::string_view text) {
  Counts counts;
  std::optional<TermId> before;
  std::size_t end = 0;
  visit_terms(text, Side::kText, [&](const Term& term) {
    const auto id = query.find(term.form);
    if (id) ++counts[std::string(term.form)];
    if (term.kind == Term::kPart) return;
    if (before && id && term.kind == Term::kWord &&
        are_side_by_side(text.substr(end, term.begin - end)) &&
        query.find_pair({*before, *id}) != LexicalQuery::kNoTerm)
      ++counts[name_of(query, {*before, *id})];
    before = term.kind == Term::kWord ? id : std::nullopt;
    end = term.end;
  });
  return counts;
}

Counts fast_counts(TermCounter& counter, const LexicalQuery& query, std::string_view text) {
  counter.clear();
  counter.add(text);
  Counts counts;
  for (const TermId term : counter.found()) {
    const std::size_t terms = query.terms().size();
    const std::string name =
        term < terms ? query.terms()[term] : name_of(query, query.pairs()[term - terms]);
    counts[name] = counter.count(term);
  }
  return counts;
}

std::string random_text(Random& random, std::size_t pieces) {
  static const std::vector<std::string> kPieces = {
      "lease",  "leases",   "Leasing", "leaseHold", "lease_hold", "x_axis", "x",   "HTTPServer",
      "sha256", "256",      "cafe",    "café",      "Straße",     "日本語", "日",  "ไทย",
      "say",    "saying",   "a",       "_",         " ",          " ",      ".",   "\n",
      "\xff",   "\xe6\x97", "😀",      "e\xcc\x81", "die",        "dying",  "ABC", "0",
      "ß",      "ﬁ",        "ｓａ",    "ﬀ",         "\u00AD",     "²",      "ｶ",   "ﾞ",
      "カ",     "\u3099",   "⑩",       "\u200D",    "\u1112",     "\u1161", "Ⅷ",   "9"};
  std::string text;
  for (std::size_t i = 0; i < pieces; ++i) text += kPieces[random.below(kPieces.size())];
  return text;
}

}  // namespace

TEST_CASE("endings are taken off as the published stemmer does") {
  CHECK(stemmed("caresses") == "caress");
  CHECK(stemmed("ponies") == "poni");
  CHECK(stemmed("feed") == "feed");
  CHECK(stemmed("agreed") == "agre");
  CHECK(stemmed("hopping") == "hop");
  CHECK(stemmed("falling") == "fall");
  CHECK(stemmed("filing") == "file");
  CHECK(stemmed("conflated") == "conflat");
  CHECK(stemmed("relational") == "relat");
  CHECK(stemmed("digitizer") == "digit");
  CHECK(stemmed("vietnamization") == "vietnam");
  CHECK(stemmed("triplicate") == "triplic");
  CHECK(stemmed("adjustment") == "adjust");
  CHECK(stemmed("adoption") == "adopt");
  CHECK(stemmed("controll") == "control");
  CHECK(stemmed("rate") == "rate");
  CHECK(stemmed("sky") == "sky");
}

TEST_CASE("words that are not of English letters alone keep their endings") {
  CHECK(stemmed("b12s") == "b12s");
  CHECK(stemmed("gebäuden") == "gebäuden");
  CHECK(stemmed("is") == "is");
  CHECK(stemmed("") == "");
}

TEST_CASE("a word of several parts gives all of it and each part") {
  CHECK(spaced_terms("getUserName") == "getusernam get user name");
  CHECK(spaced_terms("HTTPServer2") == "httpserver2 http server 2");
  CHECK(spaced_terms("__init_db__") == "initdb init db");
  CHECK(spaced_terms("_ __") == "");
}

TEST_CASE("accents and case make no difference") {
  CHECK(spaced_terms("Café CAFE\xCC\x81 cafe") == "cafe cafe cafe");
}

TEST_CASE("forms of one letter make no difference") {
  const auto finds = [](std::string_view question, std::string_view text) {
    const LexicalQuery query(question);
    TermCounter counter(query);
    return query.find_in(text) ==
               std::vector<std::pair<std::size_t, std::size_t>>{{0, text.size()}} &&
           fast_counts(counter, query, text) == slow_counts(query, text) &&
           !counter.found().empty();
  };
  const std::vector<std::pair<std::string_view, std::string_view>> pairs = {
      {"strassenbahn", "Straßenbahn"},
      {"strassenbahn", "Straßen\u00ADbahn"},
      {"Fluss", "Fluß"},
      {"STRASSE", "STRAẞE"},
      {"assen", "aßen"},
      {"ss", "ß"},
      {"finance", "ﬁnance"},
      {"efficient", "eﬃcient"},
      {"fullwidth", "ｆｕｌｌｗｉｄｔｈ"},
      {"iphone15", "ｉＰｈｏｎｅ１５"},
      {"x2", "x²"},
      {"H2O", "H₂O"},
      {"12", "⑫"},
      {"viii", "Ⅷ"},
      {"Hello", "𝐇𝐞𝐥𝐥𝐨"},
      {"istanbul", "İstanbul"},
      {"ΟΔΟΣ", "οδός"},
      {"سلام", "ﺳﻼﻡ"},
      {"میخواهم", "می\u200Cخواهم"},
      {"ガス", "ｶﾞｽ"},
      {"ガス", "カ\u3099ス"},
      {"한국", "\u1112\u1161\u11AB\u1100\u116E\u11A8"},
      {"豈本", "\uF900本"},
      {"葛飾", "葛\U000E0100飾"}};

  for (const auto& [one, other] : pairs) {
    CHECK_MESSAGE(finds(one, other), other);
    CHECK_MESSAGE(finds(other, one), other);
  }
}

TEST_CASE("a raised or circled digit does not hide the word or number beside it") {
  CHECK(spaced_terms("word¹") == "word1 word 1");
  CHECK(spaced_terms("2019¹") == "20191 2019 1");
  CHECK(spaced_terms("①step") == "1step 1 step");
  CHECK(spaced_terms("Ｈ２Ｏ") == "h2o h 2 o");
  CHECK(spaced_terms("１２３") == "123");
}

TEST_CASE("what says nothing is in no word that it does not stand within") {
  CHECK(LexicalQuery("a\u00AD b").find_in("\u00ADb\u00AD \u00AD") ==
        std::vector<std::pair<std::size_t, std::size_t>>{{2, 3}});
  CHECK(LexicalQuery("日本").find_in("日本\u200D x") ==
        std::vector<std::pair<std::size_t, std::size_t>>{{0, 6}});
  CHECK(spaced_terms("first\u200Btwo") == "first two");
}

TEST_CASE("old questions ask for terms as they were before forms of one letter were folded") {
  const auto old = [](std::string_view question) {
    return LexicalQuery(question, Side::kOldQuestion).terms();
  };

  CHECK(old("Straßen\u00ADbahn ﬁ") == std::vector<std::string>{"straßen", "bahn", "ﬁ"});
  CHECK(old("x² Café leases") == std::vector<std::string>{"x²", "cafe", "leas"});
  CHECK(old("ｶﾞ ｶ") == std::vector<std::string>{"ｶﾞ", "ｶ"});
}

TEST_CASE("scripts without spaces give characters and pairs of them") {
  CHECK(spaced_terms("日本語") == "日 日本 本 本語 語");
  CHECK(LexicalQuery("日本語").terms() == std::vector<std::string>{"日本", "本語"});
  CHECK(LexicalQuery("日").terms() == std::vector<std::string>{"日"});
  CHECK(LexicalQuery("Python入門").terms() == std::vector<std::string>{"python", "入門"});
}

TEST_CASE("a word longer than any word is none") {
  CHECK(spaced_terms(std::string(kLongestWord, 'q')).size() == kLongestWord);
  CHECK(spaced_terms(std::string(kLongestWord + 1, 'q')) == "");
}

TEST_CASE("a question keeps each term once and leaves function words out") {
  CHECK(LexicalQuery("When is the lease due? The lease!").terms() ==
        std::vector<std::string>{"leas", "due"});
}

TEST_CASE("a question of function words alone asks for them") {
  CHECK(LexicalQuery("to be or not to be").terms() ==
        std::vector<std::string>{"to", "be", "or", "not"});
}

TEST_CASE("a question without words asks for nothing") {
  CHECK(LexicalQuery("?! \xff\xfe").terms().empty());
}

TEST_CASE("a question has no more terms than the limit") {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += " q" + std::string(1, static_cast<char>('a' + i % 26)) + "x" + std::to_string(i);

  const LexicalQuery query(text);

  CHECK(query.terms().size() == LexicalQuery::kMostTerms);
  CHECK(query.find(query.terms().back()) == LexicalQuery::kMostTerms - 1);
}

TEST_CASE("terms are found where they stand, overlapping ones as one span") {
  const LexicalQuery query("lease 日本語");

  CHECK(query.find_in("a Lease, myLease: 日本語x") ==
        std::vector<std::pair<std::size_t, std::size_t>>{{2, 7}, {11, 16}, {18, 27}});
}

TEST_CASE("the masks of the vector unit are those of the definition") {
  std::string bytes(256 + kMaskBytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);

  for (std::size_t i = 0; i <= 256; ++i) {
    const ByteMasks fast = masks_of(bytes.data() + i);
    const ByteMasks slow = masks_by_byte(bytes.data() + i);
    CHECK(fast.word == slow.word);
    CHECK(fast.digit == slow.digit);
    CHECK(fast.upper == slow.upper);
    CHECK(fast.high == slow.high);
  }
}

TEST_CASE("the counter counts what looking at every word counts") {
  const LexicalQuery query(
      "leases leasehold xaxis server sha256 256 cafe strasse 日本語 日 ไทย say die x ss fi ffi sa "
      "ガ カ 2 10 하 viii fss");
  TermCounter counter(query);
  Random random(1);

  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, 1 + random.below(120));
    CHECK(fast_counts(counter, query, text) == slow_counts(query, text));
  }
}

TEST_CASE("a word counts wherever it stands in a block of bytes") {
  const LexicalQuery query("lease");
  TermCounter counter(query);

  for (std::size_t before = 0; before < 3 * kMaskBytes; ++before)
    for (const char* word : {"lease", "my_lease9", "日lease", "XLease"})
      for (const std::size_t behind : {0, 3, 200}) {
        const std::string text = std::string(before, ' ') + word + std::string(behind, ' ');
        CHECK(fast_counts(counter, query, text)["leas"] == 1);
      }
}

TEST_CASE("no word that may count is passed over, whatever the query") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    TermPrefixes prefixes;
    const LexicalQuery query(random_text(random, 1 + random.below(30)));
    for (const std::string& term : query.terms()) prefixes.expect(term);
    std::string text = random_text(random, 40);
    text.resize(TermPrefixes::kBlock + TermPrefixes::kMore, ' ');

    const std::uint64_t found = prefixes.find(text.data());

    for (std::size_t i = 0; i < TermPrefixes::kBlock; ++i) {
      const bool is_high = static_cast<std::uint8_t>(text[i]) >= 0x80;
      const bool may = is_high || prefixes.may_begin(&text[i], text.data() + text.size());
      CHECK((!may || (found >> i & 1)));
    }
  }
}

TEST_CASE("text after a long run without spaces is counted") {
  const LexicalQuery query("lease 日本");
  TermCounter counter(query);

  for (std::size_t length = 1; length < 200; ++length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "本日";
    CHECK(fast_counts(counter, query, text + " lease") == slow_counts(query, text + " lease"));
  }
}

TEST_CASE("words side by side are a pair, across lines and signs, but not across a word") {
  const LexicalQuery query("class Hit of a class");
  TermCounter counter(query);

  REQUIRE(query.pairs().size() == 1);
  CHECK(fast_counts(counter, query, "class Hit, CLASS\n    # hits")["class hit"] == 2);
  CHECK(fast_counts(counter, query, "class of Hit; hit class")["class hit"] == 0);
  CHECK(fast_counts(counter, query, "class" + std::string(65, ' ') + "hit")["class hit"] == 0);
}

TEST_CASE("a part of a word counts less where the word itself is found, and one letter nothing") {
  const LexicalQuery query("take_delta E1101");
  const std::vector<std::string> terms = {"takedelta", "take", "delta", "e1101", "1101"};
  REQUIRE(query.terms() == terms);

  const std::vector<std::uint64_t> nowhere = {0, 5, 5, 0, 0}, somewhere = {1, 5, 5, 0, 0};
  const auto alone = query.weigh(nowhere, 100), beside = query.weigh(somewhere, 100);

  CHECK(alone[1] == doctest::Approx(rarity(5, 100)));
  CHECK(beside[1] == doctest::Approx(0.3 * alone[1]));
}

TEST_CASE("what is watched is counted, and counts for nothing") {
  LexicalQuery query("lease");
  const TermId watched = query.watch("the");
  TermCounter counter(query);
  ChunkCounts counts(query);

  counter.add("the end");
  CHECK(counter.count(watched) == 1);
  counts.add(0, 7, counter);

  CHECK(counts.top(5).empty());
  CHECK(counts.chunks_with()[watched] == 1);
}

TEST_CASE("chunks that pairs may bring among the best are uncertain, and no others") {
  const LexicalQuery query("lease due");
  ChunkCounts counts(query);
  using Found = std::vector<ChunkCounts::TermCount>;
  counts.add(0, 20, Found{{0, 3}, {1, 3}});
  counts.add(1, 20, Found{{0, 2}, {1, 2}});
  counts.add(2, 900, Found{{0, 1}, {1, 1}});
  counts.add(3, 20, Found{{0, 4}});
  for (ChunkNumber chunk = 4; chunk < 40; ++chunk) counts.add(chunk, 20, Found{});

  CHECK(counts.uncertain(1, 10) == std::vector<ChunkNumber>{0, 1});
  CHECK(counts.uncertain(4, 10) == std::vector<ChunkNumber>{0, 1, 2});
  CHECK(counts.uncertain(4, 1) == std::vector<ChunkNumber>{0});
}

TEST_CASE("scores are those of the formula") {
  const LexicalQuery query("lease due");
  TermCounter counter(query);
  ChunkCounts counts(query);
  const std::vector<std::string> texts = {"lease lease", "due", "nothing of it", "lease due"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    counter.add(texts[i]);
    counts.add(static_cast<ChunkNumber>(10 + i), texts[i].size(), counter);
  }

  const auto top = counts.top(10);

  // Two of four chunks hold each term, so that both have the same weight, and their pair half of
  // it.
  const double weight = std::log(2.0) * (ChunkCounts::kSaturation + 1);
  const double mean = (11 + 3 + 13 + 9) / 4.0;
  const auto part = [&](double count, double bytes) {
    return weight * count /
           (count + ChunkCounts::kSaturation * (1 - ChunkCounts::kLengthWeight +
                                                ChunkCounts::kLengthWeight * bytes / mean));
  };
  REQUIRE(top.size() == 3);
  CHECK(top[0].chunk == 13);
  CHECK(top[0].score == doctest::Approx(2.5 * part(1, 9)));
  CHECK(top[1].chunk == 11);
  CHECK(top[1].score == doctest::Approx(part(1, 3)));
  CHECK(top[2].chunk == 10);
  CHECK(top[2].score == doctest::Approx(part(2, 11)));
}

TEST_CASE("chunks with equal scores come in the order of their numbers, whoever counted them") {
  const LexicalQuery query("lease");
  TermCounter counter(query);
  ChunkCounts first(query);
  ChunkCounts second(query);
  for (const ChunkNumber chunk : {9u, 4u, 7u, 1u, 8u}) {
    counter.add("lease");
    (chunk % 2 ? first : second).add(chunk, 5, counter);
  }
  second.add(first);

  const auto top = second.top(3);

  REQUIRE(top.size() == 3);
  CHECK(top[0].chunk == 1);
  CHECK(top[1].chunk == 4);
  CHECK(top[2].chunk == 7);
  CHECK(second.chunks_with()[0] == 5);
}

TEST_CASE("counts that are known already score as those that a counter makes") {
  const LexicalQuery query("lease due rent");
  TermCounter counter(query);
  ChunkCounts counted(query);
  const std::vector<std::string> texts = {"lease lease rent", "due", "nothing of it", "nor here"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    counter.add(texts[i]);
    counted.add(static_cast<ChunkNumber>(i), texts[i].size(), counter);
  }
  ChunkCounts known(query);

  known.add(0, texts[0].size(), std::vector<ChunkCounts::TermCount>{{0, 2}, {2, 1}});
  known.add(1, texts[1].size(), std::vector<ChunkCounts::TermCount>{{1, 1}});
  known.add_others(2, texts[2].size() + texts[3].size());

  const auto expected = counted.top(10);
  const auto top = known.top(10);
  REQUIRE(top.size() == expected.size());
  for (std::size_t i = 0; i < top.size(); ++i) {
    CHECK(top[i].chunk == expected[i].chunk);
    CHECK(top[i].score == expected[i].score);
  }
  CHECK(known.chunks() == counted.chunks());
  CHECK(known.bytes() == counted.bytes());
}

TEST_CASE("counts of terms that the question does not have, or not in order, are refused") {
  const LexicalQuery query("lease, or due");
  ChunkCounts counts(query);
  using Found = std::vector<ChunkCounts::TermCount>;

  CHECK_THROWS_AS(counts.add(0, 5, Found{{2, 1}}), Error);
  CHECK_THROWS_AS(counts.add(0, 5, Found{{1, 1}, {0, 1}}), Error);
  CHECK_THROWS_AS(counts.add(0, 5, Found{{0, 0}}), Error);
  CHECK(counts.chunks() == 0);
}
