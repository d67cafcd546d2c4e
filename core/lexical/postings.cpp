#include "lexical/postings.h"

#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "base/sort.h"

namespace gossamer {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic{'G', 'S', 'M', 'W', 'O', 'R', 'D', 'S'};
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kOldVersion = 1;  // the same, but forms of one letter are not folded
constexpr std::size_t kBlockTerms = 128;
constexpr std::size_t kLeastHeadBytes = 17;
constexpr const char* kWhat = "the words";

[[noreturn]] void refuse(const char* what) {
  fail(Reason::kDamaged, "the words of the index have " + std::string(what));
}

void check(bool holds, const char* what) {
  if (!holds) refuse(what);
}

std::size_t shared_bytes(std::string_view one, std::string_view other) {
  const std::size_t most = std::min(one.size(), other.size());
  std::size_t shared = 0;
  while (shared < most && one[shared] == other[shared]) ++shared;
  return shared;
}

ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Header {
  std::uint32_t version, chunks, terms, blocks;
  std::uint64_t postings_bytes;
  std::uint32_t heads_bytes, heads_checksum;
};

Header read_header(ByteView start, std::uint64_t size) {
  expect(start.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), start.begin()),
         Reason::kNotGossamer, "these are no words of a Gossamer index");
  ByteReader in(start.subspan(kMagic.size()), kWhat);
  const auto version = in.get<std::uint32_t>();
  if (version != kVersion && version != kOldVersion)
    fail(Reason::kUnknownVersion, "the words are of version " + std::to_string(version) +
                                      ", and this release reads " + std::to_string(kOldVersion) +
                                      " and " + std::to_string(kVersion) + "; use a newer release");
  Header header{};
  header.version = version;
  header.chunks = in.get<std::uint32_t>();
  header.terms = in.get<std::uint32_t>();
  header.blocks = in.get<std::uint32_t>();
  header.postings_bytes = in.get<std::uint64_t>();
  header.heads_bytes = in.get<std::uint32_t>();
  header.heads_checksum = in.get<std::uint32_t>();
  const std::uint64_t heads_end = std::uint64_t{PostingsView::kHeaderBytes} + header.heads_bytes;
  check(heads_end <= size && header.postings_bytes <= size - heads_end &&
            header.blocks == (std::uint64_t{header.terms} + kBlockTerms - 1) / kBlockTerms &&
            header.heads_bytes >= header.blocks * std::uint64_t{kLeastHeadBytes},
        "parts that do not fit together");
  return header;
}

}  // namespace

void PostingsWriter::add(std::uint32_t chunk, std::string_view text) {
  const auto first = static_cast<std::ptrdiff_t>(entries_.size());
  visit_terms(text, Side::kText, [&](const Term& term) {
    const auto number = static_cast<std::uint32_t>(terms_.size());
    entries_.push_back(
        {terms_.try_emplace(std::string(term.form), number).first->second, chunk, 1});
  });
  // One entry for each term: a text says many of them again and again.
  const auto begin = entries_.begin() + first;
  sort_values(begin, entries_.end());
  auto kept = begin;
  for (auto entry = begin; entry != entries_.end(); ++entry) {
    if (kept != begin && std::prev(kept)->term == entry->term)
      ++std::prev(kept)->count;
    else
      *kept++ = *entry;
  }
  entries_.erase(kept, entries_.end());
}

Bytes PostingsWriter::finish(std::uint32_t chunks, std::span<const std::uint32_t> numbers) const {
  std::vector<std::pair<std::string_view, std::uint32_t>> terms(terms_.begin(), terms_.end());
  sort_values(terms.begin(), terms.end());
  std::vector<std::uint32_t> ranks(terms.size());
  for (std::size_t rank = 0; rank < terms.size(); ++rank)
    ranks[terms[rank].second] = static_cast<std::uint32_t>(rank);
  std::vector<Entry> entries = entries_;
  for (Entry& entry : entries) {
    entry.term = ranks[entry.term];
    if (!numbers.empty()) {
      expect(entry.chunk < numbers.size(), Reason::kInvalidArgument, "a chunk has no number");
      entry.chunk = numbers[entry.chunk];
    }
    expect(entry.chunk < chunks, Reason::kInvalidArgument, "there are fewer chunks than this");
  }
  sort_values(entries.begin(), entries.end());

  ByteWriter heads, blocks, postings;
  std::size_t at = 0;  // among the entries
  for (std::size_t first = 0; first < terms.size(); first += kBlockTerms) {
    ByteWriter block;
    const std::size_t postings_at = postings.size();
    std::string_view before;
    for (std::size_t rank = first; rank < std::min(first + kBlockTerms, terms.size()); ++rank) {
      ByteWriter list;
      std::uint64_t next = 0, holding = 0;
      while (at < entries.size() && entries[at].term == rank) {
        const std::uint32_t chunk = entries[at].chunk;
        std::uint64_t count = 0;
        // A title and a text of one chunk came apart.
        for (; at < entries.size() && entries[at].term == rank && entries[at].chunk == chunk; ++at)
          count += entries[at].count;
        list.put_varint((chunk - next) * 2 + (count > 1 ? 1 : 0));
        if (count > 1) list.put_varint(count - 2);
        next = std::uint64_t{chunk} + 1;
        ++holding;
      }
      const Bytes packed = list.take();
      const std::string_view term = terms[rank].first;
      const std::size_t shared = shared_bytes(before, term);
      block.put_varint(shared);
      block.put_varint(term.size() - shared);
      block.put_bytes(bytes_of(term.substr(shared)));
      block.put_varint(holding);
      block.put_varint(packed.size());
      block.put(crc32c(packed));
      postings.put_bytes(packed);
      before = term;
    }
    const Bytes packed = block.take();
    heads.put(static_cast<std::uint32_t>(blocks.size()));
    heads.put(crc32c(packed));
    heads.put<std::uint64_t>(postings_at);
    heads.put_varint(terms[first].first.size());
    heads.put_bytes(bytes_of(terms[first].first));
    blocks.put_bytes(packed);
  }
  const Bytes packed_heads = heads.take();
  ByteWriter out;
  out.put_bytes(kMagic);
  out.put(kVersion);
  out.put(chunks);
  out.put(static_cast<std::uint32_t>(terms.size()));
  out.put(static_cast<std::uint32_t>((terms.size() + kBlockTerms - 1) / kBlockTerms));
  out.put<std::uint64_t>(postings.size());
  out.put(static_cast<std::uint32_t>(packed_heads.size()));
  out.put(crc32c(packed_heads));
  out.put_bytes(packed_heads);
  out.put_bytes(blocks.take());
  out.put_bytes(postings.take());
  return out.take();
}

std::size_t PostingsView::head_bytes(ByteView start, std::uint64_t size) {
  const std::uint64_t bytes = std::uint64_t{kHeaderBytes} + read_header(start, size).heads_bytes;
  check(bytes <= SIZE_MAX, "heads that no memory holds");
  return static_cast<std::size_t>(bytes);
}

PostingsView::PostingsView(ByteView head, std::uint64_t size) : size_(size) {
  const Header header = read_header(head, size);
  side_ = header.version == kOldVersion ? Side::kOldQuestion : Side::kQuestion;
  chunks_ = header.chunks;
  terms_ = header.terms;
  blocks_at_ = std::uint64_t{kHeaderBytes} + header.heads_bytes;
  postings_at_ = size - header.postings_bytes;
  ByteReader whole(head.subspan(kHeaderBytes), kWhat);
  const ByteView heads = whole.take(header.heads_bytes);
  check(crc32c(heads) == header.heads_checksum, "heads that do not match their checksum");
  ByteReader in(heads, kWhat);
  for (std::uint32_t i = 0; i < header.blocks; ++i) {
    Head one;
    one.at = in.get<std::uint32_t>();
    one.checksum = in.get<std::uint32_t>();
    one.postings_at = in.get<std::uint64_t>();
    const std::uint64_t length = in.get_varint();
    check(length <= in.remaining(), "a term that is longer than there is");
    one.first = text_of(in.take(static_cast<std::size_t>(length)));
    check(one.at <= postings_at_ - blocks_at_ && one.postings_at <= header.postings_bytes &&
              (heads_.empty() || (heads_.back().first < one.first && heads_.back().at <= one.at &&
                                  heads_.back().postings_at <= one.postings_at)),
          "blocks that do not fit together");
    heads_.push_back(std::move(one));
  }
}

std::optional<std::size_t> PostingsView::block_of(std::string_view term) const {
  const auto after = std::upper_bound(
      heads_.begin(), heads_.end(), term,
      [](std::string_view wanted, const Head& head) { return wanted < head.first; });
  if (after == heads_.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - heads_.begin()) - 1;
}

PostingsView::Range PostingsView::block(std::size_t number) const {
  const std::uint64_t begin = blocks_at_ + heads_[number].at;
  const std::uint64_t end =
      number + 1 < heads_.size() ? blocks_at_ + heads_[number + 1].at : postings_at_;
  return {begin, end - begin};
}

std::size_t PostingsView::terms_in(std::size_t block) const {
  return std::min<std::size_t>(kBlockTerms, terms_ - block * kBlockTerms);
}

std::optional<PostingsView::Place> PostingsView::find(std::size_t block, ByteView bytes,
                                                      std::string_view term) const {
  expect(block < heads_.size(), Reason::kInvalidArgument, "the words have no such block");
  check(crc32c(bytes) == heads_[block].checksum, "a block that does not match its checksum");
  ByteReader in(bytes, kWhat);
  std::uint64_t at = postings_at_ + heads_[block].postings_at;
  const std::uint64_t most =
      block + 1 < heads_.size() ? postings_at_ + heads_[block + 1].postings_at : size_;
  std::string found;
  for (std::size_t left = terms_in(block); left > 0; --left) {
    const std::uint64_t shared = in.get_varint(), length = in.get_varint();
    check(shared <= found.size() && length <= in.remaining(),
          "a term that is longer than there is");
    found.resize(static_cast<std::size_t>(shared));
    found += text_of(in.take(static_cast<std::size_t>(length)));
    Place place;
    place.chunks = in.get_varint();
    place.range = {at, in.get_varint()};
    place.checksum = in.get<std::uint32_t>();
    // A posting takes a byte at least: no more chunks are believed than there are bytes.
    check(place.range.length <= most - at && place.chunks <= place.range.length,
          "postings that do not fit together");
    at += place.range.length;
    if (found == term) return place;
    if (found > term) return std::nullopt;
  }
  check(in.remaining() == 0, "another number of terms than it says");
  return std::nullopt;
}

std::vector<PostingsView::Posting> PostingsView::read(const Place& place, ByteView bytes) const {
  check(bytes.size() == place.range.length && crc32c(bytes) == place.checksum,
        "postings that do not match their checksum");
  ByteReader in(bytes, kWhat);
  std::vector<Posting> postings(static_cast<std::size_t>(place.chunks));
  std::uint64_t next = 0;
  for (Posting& posting : postings) {
    const std::uint64_t value = in.get_varint();
    check(value / 2 < chunks_ && next + value / 2 < chunks_, "a chunk that is not there");
    posting.chunk = static_cast<std::uint32_t>(next + value / 2);
    const std::uint64_t more = value % 2 == 1 ? in.get_varint() : 0;
    check(more < UINT32_MAX - 2, "a term more often than there can be");
    posting.count = static_cast<std::uint32_t>(value % 2 == 1 ? more + 2 : 1);
    next = std::uint64_t{posting.chunk} + 1;
  }
  check(in.remaining() == 0, "postings that are longer than they say");
  return postings;
}

}  // namespace gossamer
