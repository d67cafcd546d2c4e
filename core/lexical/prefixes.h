#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gossamer {

// How the words begin that may count for the terms of a query. Nearly all words of a text begin
// otherwise, so this decides how fast texts are read.
class TermPrefixes {
 public:
  TermPrefixes();

  // Lets words through that may count for a term.
  void expect(std::string_view term);
  // Whether the word that begins here may count. Words with bytes beyond ASCII are not asked about.
  bool may_begin(const char* at, const char* end) const;

  static constexpr std::size_t kBlock = 64;
  // Bytes behind a block that find() looks at, too.
  static constexpr std::size_t kMore = 2;
  // A bit for each of 64 bytes, the first the lowest: whether it is beyond ASCII, or a word that
  // begins there may count. All are set where the CPU has no quick way to tell.
  std::uint64_t find(const char* block) const { return find_(*this, block); }

 private:
  static constexpr std::size_t kLetters = 32;
  using Finder = std::uint64_t (*)(const TermPrefixes&, const char*);
  // For each letter, in which buckets it may stand; a bucket holds some of the terms.
  using Buckets = std::array<std::uint8_t, kLetters>;

  static Finder choose_finder();
  static std::uint64_t find_avx2(const TermPrefixes& prefixes, const char* block);

  std::vector<std::uint64_t> bits_;  // one for each first three letters, five bits a letter
  std::array<Buckets, 3> buckets_{};
  std::size_t terms_ = 0;
  Finder find_;
};

}  // namespace gossamer
