#include "lexical/prefixes.h"

#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gossamer {
namespace {

constexpr std::size_t kLetterCount = 32;
constexpr std::size_t kPrefixes = kLetterCount * kLetterCount * kLetterCount;
constexpr std::size_t kTermBuckets = 7;
// Of what holds for all terms alike, whose third letter may be any: x_axis is also xaxis.
constexpr std::uint8_t kUnderscoreBucket = 1 << kTermBuckets;

// The same for both cases of a letter; digits and signs share the numbers of letters.
constexpr std::size_t letter_of(std::uint32_t byte) { return byte % kLetterCount; }
constexpr std::size_t kUnderscore = letter_of('_');

constexpr std::size_t prefix_of(std::size_t first, std::size_t second, std::size_t third) {
  return (first * kLetterCount + second) * kLetterCount + third;
}

}  // namespace

TermPrefixes::TermPrefixes() : bits_(kPrefixes / 64, 0), find_(choose_finder()) {}

void TermPrefixes::expect(std::string_view term) {
  // Only words with bytes beyond ASCII count for these, and all such words are looked at.
  if (static_cast<std::uint8_t>(term[0]) >= 0x80) return;

  const auto bucket = static_cast<std::uint8_t>(1 << terms_++ % kTermBuckets);
  const auto mark = [&](std::size_t first, std::size_t second, std::size_t third,
                        std::uint8_t into) {
    const std::size_t prefix = prefix_of(first, second, third);
    bits_[prefix / 64] |= std::uint64_t{1} << prefix % 64;
    buckets_[0][first] |= into;
    buckets_[1][second] |= into;
    buckets_[2][third] |= into;
  };
  const auto mark_all = [&](std::size_t first, std::size_t second, std::uint8_t into) {
    for (std::size_t third = 0; third < kLetters; ++third) mark(first, second, third, into);
  };

  const auto letter = [&](std::size_t i) { return letter_of(static_cast<std::uint8_t>(term[i])); };
  mark_all(letter(0), kUnderscore, kUnderscoreBucket);
  if (term.size() == 1) {
    for (std::size_t second = 0; second < kLetters; ++second) mark_all(letter(0), second, bucket);
    return;
  }
  mark(letter(0), letter(1), kUnderscore, bucket);
  // The last letter of a stem may be another one in the word: "say" gives "sai".
  if (term.size() <= 3) mark_all(letter(0), letter(1), bucket);
  if (term.size() == 2 && term[1] == 'i') mark_all(letter(0), letter_of('y'), bucket);
  if (term.size() > 3) mark(letter(0), letter(1), letter(2), bucket);
}

bool TermPrefixes::may_begin(const char* at, const char* end) const {
  std::uint32_t bytes = 0;
  if (end - at >= 4) [[likely]]
    std::memcpy(&bytes, at, 4);
  else
    std::memcpy(&bytes, at, static_cast<std::size_t>(end - at));
  const std::size_t prefix =
      prefix_of(letter_of(bytes), letter_of(bytes >> 8), letter_of(bytes >> 16));
  return bits_[prefix / 64] >> prefix % 64 & 1;
}

#if defined(__x86_64__)

TermPrefixes::Finder TermPrefixes::choose_finder() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) return find_avx2;
  return [](const TermPrefixes&, const char*) { return ~std::uint64_t{0}; };
}

// The buckets in which all three letters from each byte on may stand, 32 bytes at a time: a shuffle
// looks up 16 letters, bit 4 of a byte says which half of them it is of.
[[gnu::target("avx2")]] std::uint64_t TermPrefixes::find_avx2(const TermPrefixes& prefixes,
                                                              const char* block) {
  constexpr std::size_t kRegister = 32;
  std::uint64_t found = 0;
  for (std::size_t first = 0; first < kBlock; first += kRegister) {
    __m256i buckets = _mm256_set1_epi8(-1);
    for (std::size_t i = 0; i < prefixes.buckets_.size(); ++i) {
      const auto* table = reinterpret_cast<const __m128i*>(prefixes.buckets_[i].data());
      const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(table));
      const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(table + 1));
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + first + i));
      const __m256i places = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
      buckets = _mm256_and_si256(buckets, _mm256_blendv_epi8(_mm256_shuffle_epi8(low, places),
                                                             _mm256_shuffle_epi8(high, places),
                                                             _mm256_slli_epi16(bytes, 3)));
    }
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + first));
    const __m256i is_none = _mm256_andnot_si256(
        bytes, _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256()));  // its sign: beyond ASCII
    const auto none = static_cast<std::uint32_t>(_mm256_movemask_epi8(is_none));
    found |= std::uint64_t{~none} << first;
  }
  return found;
}

#else

TermPrefixes::Finder TermPrefixes::choose_finder() {
  return [](const TermPrefixes&, const char*) { return ~std::uint64_t{0}; };
}

#endif

}  // namespace gossamer
