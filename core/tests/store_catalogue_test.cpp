#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "index_fixture.h"
#include "store/catalogue.h"
#include "store/draft.h"
#include "store/merge.h"
#include "store/schema.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

constexpr CodeStamp kStamp{2, 77};

std::string text_of(std::uint64_t id) { return "text " + std::string(id % 23, 'x') + "."; }
Bytes code_of(std::uint64_t id) {
  return {static_cast<std::uint8_t>(id), static_cast<std::uint8_t>(id / 256 + 1)};
}

// States of an index, and what is to be in them: the first id of each source, by name.
class States {
 public:
  std::map<std::string, std::int64_t> expected;

  States() { update({}); }

  const Catalogue& catalogue() const { return *catalogue_; }

  void change(const std::vector<std::string>& put, const std::vector<std::string>& removed) {
    auto draft = std::make_shared<SegmentDraft>(kStamp, 64, kCodecs);
    for (const auto* names : {&put, &removed})
      for (const std::string& name : *names)
        if (const auto row = catalogue_->find({name, false})) {
          const auto [segment, gone] = catalogue_->gone_of(*row);
          draft->gone().add(segment, gone);
          expected.erase(name);
        }
    for (const std::string& name : put) {
      draft->add(source_of(name, *draft));
      expected[name] = next_id_ - 2;
    }
    FileImage image;
    draft->finish(image);
    add(image, catalogue_->parts());
  }

  void merge(const std::vector<std::size_t>& chosen, bool packs_anew) {
    SegmentImage made(kStamp, 64, kCodecs);
    merge_segments(*catalogue_, chosen, kStamp, nullptr, packs_anew, 0, made);
    FileImage image;
    made.finish(image);
    std::vector<LivePart> rest;
    for (std::size_t i = 0; i < catalogue_->parts().size(); ++i)
      if (std::find(chosen.begin(), chosen.end(), i) == chosen.end())
        rest.push_back(catalogue_->parts()[i]);
    add(image, rest);
  }

  void check() const {
    catalogue_->verify();
    REQUIRE(catalogue_->counts() == Counts{expected.size(), expected.size(), 2 * expected.size()});
    const std::vector<std::uint64_t> ids = catalogue_->ids();
    const Column codes = catalogue_->codes();
    for (std::size_t i = 0; i < ids.size(); ++i)
      REQUIRE(Bytes(codes.data() + 2 * i, codes.data() + 2 * i + 2) == code_of(ids[i]));
    for (const auto& [name, first] : expected) {
      const auto row = catalogue_->find({name, false});
      REQUIRE(row);
      const RowRange documents = catalogue_->documents_of(*row);
      REQUIRE(documents.size() == 1);
      REQUIRE(catalogue_->source_of(documents.first) == *row);
      for (const std::int64_t id : {first, first + 1}) {
        const auto place = catalogue_->chunk(static_cast<std::uint64_t>(id));
        REQUIRE(place.document_row == documents.first);
        REQUIRE(place.number == static_cast<std::size_t>(id - first));
      }
      const Catalogue::Place place = catalogue_->document(documents.first);
      const DocumentRecord document = place.group->rows.document_alone(place.row);
      const auto start = static_cast<std::size_t>(document.offset);
      const Bytes text = place.part->segment->texts().read(
          start, start + static_cast<std::size_t>(document.length));
      REQUIRE(std::string(text.begin(), text.end()) == text_of(static_cast<std::uint64_t>(first)));
    }
    const SourceList list = catalogue_->list();
    const SourceRows rows(list.sources(), list.strings());
    REQUIRE(rows.size() == expected.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
      REQUIRE(rows.name(row).path ==
              catalogue_->source(row).group->rows.name(catalogue_->source(row).row).path);
  }

 private:
  SourceRecord source_of(const std::string& name, SegmentDraft& draft) {
    const std::string text = text_of(static_cast<std::uint64_t>(next_id_));
    SourceRecord source;
    source.name = name;
    DocumentRecord document;
    document.length = static_cast<std::int64_t>(text.size());
    document.segment = kHere;
    document.offset = static_cast<std::int64_t>(
        draft.texts().add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
    document.first_chunk = next_id_;
    document.chunks = {{{{0, 2}, {}}, 1}, {{{2, 4}, {}}, 2}};
    source.documents = {document};
    for (int i = 0; i < 2; ++i) {
      const auto id = static_cast<std::uint64_t>(next_id_++);
      draft.add_codes(std::vector{id}, code_of(id));
    }
    return source;
  }

  void add(FileImage& image, const std::vector<LivePart>& rest) {
    auto file = std::make_shared<Bytes>();
    for (const ByteView part : image.finish()) file->insert(file->end(), part.begin(), part.end());
    files_.push_back(file);
    std::vector<std::shared_ptr<const Segment>> segments;
    for (const LivePart& part : rest) segments.push_back(part.segment);
    segments.push_back(
        std::make_shared<Segment>(files_.size(), ByteView(*file), Origin::kOwn, kCodecs));
    update(std::move(segments));
  }

  void update(std::vector<std::shared_ptr<const Segment>> segments) {
    catalogue_ = std::make_unique<Catalogue>(std::move(segments));
  }

  std::int64_t next_id_ = 1;
  std::vector<std::shared_ptr<Bytes>> files_;
  std::unique_ptr<Catalogue> catalogue_;
};

std::string random_name(Random& random) { return "n" + std::to_string(random.below(60)); }

}  // namespace

TEST_CASE("whatever is put in, replaced, removed and merged, the rest is as it was") {
  Random random(5);
  States states;
  std::size_t most = 0;
  for (int step = 0; step < 120; ++step) {
    std::vector<std::string> put, removed;
    for (std::uint64_t i = random.below(6); i > 0; --i) put.push_back(random_name(random));
    for (std::uint64_t i = random.below(3); i > 0; --i) removed.push_back(random_name(random));
    std::sort(put.begin(), put.end());
    put.erase(std::unique(put.begin(), put.end()), put.end());
    states.change(put, removed);
    if (random.below(8) == 0) {
      std::vector<std::size_t> some;
      for (std::size_t i = 0; i < states.catalogue().parts().size(); ++i)
        if (random.below(2) == 0) some.push_back(i);
      states.merge(some, random.below(2) == 0);
    } else if (const auto chosen = segments_to_merge(states.catalogue(), 1); !chosen.empty()) {
      states.merge(chosen, false);
    }
    most = std::max(most, states.catalogue().parts().size());
    states.check();
  }
  CHECK(most <= 12);
  std::vector<std::size_t> all(states.catalogue().parts().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  states.merge(all, true);
  states.check();
  CHECK(states.catalogue().parts().size() == 1);
  CHECK(states.catalogue().parts()[0].counts() ==
        states.catalogue().parts()[0].segment->sources().counts());
  std::size_t length = 0;
  for (const auto& [name, first] : states.expected)
    length += text_of(static_cast<std::uint64_t>(first)).size();
  CHECK(states.catalogue().parts()[0].segment->texts().size() == length);
}

TEST_CASE("what is not there is not found") {
  States states;
  states.change({"a", "b"}, {});
  states.change({}, {"a"});

  CHECK(!states.catalogue().find({"a", false}));
  CHECK(!states.catalogue().find({"b", true}));
  CHECK(reason_of([&] { states.catalogue().chunk(1); }) == "unknown id");
  CHECK(reason_of([&] { states.catalogue().chunk(99); }) == "unknown id");
  CHECK(reason_of([&] { states.catalogue().source(1); }) == "invalid argument");
  CHECK(reason_of([&] { states.catalogue().document(1); }) == "invalid argument");
}
