#include "store/blocks.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "index_fixture.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const TextCodec kTexts{[](ByteView text, ByteView) { return kRuns.pack(text); },
                       [](ByteView packed, ByteView, std::span<std::uint8_t> text) {
                         return kRuns.unpack(packed, text);
                       },
                       nullptr};

ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

Bytes file_of(BlockWriter& writer) {
  FileImage image;
  writer.finish(image, kRuns);
  Bytes file;
  for (const ByteView part : image.finish()) file.insert(file.end(), part.begin(), part.end());
  return file;
}

}  // namespace

TEST_CASE("every part of every text is read as it was written") {
  BlockWriter writer(16, kTexts);
  const std::string text = std::string(40, 'a') + "bcdefghijklmnopqrstuvwxyz" + std::string(9, '!');
  CHECK(writer.add(bytes_of("first")) == 0);
  CHECK(writer.add(bytes_of(text)) == 5);
  CHECK(writer.add({}) == 5 + text.size());
  const Bytes file = file_of(writer);

  const BlockView view(Container::parse(file), Origin::kOther, kRuns, kTexts);

  CHECK(view.size() == 5 + text.size());
  for (std::size_t start = 0; start <= text.size(); ++start)
    for (std::size_t end = start; end <= text.size(); end += 3)
      CHECK(text_of(view.read(5 + start, 5 + end)) == text.substr(start, end - start));
  CHECK(view.blocks_between(0, 16).size() == 1);
  CHECK(view.blocks_between(15, 17).size() == 2);
  CHECK(reason_of([&] { view.read(0, view.size() + 1); }) == "damaged");
  CHECK(reason_of([&] { view.read(3, 2); }) == "damaged");
}

TEST_CASE("blocks are taken over as they are, each with its dictionary") {
  BlockWriter first(16, kTexts), second(16, kTexts);
  first.use_dictionary({1, 2, 3});
  first.add(bytes_of(std::string(40, 'a')));
  second.use_dictionary({4});
  second.add(bytes_of(std::string(20, 'b') + "xyz"));
  const Bytes files[] = {file_of(first), file_of(second)};

  BlockWriter merged(16, kTexts);
  merged.add(bytes_of("new"));
  for (const Bytes& file : files) {
    const BlockView view(Container::parse(file), Origin::kOwn, kRuns, kTexts);
    for (const Block& block : view.blocks()) merged.copy(view, block);
  }
  const Bytes file = file_of(merged);
  const BlockView view(Container::parse(file), Origin::kOwn, kRuns, kTexts);

  CHECK(text_of(view.read(0, view.size())) ==
        "new" + std::string(40, 'a') + std::string(20, 'b') + "xyz");
  CHECK(view.dictionary_of(view.blocks()[1]).size() == 3);
  CHECK(view.dictionary_of(view.blocks()[4]).size() == 1);
}

TEST_CASE("a damaged block is not taken over, and there is an end to dictionaries") {
  BlockWriter first(16, kTexts), second(16, kTexts);
  first.add(bytes_of(std::string(40, 'a')));
  Bytes file = file_of(first);
  file.back() ^= 1;
  const BlockView view(Container::parse(file), Origin::kOwn, kRuns, kTexts);

  CHECK(reason_of([&] { second.copy(view, view.blocks().back()); }) == "damaged");
  for (std::uint8_t number = 1; second.has_room_for(Bytes{number}); ++number)
    second.use_dictionary({number});
  CHECK(second.has_room_for(Bytes{1}));
  CHECK(second.has_room_for({}));
  second.use_dictionary({200});
  CHECK(reason_of([&] { second.use_dictionary({201}); }) == "too large");
}

TEST_CASE("a segment without texts has none") {
  BlockWriter writer(16, kTexts);
  const Bytes file = file_of(writer);

  const BlockView view(Container::parse(file), Origin::kOther, kRuns, kTexts);

  CHECK(view.size() == 0);
  CHECK(view.read(0, 0).empty());
}

TEST_CASE("a byte of a text that changed is noticed") {
  BlockWriter writer(64, kTexts);
  writer.add(bytes_of(std::string(100, 'a') + "bcdefgh"));
  const Bytes whole = file_of(writer);
  const Container container = Container::parse(whole);
  const ByteView blocks = container.bytes(SectionKind::kBlocks);
  const auto first = static_cast<std::size_t>(blocks.data() - whole.data());
  for (std::size_t at = first; at < first + blocks.size(); ++at) {
    Bytes file = whole;
    file[at] ^= 1;
    CHECK(reason_of([&] {
            const BlockView view(Container::parse(file), Origin::kOther, kRuns, kTexts);
            view.read(0, view.size());
          }) == "damaged");
  }
}

TEST_CASE("without the bytes of blocks it is known where they are, and none is read") {
  BlockWriter writer(16, kTexts);
  writer.add(bytes_of(std::string(40, 'a') + "bcdefghijklmnopqrstuvwxyz"));
  const Bytes file = file_of(writer);
  const Container whole = Container::parse(file);
  Container part = Container::parse_head(file, file.size());
  part.attach(SectionKind::kBlockDirectory, whole.bytes(SectionKind::kBlockDirectory));

  const BlockView known(whole, Origin::kOther, kRuns, kTexts);
  const BlockView view(part, Origin::kOther, kRuns, kTexts);

  CHECK(view.size() == 65);
  CHECK(view.blocks().size() == known.blocks().size());
  CHECK(view.blocks().back().at == known.blocks().back().at);
  CHECK(reason_of([&] { view.unpack(view.blocks()[0]); }) == "invalid argument");
}
