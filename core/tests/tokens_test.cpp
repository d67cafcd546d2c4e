#include "query/tokens.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "lexical/bm25.h"
#include "reason.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

using Rows = std::vector<float>;
using Numbers = std::vector<std::uint32_t>;
constexpr std::size_t kDim = 24;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Rows random_rows(Random& random, std::size_t count, std::size_t dim = kDim) {
  Rows rows(count * dim);
  for (float& value : rows) value = static_cast<float>(random.normal());
  return rows;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

std::span<const float> row_of(const Rows& rows, std::size_t at) {
  return std::span(rows).subspan(at * kDim, kDim);
}

// Mean of the greatest cosines, word for word.
double mean_of_greatest(const Rows& question, const Rows& text) {
  const std::size_t tokens = question.size() / kDim;
  double sum = 0;
  for (std::size_t i = 0; i < tokens; ++i) {
    double best = 0;
    for (std::size_t j = 0; j < text.size() / kDim; ++j) {
      const auto a = row_of(question, i), b = row_of(text, j);
      const double lengths = std::sqrt(dot(a, a) * dot(b, b));
      if (lengths > 0) best = std::max(best, dot(a, b) / lengths);
    }
    sum += best;
  }
  return sum / static_cast<double>(tokens);
}

// Two thirds of it in the best stretch of three blocks.
double max_sim(const Rows& question, const Rows& text) {
  constexpr std::size_t kBlock = 8 * kDim;
  const double whole = mean_of_greatest(question, text);
  if (text.size() <= 3 * kBlock) return whole;
  double best = 0;
  for (std::size_t at = 0; at + 2 * kBlock < text.size(); at += kBlock) {
    const std::size_t end = std::min(text.size(), at + 3 * kBlock);
    const Rows stretch(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(end));
    best = std::max(best, mean_of_greatest(question, stretch));
  }
  return (2 * best + whole) / 3;
}

float match_of(const QuestionTokens& tokens, const Rows& text) {
  return tokens.match(tokens.compare(text));
}

Numbers starts_of(std::size_t count) {
  Numbers starts(count);
  for (std::size_t i = 0; i < count; ++i) starts[i] = static_cast<std::uint32_t>(i);
  return starts;
}

// A token for each axis: what a text of these axes matches is the share of weight they have.
struct Axes {
  explicit Axes(Numbers starts) : tokens(starts.size(), unit_rows(starts.size()), starts) {}

  static Rows unit_rows(std::size_t count) {
    Rows rows(count * count, 0);
    for (std::size_t i = 0; i < count; ++i) rows[i * count + i] = 2;
    return rows;
  }
  // The share of the weight that one token has.
  double share(std::size_t at) const {
    Rows row(tokens.size(), 0);
    row[at] = 5;
    return static_cast<double>(match_of(tokens, row));
  }

  QuestionTokens tokens;
};

}  // namespace

TEST_CASE("a match is the mean of the likeness to the nearest tokens") {
  Random random(5);
  for (const std::size_t count : {1u, 2u, 7u, 32u}) {
    const Rows question = random_rows(random, count);
    const QuestionTokens tokens(kDim, question, starts_of(count));
    CHECK(tokens.size() == count);
    for (const std::size_t others : {1u, 3u, 40u}) {
      const Rows text = random_rows(random, others);
      CHECK(static_cast<double>(match_of(tokens, text)) ==
            doctest::Approx(max_sim(question, text)).epsilon(1e-5));
    }
    CHECK(static_cast<double>(match_of(tokens, question)) ==
          doctest::Approx(max_sim(question, question)).epsilon(1e-5));
  }
}

TEST_CASE("rows count by their direction, whatever their length") {
  Random random(6);
  Rows question = random_rows(random, 4), text = random_rows(random, 5);
  const double expected = max_sim(question, text);
  for (std::size_t i = 0; i < question.size(); ++i) question[i] *= 1e-6F;
  for (std::size_t i = 0; i < text.size(); ++i) text[i] *= i / kDim % 2 == 0 ? 1e12F : 1e-3F;

  const QuestionTokens tokens(kDim, question, starts_of(4));

  CHECK(static_cast<double>(match_of(tokens, text)) == doctest::Approx(expected).epsilon(1e-5));
}

TEST_CASE("rows without a direction match nothing, and spoil nothing") {
  Random random(7);
  const Rows known = random_rows(random, 2);
  Rows question = known, text = known;
  const QuestionTokens whole(kDim, known, starts_of(2));
  // None, too short and too long to compute one.
  for (const float value : {0.0F, 1e-30F, 3e38F, -3e38F}) {
    question.assign(known.begin(), known.begin() + kDim);
    question.insert(question.end(), kDim, value);
    const QuestionTokens half(kDim, question, starts_of(2));
    CHECK(static_cast<double>(match_of(half, known)) == doctest::Approx(0.5).epsilon(1e-5));
    text.assign(kDim, value);
    CHECK(match_of(whole, text) == 0);
    text.insert(text.end(), known.begin(), known.end());
    CHECK(static_cast<double>(match_of(whole, text)) == doctest::Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("a text without tokens, or of the other direction, matches nothing") {
  Random random(8);
  const Rows question = random_rows(random, 1);
  Rows opposite = question;
  for (float& value : opposite) value = -value;
  const QuestionTokens tokens(kDim, question, starts_of(1));

  CHECK(match_of(tokens, {}) == 0);
  CHECK(match_of(tokens, opposite) == 0);
  CHECK(match_of(QuestionTokens(), {}) == 0);
  CHECK(QuestionTokens().empty());
}

TEST_CASE("tokens of rare words count more, those of no term least") {
  const std::string question = "the landlord pays rent";
  // "land" and "lord" are parts of one word.
  Axes axes({0, 4, 8, 13, 18});
  for (std::size_t i = 0; i < 5; ++i) CHECK(axes.share(i) == doctest::Approx(0.2));

  axes.tokens.weigh(question, std::vector<std::string>{"landlord", "rent"},
                    std::vector<std::uint64_t>{3, 400}, 1000);

  const double rare = rarity(3, 1000), common = rarity(400, 1000), other = 0.5;
  const double sum = 2 * other + 2 * rare + common;
  REQUIRE(rare > common);
  REQUIRE(common > other);
  CHECK(axes.share(0) == doctest::Approx(other / sum));
  CHECK(axes.share(1) == doctest::Approx(rare / sum));
  CHECK(axes.share(2) == doctest::Approx(rare / sum));
  CHECK(axes.share(3) == doctest::Approx(other / sum));
  CHECK(axes.share(4) == doctest::Approx(common / sum));
}

TEST_CASE("weights follow what was counted last, for texts that were compared before too") {
  Axes axes({0, 5});
  const std::vector<float> likeness = axes.tokens.compare(Rows{1, 0});
  const std::vector<std::string> terms{"tea", "rent"};

  axes.tokens.weigh("tea, rent", terms, std::vector<std::uint64_t>{1, 900}, 1000);
  const float rare = axes.tokens.match(likeness);
  axes.tokens.weigh("tea, rent", terms, std::vector<std::uint64_t>{900, 1}, 1000);

  CHECK(rare > axes.tokens.match(likeness));
}

TEST_CASE("within a stretch only the tokens that begin in it count") {
  Axes axes({0, 5});
  const TokenLikeness text{axes.tokens.compare(Rows{1, 0, 0, 1, 0, 0}), {0, 4, 9}};

  CHECK(axes.tokens.match_within(text, 0, 12) == doctest::Approx(1));
  CHECK(axes.tokens.match_within(text, 0, 4) == doctest::Approx(0.5));
  CHECK(axes.tokens.match_within(text, 4, 5) == doctest::Approx(0.5));
  CHECK(axes.tokens.match_within(text, 5, 99) == 0);
  CHECK(axes.tokens.match_within(text, 4, 4) == 0);
}

TEST_CASE("a term that everything holds counts as little as what is none, and never less") {
  Axes axes({0, 4});
  axes.tokens.weigh("tea of", std::vector<std::string>{"tea"}, std::vector<std::uint64_t>{1000},
                    1000);
  CHECK(axes.share(0) == doctest::Approx(0.5));
}

TEST_CASE("counts that cannot be give weights all the same") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [with, chunks] : {std::pair{kMost, std::uint64_t{3}}, {7, 3}, {0, kMost}}) {
    Axes axes({0, 4});
    axes.tokens.weigh("tea of", std::vector<std::string>{"tea"}, std::vector<std::uint64_t>{with},
                      chunks);
    CHECK(std::isfinite(axes.share(0)));
    CHECK(axes.share(0) >= 0.5 - 1e-6);
  }
}

TEST_CASE("tokens that begin beyond the question, or in any order, are of no term or of theirs") {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  Axes axes({kMost, 4, 4, 300, 0});
  axes.tokens.weigh("the rent", std::vector<std::string>{"rent", "the"},
                    std::vector<std::uint64_t>{1, 1000}, 1000);
  CHECK(axes.share(1) == axes.share(2));
  CHECK(axes.share(1) > axes.share(0));
  CHECK(axes.share(0) == axes.share(3));
  CHECK(axes.share(0) == axes.share(4));
  Axes none({0, 1});
  none.tokens.weigh("", {}, {}, 0);
  CHECK(none.share(0) == doctest::Approx(0.5));
}

TEST_CASE("the tokens of a very long question do not count") {
  const std::size_t most = QuestionTokens::kMostTokens;
  const Rows rows(most + 1, 1);
  CHECK(QuestionTokens(1, std::span(rows).first(most), starts_of(most)).size() == most);
  QuestionTokens tokens(1, rows, starts_of(most + 1));
  CHECK(tokens.empty());
  tokens.weigh("tea", std::vector<std::string>{"tea"}, std::vector<std::uint64_t>{1}, 2);
  CHECK(match_of(tokens, {1}) == 0);
}

TEST_CASE("a question of a megabyte is weighed at once") {
  std::string question;
  std::vector<std::string> terms;
  for (int i = 0; question.size() < 1'000'000; ++i) {
    question += "w" + std::to_string(i) + ' ';
    terms.push_back("w" + std::to_string(i));
  }
  Axes axes(starts_of(QuestionTokens::kMostTokens));
  // Of the order of a second, not of minutes.
  axes.tokens.weigh(question, terms, std::vector<std::uint64_t>(terms.size(), 1), 10);
  CHECK(axes.share(0) > 0);
}

TEST_CASE("tokens of a question that are wrong are refused") {
  const Rows rows(2 * kDim, 1);
  const auto make = [](std::span<const float> vectors, std::size_t count) {
    return reason_of([&] { QuestionTokens(kDim, vectors, starts_of(count)); });
  };
  CHECK(make(rows, 2) == "none");
  CHECK(make(rows, 1) == "invalid argument");
  CHECK(make(rows, 0) == "invalid argument");
  CHECK(make({}, 1) == "invalid argument");
  CHECK(make(std::span(rows).subspan(1), 2) == "invalid argument");
  for (const float value : {kNan, std::numeric_limits<float>::infinity()}) {
    Rows spoilt = rows;
    spoilt.back() = value;
    CHECK(make(spoilt, 2) == "not finite");
  }
}

TEST_CASE("rows of texts are split by their counts") {
  const Rows rows{1, 2, 3, 4, 5, 6};
  const Numbers counts{1, 0, 2};

  const Numbers starts{7, 0, 4};
  const auto numbers = [](auto some) { return std::vector(some.begin(), some.end()); };

  const auto split = split_rows({rows, counts, starts}, 2, 3);

  REQUIRE(split.size() == 3);
  CHECK(numbers(split[0].rows) == Rows{1, 2});
  CHECK(numbers(split[0].starts) == Numbers{7});
  CHECK(split[1].rows.empty());
  CHECK(numbers(split[2].rows) == Rows{3, 4, 5, 6});
  CHECK(numbers(split[2].starts) == Numbers{0, 4});
  CHECK(split_rows({rows, counts}, 2, 3)[2].starts.empty());
  CHECK(split_rows({{}, {}}, 2, 0).empty());
  CHECK(split_rows({{}, Numbers{0, 0}}, 2, 2).size() == 2);
}

TEST_CASE("counts that do not fit rows or texts are refused, and what is no number") {
  const auto split = [](const Rows& rows, const Numbers& counts, std::size_t texts,
                        std::size_t dim = 2) {
    return reason_of([&] { split_rows({rows, counts}, dim, texts); });
  };
  const Rows rows{1, 2, 3, 4};
  CHECK(split(rows, {2}, 1) == "none");
  CHECK(split(rows, {1}, 1) == "invalid argument");
  CHECK(split(rows, {3}, 1) == "invalid argument");
  CHECK(split(rows, {1, 1}, 1) == "invalid argument");
  CHECK(split(rows, {2}, 2) == "invalid argument");
  CHECK(split(rows, {}, 0) == "invalid argument");
  CHECK(split({1, 2, 3}, {1}, 1) == "invalid argument");
  CHECK(split({1, 2, 3}, {2}, 1) == "invalid argument");
  CHECK(split(rows, {0xFFFFFFFF, 3}, 2) == "invalid argument");
  CHECK(split({}, {0x80000000, 0x80000000}, 2, 0x80000000) == "invalid argument");
  CHECK(split({1, 2, 3, kNan}, {2}, 1) == "not finite");
  for (const Numbers& starts : {Numbers{0}, Numbers{0, 1, 2}})
    CHECK(reason_of([&] { split_rows({rows, Numbers{2}, starts}, 2, 1); }) == "invalid argument");
}
