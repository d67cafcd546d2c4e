#include "store/segment.h"

#include <algorithm>

#include "base/crc32c.h"
#include "store/schema.h"
#include "store/verify.h"

namespace gossamer {
namespace {

// A group is read as a whole for one of its rows, so it is small; but columns of few rows pack
// badly.
constexpr std::size_t kGroupChunks = 2048;
constexpr std::size_t kGroupSources = 2048;
// What a group may unpack to.
constexpr std::size_t kMostGroup = 1 << 22, kMostRatio = 64, kMostOwnRatio = 1 << 14;
// What all groups of a stranger's may take, beside so many times their bytes.
constexpr std::uint64_t kMostTogether = 1 << 26;
constexpr const char* kOutOfOrder = "the sources of a segment are out of order";
const Codec kAsItIs{[](ByteView) { return Bytes(); },
                    [](ByteView, std::span<std::uint8_t>) { return false; }};
// A few megabytes: those that a question and its hits read.
constexpr std::size_t kRecentGroups = 32;

struct DirectoryColumns {
  enum : std::size_t { kBytes, kSize, kChecksum, kSources, kDocuments, kChunks, kIsFile, kPaths };
  enum Children : std::size_t { kPath };
};

const Schema& directory_schema() {
  static const Schema path{{}, {}, true, 4};
  static const Schema schema{{{"bytes"},
                              {"size"},
                              {"checksum", TableColumn::Form::kHash4},
                              {"sources"},
                              {"documents"},
                              {"chunks"},
                              {"is_file"}},
                             {{"path", &path}}};
  return schema;
}

Counts counts_of(const Table& sources) {
  const Table& documents = sources.children[SourceColumns::kDocument];
  return {sources.size(), documents.size(), documents.children[DocumentColumns::kChunk].size()};
}

Counts plus(const Counts& a, const Counts& b) {
  return {a.sources + b.sources, a.documents + b.documents, a.chunks + b.chunks};
}

// The first row that does not stand before a name; the number of rows if none does.
std::size_t first_row_from(const SourceRows& rows, const SourceName& name) {
  std::size_t low = 0, high = rows.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (rows.name(middle) < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

SegmentWriter::SegmentWriter(const Codec& codec)
    : codec_(codec), group_(sources_schema()), directory_(directory_schema()) {}

void SegmentWriter::add(const SourceRecord& source) {
  SourceName name = name_of(source);
  expect(counts_.sources + group_.size() == 0 || last_ < name, Reason::kInvalidArgument,
         "the sources of a segment come in the order of their names, each once");
  if (group_.size() == 0) first_ = name;
  append_source(source, strings_, group_);
  last_ = std::move(name);
  const Counts held = counts_of(group_);
  if (held.chunks >= kGroupChunks || held.sources >= kGroupSources) end_group();
}

void SegmentWriter::end_group() {
  if (group_.size() == 0) return;
  // Packed as a whole: one frame is read faster than one for each column.
  const Bytes table = pack_table(group_, kAsItIs);
  Bytes packed = codec_.pack(table);
  if (packed.empty() || packed.size() >= table.size()) packed = table;
  const Counts held = counts_of(group_);
  std::size_t column = 0;
  for (const std::size_t value :
       {packed.size(), table.size(), std::size_t{crc32c(packed)}, held.sources, held.documents,
        held.chunks, std::size_t{first_.is_file}, first_.path.size()})
    directory_.columns[column++].push_back(static_cast<std::int64_t>(value));
  Bytes& paths = directory_.children[DirectoryColumns::kPath].content;
  paths.insert(paths.end(), first_.path.begin(), first_.path.end());
  groups_.insert(groups_.end(), packed.begin(), packed.end());
  counts_ = plus(counts_, held);
  group_ = Table(sources_schema());
}

void SegmentWriter::finish(FileImage& image) {
  end_group();
  image.add(SectionKind::kStrings, strings_.pack(codec_));
  image.add(SectionKind::kDirectory, pack_table(directory_, codec_));
  image.add(SectionKind::kGroups, std::move(groups_));
}

SegmentGroups::SegmentGroups(const Container& file, Origin origin, const Codec& codec)
    : origin_(origin),
      codec_(codec),
      strings_(Strings::read(file.required(SectionKind::kStrings), origin, codec)) {
  // Groups have checksums of their own: not all of them are read.
  read_directory(file.required(SectionKind::kDirectory), file.bytes(SectionKind::kGroups));
}

SegmentGroups::SegmentGroups(SourceList list)
    : origin_(Origin::kOwn), codec_(kAsItIs), strings_(list.strings()) {
  if (list.sources().size() == 0) return;
  whole_ = std::make_shared<const Group>(std::move(list).take_sources(), strings_, Counts());
  counts_ = counts_of(whole_->sources);
  entries_.push_back({{}, 0, 0, counts_, Counts(), whole_->rows.name(0)});
}

void SegmentGroups::read_directory(ByteView bytes, ByteView groups) {
  using Directory = DirectoryColumns;
  const Table table = unpack_table(bytes, directory_schema(), origin_, codec_);
  const Ints paths = table.starts(Directory::kPath);
  const auto* content =
      reinterpret_cast<const char*>(table.children[Directory::kPath].content.data());
  ByteReader in(groups, "the groups of a segment");
  packed_bytes_ = groups.size();
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto number = [&](std::size_t column) {
      const std::int64_t value = table.columns[column][row];
      // Sums of as many of these as memory can hold stay below 2^63; on 32 bits none is larger.
      expect(value >= 0 && value < std::int64_t{1} << 31, Reason::kDamaged,
             "the directory of a segment has a number that cannot be");
      return static_cast<std::size_t>(value);
    };
    Entry entry;
    entry.bytes = in.take(number(Directory::kBytes));
    entry.size = number(Directory::kSize);
    entry.checksum = static_cast<std::uint32_t>(table.columns[Directory::kChecksum][row]);
    entry.counts = {number(Directory::kSources), number(Directory::kDocuments),
                    number(Directory::kChunks)};
    // Hashes are written as they are: what is counted has its bytes.
    const std::size_t ratio = origin_ == Origin::kOwn ? kMostOwnRatio : kMostRatio;
    expect(entry.size >= entry.bytes.size() &&
               entry.size <= kMostGroup + ratio * entry.bytes.size() &&
               entry.size >= 8 * entry.counts.sources + 4 * entry.counts.chunks &&
               entry.counts.documents <= entry.counts.chunks,
           Reason::kDamaged, "a group of a segment says it holds more than its bytes can");
    entry.before = counts_;
    entry.first = {std::string(content + paths[row], content + paths[row + 1]),
                   number(Directory::kIsFile) != 0};
    expect(entry.counts.sources > 0 && (row == 0 || entries_.back().first < entry.first),
           Reason::kDamaged, "the groups of a segment are empty or out of order");
    counts_ = plus(counts_, entry.counts);
    entries_.push_back(std::move(entry));
  }
  in.expect_end();
  expect(counts_.chunks < std::size_t{1} << 31, Reason::kDamaged,
         "a segment says it holds more chunks than there can be");
}

std::size_t SegmentGroups::unpacked_bytes() const {
  std::size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.size;
  return sum;
}

std::shared_ptr<const Group> SegmentView::group(std::size_t number) const {
  {
    const std::lock_guard lock(mutex_);
    if (auto held = groups_[number].lock()) return held;
  }
  std::shared_ptr<const Group> read = read_apart(number);
  const std::lock_guard lock(mutex_);
  groups_[number] = read;
  recent_.push_back(read);
  if (recent_.size() > (origin() == Origin::kOwn ? kRecentGroups : 1))
    recent_.erase(recent_.begin());
  return read;
}

std::uint64_t SegmentGroups::budget() const {
  return kMostTogether + std::uint64_t{kMostRatio} * packed_bytes_;
}

std::shared_ptr<const Group> SegmentGroups::read_apart(std::size_t number,
                                                       std::uint64_t* budget) const {
  if (whole_) return whole_;
  const Entry& entry = entries_[number];
  expect(crc32c(entry.bytes) == entry.checksum, Reason::kDamaged,
         "the checksum of a group of a segment does not fit");
  Bytes unpacked;
  ByteView bytes = entry.bytes;
  if (entry.size != entry.bytes.size()) {
    unpacked.resize(entry.size);
    expect(codec_.unpack(entry.bytes, unpacked), Reason::kDamaged,
           "a group of a segment does not unpack");
    bytes = unpacked;
  }
  Table table = unpack_table(bytes, sources_schema(), origin_, kAsItIs, kMostOfMany, budget);
  verify_sources(table, strings_.size(), origin_);
  const Table& documents = table.children[SourceColumns::kDocument];
  for (const std::int64_t segment : documents.columns[DocumentColumns::kSegment])
    expect(segment == kVerbatim || segment == kHere || segment == kAway, Reason::kDamaged,
           "a document of a segment has its text in another one");
  expect(counts_of(table) == entry.counts, Reason::kDamaged,
         "a group of a segment has other rows than its directory says");
  auto read = std::make_shared<const Group>(std::move(table), strings_, entry.before);
  SourceName before;
  for (std::size_t row = 0; row < read->rows.size(); ++row) {
    SourceName name = read->rows.name(row);
    expect(row == 0 ? name == entry.first : before < name, Reason::kDamaged, kOutOfOrder);
    before = std::move(name);
  }
  expect(number + 1 == entries_.size() || before < entries_[number + 1].first, Reason::kDamaged,
         kOutOfOrder);
  return read;
}

std::optional<SegmentView::Found> SegmentView::find(const SourceName& name) const {
  const auto after = std::upper_bound(
      entries().begin(), entries().end(), name,
      [](const SourceName& wanted, const Entry& entry) { return wanted < entry.first; });
  if (after == entries().begin()) return std::nullopt;
  const auto number = static_cast<std::size_t>(after - entries().begin()) - 1;
  std::shared_ptr<const Group> held = group(number);
  const std::size_t row = first_row_from(held->rows, name);
  if (row == held->rows.size() || held->rows.name(row) != name) return std::nullopt;
  return Found{std::move(held), row};
}

std::size_t SegmentView::first_from(const SourceName& name) const {
  const auto after = std::upper_bound(
      entries().begin(), entries().end(), name,
      [](const SourceName& wanted, const Entry& entry) { return wanted < entry.first; });
  if (after == entries().begin()) return 0;
  const std::shared_ptr<const Group> held =
      group(static_cast<std::size_t>(after - entries().begin()) - 1);
  return held->before.sources + first_row_from(held->rows, name);
}

SegmentView::Found SegmentView::source(std::size_t number) const {
  std::shared_ptr<const Group> held = group_before(&Counts::sources, number);
  const std::size_t row = number - held->before.sources;
  return {std::move(held), row};
}

std::shared_ptr<const Group> SegmentView::group_of_document(std::size_t row) const {
  return group_before(&Counts::documents, row);
}

std::shared_ptr<const Group> SegmentView::group_of_chunk(std::size_t row) const {
  return group_before(&Counts::chunks, row);
}

std::shared_ptr<const Group> SegmentView::group_before(std::size_t Counts::* kind,
                                                       std::size_t row) const {
  const auto after = std::upper_bound(
      entries().begin(), entries().end(), row,
      [&](std::size_t wanted, const Entry& entry) { return wanted < entry.before.*kind; });
  return group(static_cast<std::size_t>(after - entries().begin()) - 1);
}

}  // namespace gossamer
