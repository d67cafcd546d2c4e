#include "search/rerank.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "vectors/kept.h"

using namespace gossamer;

namespace {

// Points on a line at 0, 1, 2, ...; the query stands at 0, so node i is i * i away.
class Line {
 public:
  explicit Line(std::size_t count, bool keeps) : kept_(keeps ? Keep::kAll : Keep::kNone, space_) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = static_cast<float>(i);
      if (keeps) kept_.set(space_, static_cast<NodeId>(i), &place);
    }
    view_.space = &space_;
    view_.kept = &kept_;
    view_.node_count = view_.allowed_count = count;
  }
  Lookup lookup() const {
    const float query = 0;
    return Lookup(view_, &query);
  }
  // Estimates in the given order of nodes: 0, 1, 4, ...
  static std::vector<Candidate> candidates(const std::vector<NodeId>& nodes) {
    std::vector<Candidate> list;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      list.push_back({static_cast<float>(i * i), nodes[i]});
    return list;
  }
  static std::vector<NodeId> in_order(std::size_t count) {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < count; ++node) nodes.push_back(node);
    return nodes;
  }

 private:
  Space space_{Metric::kL2, Scalar::kF32, 1};
  Kept kept_;
  View view_;
};

void supply_places(
    Lookup& lookup, const std::function<bool(NodeId)>& is_missing = [](NodeId) { return false; }) {
  std::vector<float> places;
  for (const NodeId node : lookup.wanted()) places.push_back(static_cast<float>(node));
  std::vector<const float*> vectors;
  for (std::size_t i = 0; i < places.size(); ++i) {
    vectors.push_back(is_missing(lookup.wanted()[i]) ? nullptr : &places[i]);
  }
  lookup.supply(vectors);
}

Effort with_margin(float margin) {
  Effort effort;
  effort.margin = margin;
  return effort;
}

}  // namespace

TEST_CASE("candidates whose estimates were wrong are put in their true order") {
  const Line line(6, true);
  Lookup lookup = line.lookup();
  TopK hits(3);
  Rerank rerank(Line::candidates({4, 2, 5, 1, 3, 0}), 1.0f, 3, with_margin(1e6f));

  const auto state = rerank.resume(&lookup, hits);

  CHECK(state == Rerank::State::kNeedMore);
  CHECK(hits.items()[0] == Candidate{0, 0});
  CHECK(hits.items()[1] == Candidate{1, 1});
  CHECK(hits.items()[2] == Candidate{4, 2});
}

TEST_CASE("with sure estimates hardly more than k candidates are looked at") {
  const Line line(1000, false);
  Lookup lookup = line.lookup();
  TopK hits(5);
  Rerank rerank(Line::candidates(Line::in_order(1000)), 0.01f, 5, Effort());

  while (rerank.resume(&lookup, hits) == Rerank::State::kWaiting) supply_places(lookup);

  CHECK(hits.size() == 5);
  CHECK(lookup.asked() >= 5);
  CHECK(lookup.asked() < 20);
}

TEST_CASE("distances in another unit than the estimates stop it at the same place") {
  const auto looked_at = [](float unit) {
    const std::vector<Candidate> candidates = Line::candidates(Line::in_order(1000));
    std::vector<float> exact;
    for (const Candidate& candidate : candidates) exact.push_back(candidate.distance / unit);
    Rerank rerank(candidates, 100.0f, 5, with_margin(4.0f), unit, exact);
    TopK hits(5);
    CHECK(rerank.resume(nullptr, hits) == Rerank::State::kOver);
    return rerank.looked_at();
  };
  CHECK(looked_at(1.0f) > 12);
  CHECK(looked_at(0.0009765625f) == looked_at(1.0f));
}

TEST_CASE("estimates that are all too far off by the same much do not end the search") {
  const Line line(4, true);
  Lookup lookup = line.lookup();
  TopK hits(1);
  // The nodes are 9, 4, 1 and 0 away, and all seem to be about 100 away.
  std::vector<Candidate> candidates{{100.0f, 3}, {100.1f, 2}, {100.2f, 1}, {100.3f, 0}};
  Rerank rerank(std::move(candidates), 3.0f, 1, with_margin(4.0f));

  rerank.resume(&lookup, hits);

  CHECK(hits.items()[0] == Candidate{0, 0});
}

TEST_CASE("the wider the margin, the more is looked at") {
  const Line line(1000, false);
  std::size_t before = 0;
  for (const float margin : {2.0f, 8.0f, 20.0f}) {
    Lookup lookup = line.lookup();
    TopK hits(5);
    Rerank rerank(Line::candidates(Line::in_order(1000)), 100.0f, 5, with_margin(margin));

    while (rerank.resume(&lookup, hits) == Rerank::State::kWaiting) supply_places(lookup);

    CHECK(lookup.asked() > before);
    before = lookup.asked();
  }
}

TEST_CASE("a fixed number of candidates is asked for at once, and no more") {
  const Line line(100, false);
  Lookup lookup = line.lookup();
  TopK hits(5);
  Effort effort;
  effort.rerank = 40;
  Rerank rerank(Line::candidates(Line::in_order(100)), 100.0f, 5, effort);

  CHECK(rerank.resume(&lookup, hits) == Rerank::State::kWaiting);
  CHECK(lookup.wanted().size() == 40);
  supply_places(lookup);
  CHECK(rerank.resume(&lookup, hits) == Rerank::State::kOver);
  CHECK(lookup.asked() == 40);
}

TEST_CASE("more candidates are called for when the last might still matter, and taken") {
  const Line line(50, true);
  Lookup lookup = line.lookup();
  TopK hits(2);
  std::vector<NodeId> order = Line::in_order(50);
  std::swap(order[0], order[30]);
  const std::vector<Candidate> all = Line::candidates(order);
  Rerank rerank({all.begin(), all.begin() + 10}, 1.0f, 2, with_margin(1e6f));

  CHECK(rerank.resume(&lookup, hits) == Rerank::State::kNeedMore);
  CHECK(hits.items()[0].node == 1);
  rerank.extend(all);
  rerank.resume(&lookup, hits);

  CHECK(hits.items()[0].node == 0);
}

TEST_CASE("for each vector that is not to be had another is looked at") {
  for (const std::uint32_t fixed : {0u, 6u}) {
    const Line line(100, false);
    Lookup lookup = line.lookup();
    TopK hits(3);
    Effort effort = with_margin(-10.0f);
    effort.rerank = fixed;
    Rerank rerank(Line::candidates(Line::in_order(100)), 1.0f, 3, effort);

    while (rerank.resume(&lookup, hits) == Rerank::State::kWaiting) {
      supply_places(lookup, [](NodeId node) { return node % 2 == 0; });
    }

    REQUIRE(hits.size() == 3);
    CHECK(hits.items()[0].node == 1);
    CHECK(hits.items()[1].node == 3);
    CHECK(hits.items()[2].node == 5);
    CHECK(lookup.asked() <= 2 * (fixed == 0 ? 5 : 6) + 1);
  }
}

TEST_CASE("where nothing is to be had the rest is called for in a few rounds") {
  const Line line(1000, false);
  Lookup lookup = line.lookup();
  TopK hits(3);
  Rerank rerank(Line::candidates(Line::in_order(1000)), 1.0f, 3, Effort());
  std::size_t rounds = 0;

  Rerank::State state = Rerank::State::kWaiting;
  while ((state = rerank.resume(&lookup, hits)) == Rerank::State::kWaiting) {
    supply_places(lookup, [](NodeId) { return true; });
    ++rounds;
  }

  CHECK(state == Rerank::State::kNeedMore);
  CHECK(hits.size() == 0);
  CHECK(rounds < 12);
}

TEST_CASE("no candidates give no hits") {
  const Line line(3, true);
  Lookup lookup = line.lookup();
  TopK hits(0);
  Rerank rerank({}, 1.0f, 0, Effort());

  CHECK(rerank.resume(&lookup, hits) != Rerank::State::kWaiting);
  CHECK(hits.size() == 0);
}
