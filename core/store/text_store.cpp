#include "store/text_store.h"

#include <algorithm>

namespace gossamer {
namespace {

// Of texts, and of what the host makes of bases, which is as large again.
constexpr std::size_t kMostKept = std::size_t{1} << 26;

}  // namespace

void TextStore::add(std::uint64_t number, std::shared_ptr<const BlockView> texts) {
  texts_[number] = std::move(texts);
  kept_.clear();
  kept_bytes_ = 0;
}

std::map<std::uint64_t, std::uint64_t> TextStore::sizes() const {
  std::map<std::uint64_t, std::uint64_t> sizes;
  for (const auto& [number, texts] : texts_) sizes[number] = texts->size();
  return sizes;
}

const BlockView& TextStore::texts_of(std::uint64_t number, std::uint64_t start,
                                     std::uint64_t end) const {
  const auto found = texts_.find(number);
  if (found == texts_.end() || start > end || end > found->second->size())
    fail(Reason::kDamaged, "there is no text " + std::to_string(start) + " to " +
                               std::to_string(end) + " in segment " + std::to_string(number));
  return *found->second;
}

TextStore::Unpacked TextStore::find(std::uint64_t number, std::uint64_t start) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.number == number && kept.start == start;
  });
  if (found == kept_.end()) return nullptr;
  std::rotate(found, found + 1, kept_.end());
  return kept_.back().text;
}

void TextStore::keep(Kept kept) const {
  std::deque<Kept> gone;  // freed without the lock: what the host made is the host's to free
  const std::lock_guard lock(mutex_);
  kept_bytes_ += kept.bytes();
  kept_.push_back(std::move(kept));
  while (kept_bytes_ > kMostKept && kept_.size() > 1) {
    kept_bytes_ -= kept_.front().bytes();
    gone.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
}

TextStore::Unpacked TextStore::unpack(std::uint64_t number, const BlockView& texts,
                                      const Block& block) const {
  if (Unpacked known = find(number, block.start)) return known;
  const Unpacked base =
      block.base > 0 ? unpack(number, texts, texts.blocks()[block.base - 1]) : nullptr;
  Unpacked text = texts.open(block, base.get());
  keep({number, block.start, text});
  return text;
}

Bytes TextStore::read(std::uint64_t number, std::uint64_t start, std::uint64_t end) const {
  const BlockView& texts = texts_of(number, start, end);
  Bytes out;
  if (start == end) return out;
  out.reserve(static_cast<std::size_t>(end - start));
  for (const Block& block : texts.blocks_between(start, end)) {
    const Unpacked text = unpack(number, texts, block);
    const auto first = static_cast<std::ptrdiff_t>(std::max(start, block.start) - block.start);
    const auto last = static_cast<std::ptrdiff_t>(std::min(end, block.end()) - block.start);
    out.insert(out.end(), text->bytes.begin() + first, text->bytes.begin() + last);
  }
  return out;
}

}  // namespace gossamer
