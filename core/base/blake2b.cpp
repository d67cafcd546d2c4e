#include "base/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gossamer {
namespace {

constexpr std::size_t kTextDigestBytes = 16;
constexpr std::array<std::uint64_t, 8> kStart = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
// Which words of the block each round takes, one to a digit.
constexpr std::uint64_t kRounds[] = {0x0123456789abcdef, 0xea489fd61c02b753, 0xb8c052fdae367194,
                                     0x7931dcbe265a40f8, 0x905724afe1bc683d, 0x2c6a0b834d75fe19,
                                     0xc51fed4a0763928b, 0xdb7ec13950f4862a, 0x6fe9b308c2d714a5,
                                     0xa2847615fb9e3cd0, 0x0123456789abcdef, 0xea489fd61c02b753};

// Mixes two words of the block into four of the state.
void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d,
         const std::uint64_t (&words)[2]) {
  constexpr int kTurns[2][2] = {{32, 24}, {16, 63}};
  for (int half = 0; half < 2; ++half) {
    a += b + words[half];
    d = std::rotr(d ^ a, kTurns[half][0]);
    c += d;
    b = std::rotr(b ^ c, kTurns[half][1]);
  }
}

}  // namespace

Blake2b::Blake2b(std::size_t digest_bytes) : state_(kStart), digest_bytes_(digest_bytes) {
  state_[0] ^= 0x01010000 ^ digest_bytes;
}

void Blake2b::update(ByteView bytes) {
  while (!bytes.empty()) {
    // The last block is compressed by finish(), so a full one waits until more comes.
    if (filled_ == sizeof(block_)) compress(false);
    const std::size_t size = std::min(bytes.size(), sizeof(block_) - filled_);
    std::memcpy(reinterpret_cast<std::uint8_t*>(block_.data()) + filled_, bytes.data(), size);
    filled_ += size;
    total_ += size;
    bytes = bytes.subspan(size);
  }
}

ByteView Blake2b::finish() {
  compress(true);
  return {reinterpret_cast<const std::uint8_t*>(state_.data()), digest_bytes_};
}

// The rest of the block is zeros: only the last one may have a rest.
void Blake2b::compress(bool is_last) {
  std::array<std::uint64_t, 16> v;
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(kStart.begin(), kStart.end(), v.begin() + 8);
  v[12] ^= total_;
  if (is_last) v[14] = ~v[14];
  for (const std::uint64_t digits : kRounds) {
    // The four columns, then the four diagonals.
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t step = i / 4;
      const std::size_t shift = 60 - 8 * i;
      mix(v[i % 4], v[4 + (i + step) % 4], v[8 + (i + 2 * step) % 4], v[12 + (i + 3 * step) % 4],
          {block_[digits >> shift & 15], block_[digits >> (shift - 4) & 15]});
    }
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
  block_ = {};
  filled_ = 0;
}

std::uint32_t check_of(std::string_view embedded) {
  Blake2b hash(kTextDigestBytes);
  hash.update({reinterpret_cast<const std::uint8_t*>(embedded.data()), embedded.size()});
  std::uint32_t check;
  std::memcpy(&check, hash.finish().data(), sizeof(check));
  return check;
}

}  // namespace gossamer
