#include "filters/scope.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "filters/dates.h"
#include "store/schema.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// What is known of every source, by these names.
enum Known : std::size_t { kPath, kSource, kType, kExtension, kSize, kModified };
constexpr std::array<std::string_view, 6> kKnown{"path",      "source", "type",
                                                 "extension", "size",   "modified"};

// Without its dot, in small letters; nothing for a name that only begins with one.
void set_extension(std::string_view path, std::string& extension) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  extension = dot == name.npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
  for (char& byte : extension)
    byte = static_cast<char>(small_letter(static_cast<std::uint8_t>(byte)));
}

// The fields of one document after the other, as far as a filter asks for them.
class Asked {
 public:
  explicit Asked(const Filter& filter) : filter_(filter), fields_(filter.names().size()) {
    for (JsonValue& value : values_) value.kind = JsonValue::Kind::kText;
    values_[kSize].kind = JsonValue::Kind::kInteger;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      std::size_t known = 0;
      while (known < kKnown.size() && kKnown[known] != filter.names()[i]) ++known;
      if (known < kKnown.size())
        fields_[i] = &values_[known];
      else
        in_metadata_.push_back(i);
    }
  }

  bool reads_metadata() const { return !in_metadata_.empty(); }
  bool match() const { return filter_.matches(fields_); }

  void set_source(const Group& group, const Strings& strings, std::size_t row) {
    const auto column = [&](std::size_t number) { return group.sources.columns[number][row]; };
    path_ = group.rows.name(row).path;
    values_[kPath].text = values_[kSource].text = path_;
    // An id, or the path below the folder that was added.
    if (const std::size_t root = strings[column(SourceColumns::kRoot)].size(); root > 0)
      values_[kSource].text.remove_prefix(
          std::min(path_.find_first_not_of('/', root), path_.size()));
    values_[kType].text = strings[column(SourceColumns::kKind)];
    set_extension(path_, extension_);
    values_[kExtension].text = extension_;
    values_[kSize].integer = column(SourceColumns::kSize);
    if (filter_.asks_for(kKnown[kModified])) {
      modified_ = moment_of(column(SourceColumns::kTime)).text();
      values_[kModified].text = modified_ += "+00:00";
    }
  }

  // Many documents have the metadata of the one before.
  void set_metadata(std::string_view text) {
    if (text == metadata_text_ && !metadata_.values().empty()) return;
    metadata_text_ = text;
    metadata_.read_metadata(metadata_text_);
    for (const std::size_t i : in_metadata_) fields_[i] = metadata_.find(filter_.names()[i]);
  }

 private:
  const Filter& filter_;
  std::vector<const JsonValue*> fields_;
  std::vector<std::size_t> in_metadata_;         // which of them
  std::array<JsonValue, kKnown.size()> values_;  // of the source
  std::string path_, extension_, modified_, metadata_text_;
  Json metadata_;
};

// Writes down what holds for the documents of a group, from a row on; gives the row behind them.
std::size_t test_group(const LivePart& part, const Group& group, Asked& asked,
                       std::vector<bool>& allowed, std::size_t row) {
  const Table& documents = group.sources.children[SourceColumns::kDocument];
  const Bytes& texts = documents.children[DocumentColumns::kMetadata].content;
  const Ints starts = documents.starts(DocumentColumns::kMetadata);
  for (std::size_t source = 0; source < group.rows.size(); ++source) {
    if (part.sources.has(group.before.sources + source)) continue;
    asked.set_source(group, part.segment->sources().strings(), source);
    const bool holds = !asked.reads_metadata() && asked.match();
    const RowRange rows = group.rows.documents_of(source);
    expect(row + rows.size() <= allowed.size(), Reason::kDamaged,
           "the catalogue has more documents than it counts");
    for (std::size_t i = rows.first; i < rows.end; ++i) {
      if (asked.reads_metadata())
        asked.set_metadata({reinterpret_cast<const char*>(texts.data()) + starts[i],
                            static_cast<std::size_t>(starts[i + 1] - starts[i])});
      allowed[row++] = asked.reads_metadata() ? asked.match() : holds;
    }
  }
  return row;
}

}  // namespace

std::vector<bool> allowed_documents(const Catalogue& catalogue, const Filter& filter) {
  std::vector<bool> allowed(catalogue.counts().documents);
  Asked asked(filter);
  std::size_t row = 0;
  for (const LivePart& part : catalogue.parts())
    for (std::size_t group = 0; group < part.segment->sources().group_count(); ++group)
      row = test_group(part, *part.segment->sources().read_apart(group), asked, allowed, row);
  return allowed;
}

}  // namespace gossamer
