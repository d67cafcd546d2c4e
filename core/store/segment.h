#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "storage/container.h"
#include "store/codec.h"
#include "store/records.h"
#include "store/schema.h"
#include "store/source_list.h"
#include "store/source_rows.h"
#include "store/strings.h"
#include "store/table_pack.h"

namespace gossamer {

// How many there are of each.
struct Counts {
  std::size_t sources = 0;
  std::size_t documents = 0;
  std::size_t chunks = 0;

  friend bool operator==(const Counts&, const Counts&) = default;
};

// Sources that follow one another in a segment, with all they own: what is packed, checked and read
// as one.
struct Group {
  Group(Table table, const Strings& strings, Counts rows_before)
      : sources(std::move(table)), rows(sources, strings), before(rows_before) {}
  Group(const Group&) = delete;

  std::size_t document_count() const { return sources.children[SourceColumns::kDocument].size(); }

  Table sources;
  SourceRows rows;
  Counts before;  // rows of the segment that stand before those of the group
};

// Makes the catalogue of a segment: strings, groups and their directory.
class SegmentWriter {
 public:
  explicit SegmentWriter(const Codec& codec);

  // Sources come in the order of their names, each once (kInvalidArgument).
  void add(const SourceRecord& source);
  // Appends the sections; call once, after the last source.
  void finish(FileImage& image);

  const Counts& counts() const { return counts_; }

 private:
  void end_group();

  const Codec& codec_;
  Strings strings_;
  Table group_;
  SourceName first_, last_;  // of the group under way
  Bytes groups_;
  Table directory_;
  Counts counts_;
};

// The catalogue of a segment, whose bytes outlive it. Opening reads strings and directory; a group
// is read and checked when it is asked for. Bytes may be a stranger's.
class SegmentGroups {
 public:
  SegmentGroups(const Container& file, Origin origin, const Codec& codec);
  // The same over tables that were verified, which are one group, wherever their texts are.
  explicit SegmentGroups(SourceList list);

  const Counts& counts() const { return counts_; }
  const Strings& strings() const { return strings_; }
  std::size_t group_count() const { return entries_.size(); }
  std::size_t unpacked_bytes() const;  // of all groups
  // What all groups of a stranger's may take in memory together.
  std::uint64_t budget() const;
  // For those who go through all of them: it is not kept. What it takes is taken off a budget,
  // where one is given (kDamaged).
  std::shared_ptr<const Group> read_apart(std::size_t number,
                                          std::uint64_t* budget = nullptr) const;

 protected:
  struct Entry {
    ByteView bytes;
    std::size_t size;  // unpacked
    std::uint32_t checksum;
    Counts counts, before;
    SourceName first;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  Origin origin() const { return origin_; }

 private:
  void read_directory(ByteView bytes, ByteView groups);

  Origin origin_;
  const Codec& codec_;
  Strings strings_;
  std::vector<Entry> entries_;
  std::shared_ptr<const Group> whole_;  // of a list; else groups are read
  std::size_t packed_bytes_ = 0;        // of all groups
  Counts counts_;
};

// The same, looked up in: the groups that were asked for last are kept.
class SegmentView : public SegmentGroups {
 public:
  SegmentView(const Container& file, Origin origin, const Codec& codec)
      : SegmentGroups(file, origin, codec), groups_(group_count()) {}
  explicit SegmentView(SourceList list) : SegmentGroups(std::move(list)), groups_(group_count()) {}

  std::shared_ptr<const Group> group(std::size_t number) const;

  // Where a source is: its group, and its row there.
  struct Found {
    std::shared_ptr<const Group> group;
    std::size_t row;
  };
  std::optional<Found> find(const SourceName& name) const;
  // The number of the first source that does not stand before a name; of all if none does.
  std::size_t first_from(const SourceName& name) const;
  // The same by its number among all sources of the segment, which must be below their number.
  Found source(std::size_t number) const;
  // The group that holds a document or a chunk, by its row among all of the segment.
  std::shared_ptr<const Group> group_of_document(std::size_t row) const;
  std::shared_ptr<const Group> group_of_chunk(std::size_t row) const;

 private:
  // The last group before which stand no more rows of this kind than that.
  std::shared_ptr<const Group> group_before(std::size_t Counts::* kind, std::size_t row) const;

  mutable Mutex mutex_;
  mutable std::vector<std::weak_ptr<const Group>> groups_;    // that somebody holds
  mutable std::vector<std::shared_ptr<const Group>> recent_;  // newest last
};

}  // namespace gossamer
