#include "store/segment_file.h"

#include <algorithm>

namespace gossamer {
namespace {

constexpr std::uint32_t kMostCodeBytes = 1 << 10;
const TextCodec kNoTexts;

}  // namespace

void SegmentImage::add(const SourceRecord& source, ByteView codes) {
  std::size_t chunks = 0;
  for (const DocumentRecord& document : source.documents) {
    for (std::size_t i = 0; i < document.chunks.size(); ++i)
      ids_.push_back(static_cast<std::uint64_t>(document.first_chunk) + i);
    chunks += document.chunks.size();
  }
  expect(codes.size() == chunks * stamp_.bytes, Reason::kInvalidArgument,
         "each chunk of a segment has one code");
  codes_.insert(codes_.end(), codes.begin(), codes.end());
  sources_.add(source);
}

void SegmentImage::finish(FileImage& image) {
  sources_.finish(image);
  if (!ids_.empty()) image.add(SectionKind::kIds, IdMap(ids_).to_bytes());
  if (!codes_.empty()) {
    ByteWriter stamp;
    stamp.put(stamp_.bytes);
    stamp.put(stamp_.codebook);
    image.add(SectionKind::kCodeStamp, stamp.take());
    image.add(SectionKind::kCodes, std::move(codes_));
  }
  if (!gone.empty()) image.add(SectionKind::kGone, gone.pack(codecs_.columns));
  texts.finish(image, codecs_.columns);
}

Segment::Segment(std::uint64_t number, ByteView file, Origin origin, const Codecs& codecs)
    : Segment(number, Container::parse(file), origin, codecs) {
  bytes_ = file;
}

Segment::Segment(std::uint64_t number, Container file, Origin origin, const Codecs& codecs)
    : number_(number),
      origin_(origin),
      file_(std::move(file)),
      sources_(file_, origin, codecs.columns),
      texts_(file_, origin, codecs.columns, codecs.texts) {
  if (file_.has(SectionKind::kGone))
    gone_ = GoneSources::read(file_.verified(SectionKind::kGone), origin, codecs.columns);
  if (file_.has(SectionKind::kCodes)) {
    ByteReader in(file_.required(SectionKind::kCodeStamp), "the stamp of codes");
    stamp_.bytes = in.get<std::uint32_t>();
    stamp_.codebook = in.get<std::uint64_t>();
    in.expect_end();
    expect(stamp_.bytes > 0 && stamp_.bytes <= kMostCodeBytes, Reason::kDamaged,
           "the codes of a segment have a length that cannot be");
  }
  expect(file_.bytes(SectionKind::kCodes).size() ==
             std::uint64_t{stamp_.bytes} * sources_.counts().chunks,
         Reason::kDamaged, "the codes of a segment do not fit its chunks");
}

Segment::Segment(SourceList list)
    : number_(static_cast<std::uint64_t>(kHere)),
      origin_(Origin::kOwn),
      sources_(std::move(list)),
      texts_({}, {}, {}, nullptr, kNoTexts) {}

const IdMap& Segment::ids() const {
  const std::lock_guard lock(mutex_);
  if (!ids_) {
    IdMap ids = file_.has(SectionKind::kIds)
                    ? IdMap::from_bytes(file_.required(SectionKind::kIds), chunk_count())
                    : IdMap(ids_of_documents());
    do_ids_rise_ = true;
    for (std::size_t chunk = 1; chunk < chunk_count() && do_ids_rise_; ++chunk)
      do_ids_rise_ = ids.id(static_cast<NodeId>(chunk - 1)) < ids.id(static_cast<NodeId>(chunk));
    ids_ = std::move(ids);
  }
  return *ids_;
}

std::optional<std::size_t> Segment::chunk_of(std::uint64_t id) const {
  const IdMap& known = ids();
  if (!do_ids_rise_) {
    const std::lock_guard lock(mutex_);
    if (!has_lookup_) ids_->prepare_lookup(Bitmap(chunk_count()));
    has_lookup_ = true;
    return ids_->find(id);
  }
  std::size_t low = 0, high = chunk_count();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (known.id(static_cast<NodeId>(middle)) < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == chunk_count() || known.id(static_cast<NodeId>(low)) != id) return std::nullopt;
  return low;
}

ByteView Segment::codes() const {
  const std::lock_guard lock(mutex_);
  if (are_codes_verified_) return file_.bytes(SectionKind::kCodes);
  const ByteView codes = file_.verified(SectionKind::kCodes);
  are_codes_verified_ = true;
  return codes;
}

std::vector<std::uint64_t> Segment::ids_of_documents() const {
  std::vector<std::uint64_t> ids;
  std::uint64_t budget = sources_.budget();
  for (std::size_t number = 0; number < sources_.group_count(); ++number) {
    const std::shared_ptr<const Group> group =
        sources_.read_apart(number, origin_ == Origin::kOther ? &budget : nullptr);
    for (std::size_t row = 0; row < group->document_count(); ++row) {
      const auto first = static_cast<std::uint64_t>(group->rows.document_alone(row).first_chunk);
      for (std::size_t i = 0; i < group->rows.chunks_of(row).size(); ++i) ids.push_back(first + i);
    }
  }
  return ids;
}

void Segment::verify() const {
  file_.verify_all();
  const std::vector<std::uint64_t> own = ids_of_documents();  // which reads every group
  expect(own.size() == chunk_count(), Reason::kDamaged,
         "the directory of a segment counts other chunks than it has");
  for (std::size_t chunk = 0; chunk < own.size(); ++chunk)
    expect(ids().id(static_cast<NodeId>(chunk)) == own[chunk], Reason::kDamaged,
           "the ids of a segment are not those of its documents");
}

}  // namespace gossamer
