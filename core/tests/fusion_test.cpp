#include "query/fusion.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gossamer;

namespace {

using Ids = std::vector<std::uint64_t>;

Ids ids_of(const std::vector<FusedChunk>& fused) {
  Ids ids;
  for (const FusedChunk& chunk : fused) ids.push_back(chunk.id);
  return ids;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kEndless = std::numeric_limits<float>::infinity();

using Scores = std::vector<double>;

void check_same(const Scores& scores, const Scores& expected) {
  REQUIRE(scores.size() == expected.size());
  for (std::size_t i = 0; i < scores.size(); ++i) CHECK(scores[i] == doctest::Approx(expected[i]));
}

}  // namespace

TEST_CASE("what both rankings hold goes before what one holds") {
  const auto fused = fuse(Ids{1, 2, 3}, Ids{4, 2, 5});

  CHECK(fused[0].id == 2);
  CHECK(fused[0].by_meaning == 2);
  CHECK(fused[0].by_words == 2);
}

TEST_CASE("one ranking keeps its order") {
  CHECK(ids_of(fuse(Ids{7, 3, 9}, {})) == Ids{7, 3, 9});
  CHECK(ids_of(fuse({}, Ids{7, 3, 9})) == Ids{7, 3, 9});
}

TEST_CASE("equals go by their best place and then by id") {
  CHECK(ids_of(fuse(Ids{8, 2}, Ids{2, 8})) == Ids{2, 8});
  CHECK(ids_of(fuse(Ids{5}, Ids{4})) == Ids{4, 5});
}

TEST_CASE("no rankings give no hits") { CHECK(fuse({}, {}).empty()); }

TEST_CASE("evidence is added up in deviations from its mean") {
  // Of three that are evenly apart, the outer ones are sqrt(1.5) deviations from their mean.
  const double one = std::sqrt(1.5);
  const std::vector<Evidence> chunks{{1.0F, 0.2F, 4}, {2.0F, 0.6F, 6}, {3.0F, 0.4F, 8}};

  check_same(weigh_evidence(chunks, 10),
             {one - 1.5 * one - 0.5 * one, 1.5 * one, -one + 0.5 * one});
}

TEST_CASE("without tokens, distances and words count alike") {
  const std::vector<Evidence> chunks{{1.0F, {}, 0}, {2.0F, {}, 9}};
  check_same(weigh_evidence(chunks, 0), {0, 0});
  check_same(weigh_evidence(chunks, 10), {0, 0});
  const std::vector<Evidence> given{{1.0F, 0.9F, 0}, {2.0F, 0.1F, 9}};
  check_same(weigh_evidence(given, 0), {0, 0});
}

TEST_CASE("if one chunk lacks its tokens, no tokens count") {
  std::vector<Evidence> chunks{{1.0F, 0.1F, 1}, {2.0F, 0.5F, 2}, {3.0F, {}, 3}};
  std::vector<Evidence> none = chunks;
  for (Evidence& chunk : none) chunk.tokens.reset();

  check_same(weigh_evidence(chunks, 10), weigh_evidence(none, 10));

  // One that cannot be read at all matches nothing, and the others' count.
  chunks[2].distance.reset();
  none[2].distance.reset();
  CHECK(weigh_evidence(chunks, 10)[1] > weigh_evidence(none, 10)[1]);
}

TEST_CASE("a chunk without a distance is as far as the farthest") {
  const std::vector<Evidence> chunks{{{}, {}, 0}, {1.0F, {}, 0}, {5.0F, {}, 0}};
  const Scores scores = weigh_evidence(chunks, 0);
  CHECK(scores[0] == scores[2]);
  CHECK(scores[1] > scores[2]);
  for (const float no_number : {kNan, kEndless, -kEndless}) {
    std::vector<Evidence> spoilt = chunks;
    spoilt[0].distance = no_number;
    check_same(weigh_evidence(spoilt, 0), scores);
  }
  const std::vector<Evidence> unknown{{{}, {}, 1}, {{}, {}, 2}};
  check_same(weigh_evidence(unknown, 0), {-1, 1});
}

TEST_CASE("what does not differ does not count, whatever its size") {
  check_same(weigh_evidence(std::vector<Evidence>(7, {0.3F, 0.7F, 1.1F}), 5), Scores(7, 0));
  check_same(weigh_evidence(std::vector<Evidence>(7, {3e38F, 0.7F, 3e38F}), 5), Scores(7, 0));
  check_same(weigh_evidence(std::vector<Evidence>(1, {0.3F, 0.7F, 1.1F}), 5), {0});
  CHECK(weigh_evidence({}, 5).empty());
  // And what differs does.
  const std::vector<Evidence> tiny{{1e-20F, {}, 0}, {2e-20F, {}, 0}};
  check_same(weigh_evidence(tiny, 0), {1, -1});
}

TEST_CASE("the longer a question, the more its words count and the less its tokens") {
  const std::vector<Evidence> by_tokens{{1.0F, 0.9F, 1}, {1.0F, 0.1F, 1}};
  const std::vector<Evidence> by_both{{1.0F, 0.9F, 0}, {1.0F, 0.1F, 1}};
  CHECK(weigh_evidence(by_both, 1)[0] == doctest::Approx(1.5));
  CHECK(weigh_evidence(by_both, 24)[0] == doctest::Approx(1.5));
  CHECK(weigh_evidence(by_both, 48)[0] == doctest::Approx(0.75 - 0.5));
  CHECK(weigh_evidence(by_both, 1u << 30)[0] == doctest::Approx(-1));
  CHECK(weigh_evidence(by_tokens, 1)[0] == doctest::Approx(1.5));
  CHECK(weigh_evidence(by_tokens, 24)[0] == doctest::Approx(1.5));
  CHECK(weigh_evidence(by_tokens, 48)[0] == doctest::Approx(0.75));
}

TEST_CASE("words count as far as tokens agree with them") {
  // Four chunks whose tokens and words are in line, at right angles, and against each other.
  const auto scores = [](std::vector<float> words) {
    const std::vector<float> tokens{0.9F, 0.9F, 0.1F, 0.1F};
    std::vector<Evidence> chunks;
    for (std::size_t i = 0; i < 4; ++i) chunks.push_back({1.0F, tokens[i], words[i]});
    return weigh_evidence(chunks, 10);
  };
  check_same(scores({1, 1, 0, 0}), {2.5, 2.5, -2.5, -2.5});
  check_same(scores({1, 0, 1, 0}), {1.5, 1.5, -1.5, -1.5});
  check_same(scores({0, 0, 1, 1}), {1.5, 1.5, -1.5, -1.5});
  // Tokens that do not differ tell nothing of words.
  const std::vector<Evidence> alike{{1.0F, 0.5F, 1}, {1.0F, 0.5F, 0}};
  check_same(weigh_evidence(alike, 10), {1, -1});
}

TEST_CASE("chunks with evidence come first, best first, and the others keep their order") {
  std::vector<FusedChunk> fused = fuse(Ids{1, 2, 3, 4, 5, 6}, Ids{9, 8, 2});
  Ids others = ids_of(fused);
  std::erase_if(others, [](std::uint64_t id) { return id == 1 || id == 2 || id == 9; });
  const Ids ids{1, 2, 9};
  const std::vector<Evidence> evidence{{2.0F, 0.1F, 0}, {1.0F, 0.2F, 3}, {{}, 0.9F, 5}};

  rank_again(fused, ids, evidence, 3);

  const Ids ranked = ids_of(fused);
  CHECK(Ids(ranked.begin(), ranked.begin() + 3) == Ids{9, 2, 1});
  CHECK(Ids(ranked.begin() + 3, ranked.end()) == others);
  CHECK(fused[0].tokens == 0.9F);
  CHECK(fused[0].words == 5);
  CHECK(!fused[3].tokens);
  for (std::size_t i = 1; i < fused.size(); ++i) CHECK(fused[i - 1].score >= fused[i].score);
}

TEST_CASE("the order of chunks that are ranked again is total, however they came") {
  const std::vector<FusedChunk> fused = fuse(Ids{1, 2, 3, 4}, Ids{4, 3, 2, 1});
  const Ids ids{1, 2, 3, 4};
  const std::vector<Evidence> alike(4, {1.0F, 0.5F, 2});
  Ids expected;
  for (std::vector<FusedChunk> order = fused;;) {
    std::vector<FusedChunk> again = order;
    rank_again(again, ids, alike, 3);
    if (expected.empty()) expected = ids_of(again);
    CHECK(ids_of(again) == expected);
    const auto by_id = [](const FusedChunk& a, const FusedChunk& b) { return a.id < b.id; };
    if (!std::next_permutation(order.begin(), order.end(), by_id)) break;
  }
  CHECK(expected == Ids{1, 4, 2, 3});
}

TEST_CASE("nothing to rank again leaves the ranking") {
  std::vector<FusedChunk> fused = fuse(Ids{1, 2}, Ids{2, 3});
  const Ids before = ids_of(fused);
  rank_again(fused, {}, {}, 3);
  CHECK(ids_of(fused) == before);
}
