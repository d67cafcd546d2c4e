#include "index/index.h"

namespace gossamer {

// Nothing of a graph: that is read when it is asked for.
View Index::parts() const {
  View view;
  view.space = &space_;
  view.kept = &kept_;
  view.codebook = codebook_.get();
  view.codes = codebook_ ? &codes_ : nullptr;
  // A file that keeps all vectors keeps those of deleted nodes too: walks get the same ones.
  view.deleted = deleted_count_ > 0 && !is_detached() ? &deleted_ : nullptr;
  view.node_count = node_count_;
  view.allowed_count = node_count_;
  return view;
}

IndexView Index::view() const {
  check_codes();
  load_ids();
  return {ReadLock<SharedMutex>(mutex_),
          parts(),
          ids_,
          calibration_,
          deleted_count_ > 0 ? &deleted_ : nullptr,
          version_};
}

Bitmap Index::allow_ids(std::span<const std::uint64_t> ids) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  Bitmap allowed(node_count_);
  for (const std::uint64_t id : ids) allowed.insert(node_of(id));
  return allowed;
}

Bitmap Index::allow_all_but(std::span<const std::uint64_t> ids) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  prepare_lookup();
  Bitmap allowed(node_count_);
  allowed.fill();
  for (const std::uint64_t id : ids)
    if (const auto node = ids_.find(id)) allowed.erase(*node);
  return allowed;
}

Bitmap Index::allow_mask(std::span<const bool> mask) const {
  load_ids();
  const ReadLock<SharedMutex> lock(mutex_);
  Bitmap allowed(node_count_);
  for (std::size_t i = 0; i < node_count_; ++i) {
    const auto node = static_cast<NodeId>(i);
    const std::uint64_t id = ids_.id(node);
    if (id < mask.size() && mask[id]) allowed.insert(node);
  }
  return allowed;
}

Calibration Index::calibration() const {
  const ReadLock<SharedMutex> lock(mutex_);
  return calibration_;
}

void Index::set_calibration(Calibration calibration) {
  const WriteLock<SharedMutex> lock(mutex_);
  calibration_ = std::move(calibration);
}

}  // namespace gossamer
