// gossamer-filters.wasm: which documents of a catalogue a filter lets through. It is loaded with
// the first filter; what it gives goes to the collection that questions are asked of.

#include <memory>

#include "filters/filter.h"
#include "filters/scope.h"
#include "segments.h"

namespace gossamer::wasm {
namespace {

// A byte for each document, by row: 1 if the filter lets it through.
std::size_t give_allowed(const Catalogue& catalogue, std::string_view filter) {
  const std::vector<bool> allowed = allowed_documents(catalogue, Filter::read(filter));
  Bytes& bytes = given().bytes;
  bytes.assign(allowed.begin(), allowed.end());
  given().first = bytes.data();
  return bytes.size();
}

}  // namespace

// What is asked of a list, which is taken over.
GOSSAMER_EXPORT(filter_list)
std::size_t filter_list(SourceList* list, const std::uint8_t* filter, std::size_t size) {
  const std::unique_ptr<SourceList> taken(list);
  return give_allowed(Catalogue({std::make_shared<const Segment>(std::move(*taken))}),
                      text_of(filter, size));
}

// The same of segments, oldest first, whose files are taken over.
GOSSAMER_EXPORT(filter_segments)
std::size_t filter_segments(SegmentFile** files, const double* numbers, std::size_t count,
                            const std::uint8_t* filter, std::size_t size) {
  return give_allowed(Catalogue(take_segments(files, numbers, count)), text_of(filter, size));
}

}  // namespace gossamer::wasm
