#include "store/merge.h"

#include <algorithm>
#include <map>

#include "base/sort.h"
#include "store/schema.h"
#include "store/walk.h"

namespace gossamer {
namespace {

// A segment joins newer ones that are together a fourth of it: few segments, and a chunk is written
// a number of times that grows with the logarithm of all.
constexpr std::size_t kRatio = 4;
// Work that one commit may wait for, in rows, unless there would be too many segments: so much, or
// in proportion to what it brings itself.
constexpr std::size_t kMostMerged = 1 << 17;
constexpr std::size_t kManySegments = 12, kFewSegments = 6;
// One of which more than this share is gone is written anew.
constexpr std::size_t kGoneShare = 3;
// Texts of a segment that has fewer bytes of them are packed again, with those of the others.
constexpr std::size_t kSmallTexts = 1 << 22;

struct Stretch {
  std::uint64_t start, end;

  friend auto operator<=>(const Stretch&, const Stretch&) = default;
};

// Where stretches of the texts of a segment went.
class Moves {
 public:
  void add(Stretch from, std::uint64_t to) { moves_.emplace(from.start, to); }
  std::int64_t of(std::int64_t offset) const {
    const auto after = moves_.upper_bound(static_cast<std::uint64_t>(offset));
    if (after == moves_.begin()) return 0;  // of an empty text
    const auto& [start, to] = *std::prev(after);
    return static_cast<std::int64_t>(to + static_cast<std::uint64_t>(offset) - start);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> moves_;
};

// The texts of live documents, in order; those that overlap are one.
std::vector<Stretch> live_texts(const LivePart& part) {
  std::vector<Stretch> found;
  for (std::size_t number = 0; number < part.segment->sources().group_count(); ++number) {
    const auto group = part.segment->sources().read_apart(number);
    const Table& documents = group->sources.children[SourceColumns::kDocument];
    for (std::size_t row = 0; row < documents.size(); ++row) {
      if (documents.columns[DocumentColumns::kSegment][row] != kHere ||
          part.documents.has(group->before.documents + row))
        continue;
      const auto start =
          static_cast<std::uint64_t>(documents.columns[DocumentColumns::kOffset][row]);
      const auto length =
          static_cast<std::uint64_t>(documents.columns[DocumentColumns::kLength][row]);
      if (length > 0) found.push_back({start, start + length});
    }
  }
  sort_values(found.begin(), found.end());
  std::vector<Stretch> joined;
  for (const Stretch& one : found) {
    if (!joined.empty() && one.start <= joined.back().end)
      joined.back().end = std::max(joined.back().end, one.end);
    else
      joined.push_back(one);
  }
  return joined;
}

// What is live of each block.
std::vector<std::vector<Stretch>> live_blocks(const BlockView& texts,
                                              const std::vector<Stretch>& live) {
  std::vector<std::vector<Stretch>> found;
  auto next = live.begin();
  for (const Block& block : texts.blocks()) {
    std::vector<Stretch>& here = found.emplace_back();
    for (auto one = next; one != live.end() && one->start < block.end(); ++one) {
      here.push_back({std::max(one->start, block.start), std::min(one->end, block.end())});
      if (one->end <= block.end()) next = one + 1;
    }
  }
  return found;
}

// Which blocks are taken over as they are: those of which more than half is live, unless they are
// small, and the bases of these, whatever is live of them.
std::vector<bool> full_blocks(const BlockView& texts, const std::vector<std::vector<Stretch>>& live,
                              std::size_t block_bytes) {
  std::vector<bool> is_full(texts.blocks().size());
  for (std::size_t row = is_full.size(); row-- > 0;) {
    const Block& block = texts.blocks()[row];
    std::uint64_t bytes = 0;
    for (const Stretch& one : live[row]) bytes += one.end - one.start;
    if (2 * block.size < block_bytes || 2 * bytes <= block.size) continue;
    is_full[row] = true;
    if (block.base > 0) is_full[block.base - 1] = true;
  }
  return is_full;
}

Moves copy_texts(const LivePart& part, bool packs_anew, BlockWriter& out) {
  const BlockView& texts = part.segment->texts();
  const std::vector<Stretch> live = live_texts(part);
  expect(live.empty() || live.back().end <= texts.size(), Reason::kDamaged,
         "a document has its text where the segment has none");
  const auto stretches = live_blocks(texts, live);
  const std::vector<bool> is_full = packs_anew || texts.size() < kSmallTexts
                                        ? std::vector<bool>(texts.blocks().size())
                                        : full_blocks(texts, stretches, out.block_bytes());
  Moves moves;
  for (const Block& block : texts.blocks()) {
    const std::size_t row = texts.number_of(block);
    if (is_full[row] && out.can_copy(texts, block)) {
      moves.add({block.start, block.end()}, out.copy(texts, block));
      continue;
    }
    if (stretches[row].empty()) continue;
    const auto text = texts.open(block);
    for (const Stretch& one : stretches[row])
      moves.add(one, out.add(ByteView(text->bytes)
                                 .subspan(static_cast<std::size_t>(one.start - block.start),
                                          static_cast<std::size_t>(one.end - one.start))));
  }
  return moves;
}

Bytes codes_of(const SourceRecord& source, const GivenCodes& given, std::size_t width) {
  Bytes codes;
  for (const DocumentRecord& document : source.documents)
    for (std::size_t i = 0; i < document.chunks.size(); ++i) {
      const auto* place = given.places.find(static_cast<std::uint64_t>(document.first_chunk) + i);
      expect(place != nullptr, Reason::kInvalidArgument, "a chunk has no code");
      const ByteView code = given.codes.subspan(*place * width, width);
      codes.insert(codes.end(), code.begin(), code.end());
    }
  return codes;
}

}  // namespace

void merge_segments(const Catalogue& catalogue, std::span<const std::size_t> chosen,
                    CodeStamp stamp, const GivenCodes* given, bool packs_anew,
                    std::int64_t id_shift, SegmentImage& image) {
  const std::vector<LivePart>& parts = catalogue.parts();
  std::vector<std::uint64_t> others;
  for (std::size_t number = 0; number < parts.size(); ++number)
    if (std::find(chosen.begin(), chosen.end(), number) == chosen.end())
      others.push_back(parts[number].segment->number());
  std::vector<LiveSegment> segments;
  std::vector<Moves> moves;
  for (const std::size_t number : chosen) {
    const LivePart& part = parts[number];
    image.gone.add_all(part.segment->gone(), others);
    moves.push_back(copy_texts(part, packs_anew, image.texts));
    segments.push_back({&part.segment->sources(), &part.sources});
  }
  SourceWalk walk(segments);
  while (const auto stop = walk.next()) {
    SourceRecord source = stop->group->rows.source(stop->row);
    for (DocumentRecord& document : source.documents)
      if (document.segment == kHere) document.offset = moves[stop->segment].of(document.offset);
    const RowRange chunks = stop->group->rows.chunks_of_source(stop->row);
    const Bytes own = given == nullptr ? Bytes() : codes_of(source, *given, stamp.bytes);
    for (DocumentRecord& document : source.documents) document.first_chunk += id_shift;
    if (chunks.size() == 0 || given != nullptr || stamp.bytes == 0) {
      image.add(source, own);
    } else {
      const Segment& from = *parts[chosen[stop->segment]].segment;
      expect(from.stamp() == stamp, Reason::kDamaged,
             "the segments of the index have codes of different codebooks");
      image.add(source,
                from.codes().subspan((stop->group->before.chunks + chunks.first) * stamp.bytes,
                                     chunks.size() * stamp.bytes));
    }
  }
}

std::vector<std::size_t> segments_to_merge(const Catalogue& catalogue, std::size_t fresh) {
  const std::vector<LivePart>& parts = catalogue.parts();
  if (parts.empty()) return {};
  // What each takes: rows of sources without chunks count too.
  const auto size = [&](std::size_t number) {
    const Counts counts = parts[number].segment->sources().counts();
    return counts.sources + counts.chunks + 1;
  };
  // What one commit brought is put together whatever its parts are.
  std::size_t first = parts.size() - std::clamp<std::size_t>(fresh, 1, parts.size()), sum = 0;
  for (std::size_t number = first; number < parts.size(); ++number) sum += size(number);
  const std::size_t most = std::max(kMostMerged, kRatio * sum);
  while (first > 0 && size(first - 1) <= kRatio * sum && size(first - 1) + sum <= most)
    sum += size(--first);
  if (first + 1 > kManySegments) first = kFewSegments - 1;
  std::vector<std::size_t> chosen;
  for (std::size_t number = 0; number < parts.size(); ++number) {
    const Counts all = parts[number].segment->sources().counts(), live = parts[number].counts();
    const std::size_t gone = all.chunks - live.chunks + all.sources - live.sources;
    if (number >= first || kGoneShare * gone > all.chunks + all.sources) chosen.push_back(number);
  }
  const bool has_gone = chosen.size() == 1 && chosen[0] != parts.size() - 1;
  return chosen.size() > 1 || has_gone ? chosen : std::vector<std::size_t>();
}

}  // namespace gossamer
