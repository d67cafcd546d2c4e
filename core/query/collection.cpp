#include "query/collection.h"

#include "query/question.h"

namespace gossamer {
namespace {

// Whose answers are remembered: all those of one question, and some more.
constexpr std::size_t kMostFilters = Question::kMostRequirements + 8;

}  // namespace

const ChunkLayout& Collection::layout() const {
  const std::lock_guard lock(mutex_);
  if (!layout_) layout_.emplace(*catalogue_, roots_);
  return *layout_;
}

std::shared_ptr<const Allowed> Collection::find_allowed(const std::string& filter) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, allowed] : filters_)
    if (known == filter) return allowed;
  return nullptr;
}

void Collection::remember(const std::string& filter, std::shared_ptr<const Allowed> allowed) const {
  const std::lock_guard lock(mutex_);
  filters_.emplace_back(filter, std::move(allowed));
  if (filters_.size() > kMostFilters) filters_.erase(filters_.begin());
}

DocumentFacts Collection::document(std::size_t row) const {
  const Catalogue::Place place = catalogue_->document(row);
  const SourceRows& rows = place.group->rows;
  DocumentFacts facts{row,
                      catalogue_->source_of(row),
                      rows.source_alone(rows.source_of(place.row)),
                      rows.document_alone(place.row),
                      {}};
  const SourceName name = name_of(facts.source);
  if (facts.document.segment == kHere)
    facts.document.segment = static_cast<std::int64_t>(place.part->segment->number());
  if (facts.is_verbatim() && !(name.is_file && roots_.hold(name.path)))
    facts.document.segment = kAway;
  facts.path = name.path;
  return facts;
}

std::vector<ChunkFacts> Collection::find(std::span<const std::uint64_t> ids) const {
  std::vector<ChunkFacts> found(ids.size());
  std::shared_ptr<const DocumentFacts> document;
  std::shared_ptr<const Group> group;  // that holds it
  std::optional<SourceRows::ChunkCursor> chunks;
  // In the order of rows, so that each group and each document is read once.
  for (const std::size_t i : catalogue_->in_order(ids)) {
    const Catalogue::ChunkPlace place = catalogue_->chunk(ids[i]);
    if (!document || document->row != place.document_row) {
      document = std::make_shared<const DocumentFacts>(this->document(place.document_row));
      group = place.document.group;
      chunks.emplace(group->rows, place.document.row);
    }
    ChunkRecord chunk = chunks->at(place.number);
    found[i] = {ids[i], document, std::move(chunk.place), chunk.check};
  }
  return found;
}

}  // namespace gossamer
