#include "store/blocks.h"

#include <doctest/doctest.h>

#include <deque>
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

// Texts of runs of one letter, and what packs them after a base: as what differs from it.
struct Known {
  explicit Known(std::size_t length) : run(length) {
    codec.pack = [](ByteView text, ByteView base) {
      if (base.empty()) return kRuns.pack(text);
      Bytes differences(text.begin(), text.end());
      for (std::size_t i = 0; i < text.size(); ++i) differences[i] ^= base[i];  // which is longer
      return kRuns.pack(differences);
    };
    codec.unpack = [](ByteView packed, ByteView base, std::span<std::uint8_t> text) {
      if (!kRuns.unpack(packed, text)) return false;
      for (std::size_t i = 0; i < text.size() && !base.empty(); ++i) text[i] ^= base[i];
      return true;
    };
    codec.base_bytes = 1 << 18;
  }
  // So many times as much as a base.
  Bytes text(std::size_t times) const {
    Bytes all(times * codec.base_bytes + 777);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<std::uint8_t>('a' + i / run % 26);
    return all;
  }
  Bytes part(std::size_t times, std::uint64_t start, std::uint64_t end) const {
    const Bytes all = text(times);
    return {all.begin() + static_cast<std::ptrdiff_t>(start),
            all.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  std::size_t run;
  TextCodec codec;
};

Bytes file_of(const Known& known, std::size_t times) {
  BlockWriter writer(4096, known.codec);
  writer.add(known.text(times));
  return file_of(writer);
}

// Why blocks of these sizes, with these references, cannot be; nothing if they can.
std::string reason_of_blocks(const std::vector<std::pair<std::int64_t, std::int64_t>>& rows) {
  const Schema schema{
      {{"size"}, {"packed"}, {"checksum", TableColumn::Form::kHash4}, {"dictionary"}}, {}};
  Table table(schema);
  for (const auto& [size, reference] : rows) {
    std::size_t column = 0;
    for (const std::int64_t value : {size, std::int64_t{1}, std::int64_t{0}, reference})
      table.columns[column++].push_back(value);
  }
  FileImage image;
  image.add(SectionKind::kBlockDirectory, pack_table(table, kRuns));
  image.add(SectionKind::kBlocks, Bytes(rows.size()));
  Bytes file;
  for (const ByteView part : image.finish()) file.insert(file.end(), part.begin(), part.end());
  return reason_of([&] { read_blocks(Container::parse(file), Origin::kOther, kRuns); });
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

TEST_CASE("large texts are a base and blocks that are read with it alone") {
  const Known known(3000);
  const Bytes file = file_of(known, 3);
  const BlockView view(Container::parse(file), Origin::kOther, kRuns, known.codec);

  REQUIRE(view.blocks().size() > 3);
  CHECK(view.blocks()[0].size == known.codec.base_bytes);
  CHECK(view.is_base(view.blocks()[0]));
  CHECK(view.blocks()[1].base == 1);
  CHECK(view.blocks()[1].size == 4096);
  CHECK(view.read(0, view.size()) == known.text(3));
  CHECK(view.unpack(view.blocks().back()) ==
        known.part(3, view.blocks().back().start, view.size()));
}

TEST_CASE("after much text comes another base, and none is referred to once there is a newer one") {
  const Known known(1000);
  const Bytes file = file_of(known, 6);
  const BlockView view(Container::parse(file), Origin::kOther, kRuns, known.codec);

  std::size_t last = 0, bases = 0;
  for (const Block& block : view.blocks()) {
    bases += view.is_base(block) ? 1 : 0;
    if (block.base == 0) continue;
    CHECK(block.base >= last);
    last = block.base;
  }
  CHECK(bases == 2);
  CHECK(view.read(0, view.size()) == known.text(6));
}

TEST_CASE("blocks are taken over as they are with their base, and what comes then refers to it") {
  const Known known(3000);
  const Bytes files[] = {file_of(known, 2), file_of(known, 3)};
  BlockWriter merged(4096, known.codec);
  std::deque<BlockView> views;
  Bytes expected;
  for (const Bytes& file : files) {
    const BlockView& view =
        views.emplace_back(Container::parse(file), Origin::kOwn, kRuns, known.codec);
    for (const Block& block : view.blocks()) {
      CHECK(merged.can_copy(view, block));
      merged.copy(view, block);
    }
    const Bytes text = view.read(0, view.size());
    expected.insert(expected.end(), text.begin(), text.end());
  }
  CHECK(!merged.can_copy(views[0], views[0].blocks()[1]));  // its base is no longer the last one
  merged.add(bytes_of("new"));
  const Bytes file = file_of(merged);
  const BlockView view(Container::parse(file), Origin::kOther, kRuns, known.codec);

  Bytes read = view.read(0, view.size());
  CHECK(text_of({read.end() - 3, read.end()}) == "new");
  read.resize(read.size() - 3);
  CHECK(read == expected);
  CHECK(view.blocks().back().size == 3);
}

TEST_CASE("what waits is no base while blocks come that refer to the one before") {
  const Known known(3000);
  const Bytes file = file_of(known, 3);
  const BlockView from(Container::parse(file), Origin::kOwn, kRuns, known.codec);
  Known larger(3000);
  larger.codec.base_bytes *= 4;  // so that much can wait
  BlockWriter writer(4096, larger.codec);
  for (const Block& block : from.blocks()) writer.copy(from, block);
  for (int i = 0; i < 2; ++i) writer.add(known.text(1));  // as much as that base, and far from it
  CHECK(writer.can_copy(from, from.blocks().back()));
  writer.copy(from, from.blocks().back());
  const Bytes made = file_of(writer);
  const BlockView view(Container::parse(made), Origin::kOther, kRuns, known.codec);

  CHECK(view.blocks().back().base == 1);
  CHECK(view.read(from.size(), from.size() + known.text(1).size()) == known.text(1));
}

TEST_CASE("a damaged block is not taken over, and a base that cannot be is damage") {
  const Known known(3000);
  Bytes file = file_of(known, 2);
  {
    const BlockView view(Container::parse(file), Origin::kOwn, kRuns, known.codec);
    BlockWriter other(4096, known.codec);
    CHECK(reason_of([&] { other.copy(view, view.blocks()[1]); }) == "too large");
  }
  file.back() ^= 1;
  const BlockView view(Container::parse(file), Origin::kOwn, kRuns, known.codec);
  BlockWriter other(4096, known.codec);
  CHECK(reason_of([&] { other.copy(view, view.blocks().back()); }) == "damaged");
}

TEST_CASE("references to bases are compared with what there is") {
  const std::int64_t base = 64;
  CHECK(reason_of_blocks({{1 << 18, 0}, {9, base + 1}, {9, base + 1}}) == "none");
  CHECK(reason_of_blocks({{1 << 18, 0}, {9, 1}}) == "damaged");         // no such dictionary
  CHECK(reason_of_blocks({{9, base + 1}}) == "damaged");                // itself
  CHECK(reason_of_blocks({{9, base + 2}, {1 << 18, 0}}) == "damaged");  // one to come
  CHECK(reason_of_blocks({{9, 0}, {9, base + 1}}) == "damaged");        // too small
  CHECK(reason_of_blocks({{1 << 18, 0}, {1 << 18, base + 1}, {9, base + 2}}) == "damaged");
  CHECK(reason_of_blocks({{1 << 18, 0}, {1 << 18, 0}, {9, base + 2}, {9, base + 1}}) ==
        "damaged");  // an older one
  CHECK(reason_of_blocks({{(1 << 23) + 1, 0}}) == "damaged");
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
