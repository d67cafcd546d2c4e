#include "filters/scope.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "index_fixture.h"
#include "store/draft.h"
#include "store/schema.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// A source with a document for each metadata.
SourceRecord source_of(const std::string& root, const std::string& name,
                       const std::vector<std::string>& metadata) {
  static std::int64_t next_chunk = 1;
  SourceRecord source;
  source.root = root;
  source.name = name;
  source.kind = "markdown";
  source.size = static_cast<std::int64_t>(name.size());
  source.time_ns = 1'700'000'000'000'000'000;
  for (const std::string& one : metadata) {
    DocumentRecord document;
    document.kind = "part";
    document.segment = kAway;
    document.length = 4;
    document.metadata = one;
    document.first_chunk = next_chunk++;
    document.chunks = {{{{0, 4}, {}}, 1}};
    source.documents.push_back(document);
  }
  return source;
}

// An index of two segments, of which the second takes a source of the first away.
class TwoSegments {
 public:
  explicit TwoSegments(const std::string& last_metadata = "") {
    SegmentDraft first({}, 64, kCodecs);
    first.add(source_of("/r", "a/One.MD", {R"({"year":2020})", R"({"year":2024})"}));
    first.add(source_of("/r", "b/.gone", {R"({"year":2024})"}));
    first.add(source_of("/r/", "c", {}));
    add(first);
    SegmentDraft second({}, 64, kCodecs);
    const auto [segment, gone] = catalogue_->gone_of(*catalogue_->find({"/r/b/.gone", true}));
    second.gone().add(segment, gone);
    second.add(source_of("", "id.txt", {R"({"path":"x","year":2024})", last_metadata}));
    add(second);
  }

  std::vector<bool> ask(std::string_view given) const {
    return allowed_documents(*catalogue_, Filter::read(given));
  }
  std::vector<bool> where(const std::string& expression) const {
    return ask("{\"where\":\"" + expression + "\"}");
  }

 private:
  void add(SegmentDraft& draft) {
    FileImage image;
    draft.finish(image);
    auto file = std::make_shared<Bytes>();
    for (const ByteView part : image.finish()) file->insert(file->end(), part.begin(), part.end());
    files_.push_back(file);
    segments_.push_back(
        std::make_shared<Segment>(files_.size(), ByteView(*file), Origin::kOwn, kCodecs));
    catalogue_ = std::make_unique<Catalogue>(segments_);
  }

  std::vector<std::shared_ptr<Bytes>> files_;
  std::vector<std::shared_ptr<const Segment>> segments_;
  std::unique_ptr<Catalogue> catalogue_;
};

using Flags = std::vector<bool>;

}  // namespace

TEST_CASE("documents are let through by what is known of their files") {
  const TwoSegments index;

  CHECK(index.ask("{}") == Flags{true, true, true, true});
  CHECK(index.where("path == '/r/a/One.MD'") == Flags{true, true, false, false});
  CHECK(index.where("source == 'a/One.MD'") == Flags{true, true, false, false});
  CHECK(index.where("source == 'id.txt' and path == source") == Flags{false, false, true, true});
  CHECK(index.where("type == 'markdown' and extension == 'md'") == Flags{true, true, false, false});
  CHECK(index.where("extension == 'txt' and size == 6") == Flags{false, false, true, true});
  CHECK(index.where("modified == '2023-11-14T22:13:20Z'") == Flags{true, true, true, true});
  CHECK(index.ask(R"({"paths":["a"],"types":["md"],"after":"2023"})") ==
        Flags{true, true, false, false});
}

TEST_CASE("documents are let through by their metadata, which the file goes before") {
  const TwoSegments index;

  CHECK(index.where("year >= 2021") == Flags{false, true, true, false});
  CHECK(index.where("year == none") == Flags{false, false, false, true});
  CHECK(index.where("year == 2024 and path == 'x'") == Flags{false, false, false, false});
  CHECK(index.where("year == 2024 and path == 'id.txt'") == Flags{false, false, true, false});
}

TEST_CASE("metadata that is none is told of where it is asked for") {
  const TwoSegments index("[]");

  CHECK(reason_of([&] { index.where("size > 0"); }) == "none");
  CHECK(reason_of([&] { index.where("year > 0"); }) == "damaged");
}
