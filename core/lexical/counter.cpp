#include "lexical/counter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sort.h"
#include "lexical/byte_masks.h"
#include "lexical/hash.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

constexpr std::size_t kLetters = 32;
constexpr std::size_t kPrefixes = kLetters * kLetters * kLetters;

// The same for both cases of a letter; digits and signs share the numbers of letters.
constexpr std::size_t letter_of(char byte) { return static_cast<std::uint8_t>(byte) % kLetters; }

constexpr std::size_t prefix_of(std::size_t first, std::size_t second, std::size_t third) {
  return (first * kLetters + second) * kLetters + third;
}

constexpr std::array<bool, 256> make_run_bytes() {
  std::array<bool, 256> is_run{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    is_run[byte] = is_letter || (byte >= '0' && byte <= '9') || byte == '_' || byte >= 0x80;
  }
  return is_run;
}
constexpr std::array<bool, 256> kRunBytes = make_run_bytes();

bool is_run_byte(char byte) { return kRunBytes[static_cast<std::uint8_t>(byte)]; }

ByteMasks masks_at(std::string_view text, std::size_t at) {
  if (text.size() - at >= kMaskBytes) return masks_of(text.data() + at);
  std::array<char, kMaskBytes> padded{};
  std::memcpy(padded.data(), text.data() + at, text.size() - at);
  return masks_of(padded.data());
}

}  // namespace

TermCounter::TermCounter(const LexicalQuery& query)
    : query_(query),
      counts_(query.terms().size(), 0),
      prefixes_(kPrefixes / 64, 0),
      memories_(kRemembered) {
  for (const std::string& term : query.terms()) expect_prefix(term);
}

// A word can only count for a term if its first bytes are among those marked here.
void TermCounter::expect_prefix(std::string_view term) {
  const auto mark = [&](std::size_t first, std::size_t second, std::size_t third) {
    const std::size_t prefix = prefix_of(first, second, third);
    prefixes_[prefix / 64] |= std::uint64_t{1} << prefix % 64;
  };
  const auto mark_all = [&](std::size_t first, std::size_t second) {
    for (std::size_t third = 0; third < kLetters; ++third) mark(first, second, third);
  };
  // Only words with bytes beyond ASCII count for these, and all such words are looked at.
  if (static_cast<std::uint8_t>(term[0]) >= 0x80) return;

  const std::size_t first = letter_of(term[0]);
  mark_all(first, letter_of('_'));  // x_axis is also xaxis
  if (term.size() == 1) {
    for (std::size_t second = 0; second < kLetters; ++second) mark_all(first, second);
    return;
  }
  const std::size_t second = letter_of(term[1]);
  mark(first, second, letter_of('_'));
  // The last letter of a stem may be another one in the word: "say" gives "sai".
  if (term.size() <= 3) mark_all(first, second);
  if (term.size() == 2 && term[1] == 'i') mark_all(first, letter_of('y'));
  if (term.size() > 3) mark(first, second, letter_of(term[2]));
}

bool TermCounter::may_begin_term(const char* at, const char* end) const {
  const auto letter = [&](std::ptrdiff_t i) { return i < end - at ? letter_of(at[i]) : 0; };
  const std::size_t prefix = prefix_of(letter_of(*at), letter(1), letter(2));
  return prefixes_[prefix / 64] >> prefix % 64 & 1;
}

void TermCounter::add(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::size_t done = 0;          // where the last run that was counted ends
  std::uint64_t last_word = 0;   // whether the byte before the block is of a word,
  std::uint64_t last_digit = 0;  // or a digit
  for (std::size_t base = 0; base < text.size(); base += kMaskBytes) {
    const ByteMasks masks = masks_at(text, base);
    // Where words, and parts of words, may begin.
    const std::uint64_t after_word = masks.word << 1 | last_word;
    const std::uint64_t after_digit = masks.digit << 1 | last_digit;
    std::uint64_t starts =
        (masks.word & (~after_word | (masks.digit ^ after_digit))) | masks.upper | masks.high;
    last_word = masks.word >> 63;
    last_digit = masks.digit >> 63;
    while (starts != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(starts));
      starts &= starts - 1;
      const std::size_t at = base + bit;
      if (at < done) continue;
      if (!(masks.high >> bit & 1) && !may_begin_term(text.data() + at, end)) continue;
      done = add_run_at(text, at);
    }
    // A long run (a page of Chinese) has been counted as a whole. It is followed by a byte that
    // is in no word, so nothing of the blocks it covers matters any more.
    if (done >= base + 2 * kMaskBytes) base = done / kMaskBytes * kMaskBytes - kMaskBytes;
  }
}

std::size_t TermCounter::add_run_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_run_byte(text[begin - 1])) --begin;
  std::size_t end = at + 1;
  while (end < text.size() && is_run_byte(text[end])) ++end;
  add_run(text.substr(begin, end - begin));
  return end;
}

void TermCounter::add_run(std::string_view run) {
  if (run.size() > Memory{}.bytes.size()) {
    visit_terms(run, Side::kText, [&](const Term& term) {
      if (const auto id = query_.find(term.form)) count_one(*id);
    });
    return;
  }
  Memory& memory = memories_[hash_of(run) % kRemembered];
  if (memory.length != run.size() || std::memcmp(memory.bytes.data(), run.data(), run.size()) != 0)
    return add_and_remember(run, memory);
  for (std::size_t i = 0; i < memory.matches; ++i) count_one(memory.terms[i]);
}

void TermCounter::add_and_remember(std::string_view run, Memory& memory) {
  std::size_t matches = 0;
  visit_terms(run, Side::kText, [&](const Term& term) {
    const auto id = query_.find(term.form);
    if (!id) return;
    if (matches < memory.terms.size()) memory.terms[matches] = *id;
    ++matches;
    count_one(*id);
  });
  memory.length = 0;  // nothing, if it matched more often than can be remembered
  if (matches > memory.terms.size()) return;
  memory.length = static_cast<std::uint8_t>(run.size());
  memory.matches = static_cast<std::uint8_t>(matches);
  std::copy(run.begin(), run.end(), memory.bytes.begin());
}

std::vector<TermId>& TermCounter::found() {
  sort_values(found_.begin(), found_.end());
  return found_;
}

void TermCounter::clear() {
  for (const TermId term : found_) counts_[term] = 0;
  found_.clear();
}

}  // namespace gossamer
