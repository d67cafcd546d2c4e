#include "store/text_store.h"

#include <algorithm>

namespace gossamer {
namespace {

constexpr std::size_t kMostKept = 16;  // blocks

}  // namespace

void TextStore::add(std::uint64_t number, std::shared_ptr<const BlockView> texts) {
  texts_[number] = std::move(texts);
  std::erase_if(kept_, [&](const Kept& kept) { return kept.number == number; });
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

TextStore::Unpacked TextStore::unpack(std::uint64_t number, const BlockView& texts,
                                      const Block& block) const {
  {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : kept_)
      if (kept.number == number && kept.start == block.start) return kept.text;
  }
  auto text = std::make_shared<const Bytes>(texts.unpack(block));
  const std::lock_guard lock(mutex_);
  kept_.push_back({number, block.start, text});
  if (kept_.size() > kMostKept) kept_.pop_front();
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
    out.insert(out.end(), text->begin() + first, text->begin() + last);
  }
  return out;
}

}  // namespace gossamer
