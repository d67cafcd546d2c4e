#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/aligned.h"
#include "base/bytes.h"
#include "base/types.h"

namespace gossamer {

// Rows of equal length, end to end: codes or vectors. Starts as a view of somebody's bytes (a
// mapped file) and becomes a copy of its own with the first change.
class Column {
 public:
  explicit Column(std::size_t row_bytes = 0) : row_bytes_(row_bytes) {}
  Column(std::size_t row_bytes, ByteView mapped) : row_bytes_(row_bytes), view_(mapped) {}
  Column(std::size_t row_bytes, RowBytes owned)
      : row_bytes_(row_bytes), owned_(std::make_shared<RowBytes>(std::move(owned))) {}

  std::size_t row_bytes() const { return row_bytes_; }
  std::size_t count() const { return row_bytes_ == 0 ? 0 : bytes().size() / row_bytes_; }
  ByteView bytes() const { return owned_ ? ByteView(*owned_) : view_; }
  const std::uint8_t* data() const { return bytes().data(); }
  const std::uint8_t* row(NodeId node) const {
    return data() + static_cast<std::size_t>(node) * row_bytes_;
  }
  // Keeps what bytes() gives as it is, whatever becomes of the column; null for a view.
  std::shared_ptr<const RowBytes> share() const { return owned_; }

  // Some of the rows, in the order given.
  Column take(std::span<const NodeId> nodes) const {
    RowBytes taken(nodes.size() * row_bytes_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::memcpy(taken.data() + i * row_bytes_, row(nodes[i]), row_bytes_);
    }
    return {row_bytes_, std::move(taken)};
  }

  // Writes rows that lie end to end, in the order of nodes; those after the last are appended.
  void fill(std::span<const NodeId> nodes, const std::uint8_t* rows) {
    if (nodes.empty()) return;
    const std::size_t end = (static_cast<std::size_t>(nodes.back()) + 1) * row_bytes_;
    own(end);
    // A column is most of an index: twice its size would be too much room.
    if (end > owned_->capacity()) owned_->reserve(end + end / 8);
    for (std::size_t i = 0; i < nodes.size(); ++i) set(nodes[i], rows + i * row_bytes_);
  }

  // Writes a row; the one after the last is appended.
  void set(NodeId node, const std::uint8_t* row) {
    own();
    const std::size_t offset = static_cast<std::size_t>(node) * row_bytes_;
    if (offset == owned_->size()) owned_->resize(offset + row_bytes_);
    std::memcpy(owned_->data() + offset, row, row_bytes_);
  }

 private:
  // Rows that somebody else looks at (a file being written) are left to them. A copy has room for
  // so many bytes.
  void own(std::size_t room = 0) {
    if (owned_ && owned_.use_count() == 1) return;
    const ByteView now = bytes();
    auto copy = std::make_shared<RowBytes>();
    copy->reserve(std::max(room, now.size()));
    copy->assign(now.begin(), now.end());
    owned_ = std::move(copy);
  }

  std::size_t row_bytes_;
  ByteView view_;
  std::shared_ptr<RowBytes> owned_;
};

}  // namespace gossamer
