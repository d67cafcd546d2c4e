#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/gaps.h"
#include "store/segment.h"

namespace gossamer {

// A segment of a state, and which of its sources are gone; both outlive the walk.
struct LiveSegment {
  const SegmentView* view;
  const Gaps* gone;  // by number
};

// All live sources of a state in the order of their names, whichever segments they are in: what
// merging, exporting and comparing states go through. Holds one group of each segment.
class SourceWalk {
 public:
  explicit SourceWalk(std::span<const LiveSegment> segments);

  struct Stop {
    std::size_t segment;                 // which of them
    std::size_t number;                  // of the source, in its segment
    std::shared_ptr<const Group> group;  // that it is in
    std::size_t row;                     // of it there
  };
  // The next source; nothing after the last one. kDamaged if two segments hold one of the same
  // name.
  std::optional<Stop> next();

 private:
  struct Cursor {
    Stop stop;
    SourceName name;
    bool is_over = false;
  };
  // Goes to the first live source from `number` on.
  void move_to(Cursor& cursor, std::size_t number);

  std::vector<LiveSegment> segments_;
  std::vector<Cursor> cursors_;
  std::optional<SourceName> last_;
};

}  // namespace gossamer
