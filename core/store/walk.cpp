#include "store/walk.h"

namespace gossamer {

SourceWalk::SourceWalk(std::span<const LiveSegment> segments)
    : segments_(segments.begin(), segments.end()), cursors_(segments.size()) {
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    cursors_[i].stop.segment = i;
    move_to(cursors_[i], 0);
  }
}

std::optional<SourceWalk::Stop> SourceWalk::next() {
  Cursor* first = nullptr;
  for (Cursor& cursor : cursors_)
    if (!cursor.is_over && (first == nullptr || cursor.name < first->name)) first = &cursor;
  if (first == nullptr) return std::nullopt;
  expect(!last_ || *last_ < first->name, Reason::kDamaged,
         "two segments of the index hold the same source");
  last_ = first->name;
  const Stop stop = first->stop;
  move_to(*first, stop.number + 1);
  return stop;
}

void SourceWalk::move_to(Cursor& cursor, std::size_t number) {
  const LiveSegment& segment = segments_[cursor.stop.segment];
  const std::size_t count = segment.view->counts().sources;
  while (number < count && segment.gone->has(number)) ++number;
  cursor.is_over = number == count;
  cursor.stop.number = number;
  if (cursor.is_over) return;
  SegmentView::Found found = segment.view->source(number);
  cursor.stop.group = std::move(found.group);
  cursor.stop.row = found.row;
  cursor.name = cursor.stop.group->rows.name(found.row);
}

}  // namespace gossamer
