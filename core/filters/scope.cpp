#include "filters/scope.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "filters/dates.h"
#include "filters/paths.h"
#include "store/schema.h"

namespace gossamer {
namespace {

// How many texts of metadata are known at a time; many documents have the same, or each another.
constexpr std::size_t kMostKnown = 1024;

// Without its dot, in small letters; nothing for a name that only begins with one.
std::string extension_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == name.npos || dot == 0 ? std::string() : in_small_letters(name.substr(dot + 1));
}

// The fields of one document after the other, as far as a filter asks for them.
class Asked {
 public:
  explicit Asked(const Filter& filter) : filter_(filter), fields_(filter.names().size()) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto found = std::find(kKnown.begin(), kKnown.end(), filter.names()[i]);
      const auto known = static_cast<std::size_t>(found - kKnown.begin());
      if (known == kKnown.size()) {
        in_metadata_.push_back(i);
      } else {
        is_asked_[known] = true;
        fields_[i] = &values_[known];
      }
    }
  }

  bool reads_metadata() const { return !in_metadata_.empty(); }
  bool matches() const { return filter_.matches(fields_); }

  void set_source(const Group& group, const Strings& strings, std::size_t row) {
    const auto& columns = group.sources.columns;
    const auto column = [&](std::size_t number) { return columns[number][row]; };
    const std::string path = group.rows.name(row).path;
    const auto set = [&](Known known, const auto& make) {
      if (is_asked_[known]) values_[known] = JsonValue::of(make());
    };
    set(kPath, [&] { return path; });
    set(kSource, [&] {
      // An id, or the path below the folder that was added.
      const std::size_t root = strings[column(SourceColumns::kRoot)].size();
      return path.substr(root == 0 ? 0 : std::min(path.find_first_not_of('/', root), path.size()));
    });
    set(kType, [&] { return strings[column(SourceColumns::kKind)]; });
    set(kExtension, [&] { return extension_of(path); });
    set(kSize, [&] { return column(SourceColumns::kSize); });
    set(kModified, [&] { return moment_of(column(SourceColumns::kTime)); });
  }

  void set_metadata(std::string_view text) {
    auto known = known_.find(text);
    if (known == known_.end()) {
      if (known_.size() == kMostKnown) known_.clear();
      known = known_.emplace(text, read_metadata(text)).first;
    }
    for (const std::size_t field : in_metadata_)
      fields_[field] = known->second.find(filter_.names()[field]);
  }

 private:
  enum Known : std::size_t { kPath, kSource, kType, kExtension, kSize, kModified };
  static constexpr std::array<std::string_view, 6> kKnown{"path",      "source", "type",
                                                          "extension", "size",   "modified"};

  const Filter& filter_;
  std::vector<const JsonValue*> fields_;
  std::array<JsonValue, kKnown.size()> values_;  // of the source
  std::array<bool, kKnown.size()> is_asked_{};
  std::vector<std::size_t> in_metadata_;
  // No hashes: texts of strangers may be made to have the same one.
  std::map<std::string, JsonValue, std::less<>> known_;
};

void add_source(const Group& group, std::size_t source, const Ints& metadata, Asked& asked,
                std::vector<bool>& allowed) {
  const RowRange rows = group.rows.documents_of(source);
  if (!asked.reads_metadata()) {
    if (rows.size() > 0) allowed.insert(allowed.end(), rows.size(), asked.matches());
    return;
  }
  const Table& documents = group.sources.children[SourceColumns::kDocument];
  const Bytes& texts = documents.children[DocumentColumns::kMetadata].content;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    asked.set_metadata({reinterpret_cast<const char*>(texts.data()) + metadata[row],
                        static_cast<std::size_t>(metadata[row + 1] - metadata[row])});
    allowed.push_back(asked.matches());
  }
}

}  // namespace

std::vector<bool> allowed_documents(const Catalogue& catalogue, const Filter& filter) {
  std::vector<bool> allowed;
  allowed.reserve(catalogue.counts().documents);
  Asked asked(filter);
  for (const LivePart& part : catalogue.parts()) {
    const SegmentView& sources = part.segment->sources();
    for (std::size_t number = 0; number < sources.group_count(); ++number) {
      const auto group = sources.read_apart(number);
      const Table& documents = group->sources.children[SourceColumns::kDocument];
      const Ints metadata =
          asked.reads_metadata() ? documents.starts(DocumentColumns::kMetadata) : Ints();
      for (std::size_t row = 0; row < group->rows.size(); ++row) {
        if (part.sources.has(group->before.sources + row)) continue;
        asked.set_source(*group, sources.strings(), row);
        add_source(*group, row, metadata, asked, allowed);
      }
    }
  }
  return allowed;
}

}  // namespace gossamer
