#include "lexical/counter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/sort.h"
#include "lexical/byte_masks.h"
#include "lexical/hash.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

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

// Whether two words stand side by side, with no word and not too much between them.
bool is_gap(std::string_view between) {
  constexpr std::size_t kLongestGap = 64;
  return between.size() <= kLongestGap && std::none_of(between.begin(), between.end(), is_run_byte);
}

ByteMasks masks_at(std::string_view text, std::size_t at) {
  if (text.size() - at >= kMaskBytes) return masks_of(text.data() + at);
  std::array<char, kMaskBytes> padded{};
  std::memcpy(padded.data(), text.data() + at, text.size() - at);
  return masks_of(padded.data());
}

// Where terms may begin in a block; everywhere, at the end of a text.
std::uint64_t find_candidates(const TermPrefixes& prefixes, std::string_view text, std::size_t at) {
  static_assert(TermPrefixes::kBlock == kMaskBytes);
  if (text.size() - at < kMaskBytes + TermPrefixes::kMore) return ~std::uint64_t{0};
  return prefixes.find(text.data() + at);
}

}  // namespace

TermCounter::TermCounter(const LexicalQuery& query)
    : query_(query), counts_(query.size(), 0), memories_(kRemembered) {
  for (const std::string& term : query.terms()) prefixes_.expect(term);
}

void TermCounter::add(std::string_view text) {
  const char* const end = text.data() + text.size();
  last_ = LexicalQuery::kNoTerm;
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
    starts &= find_candidates(prefixes_, text, base);
    last_word = masks.word >> 63;
    last_digit = masks.digit >> 63;
    while (starts != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(starts));
      starts &= starts - 1;
      const std::size_t at = base + bit;
      if (at < done) continue;
      if (!(masks.high >> bit & 1) && !prefixes_.may_begin(text.data() + at, end)) continue;
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
  const Run run = add_run(text.substr(begin, end - begin));
  const TermId pair = pair_of(last_, run.first);
  if (pair != LexicalQuery::kNoTerm && is_gap(text.substr(last_end_, begin - last_end_)))
    count_one(pair);
  last_ = run.last;
  last_end_ = end;
  return end;
}

TermCounter::Run TermCounter::add_run(std::string_view run) {
  if (run.size() > Memory{}.bytes.size()) return read_run(run);
  Memory& memory = memories_[hash_of(run) % kRemembered];
  if (memory.length == run.size() &&
      std::memcmp(memory.bytes.data(), run.data(), run.size()) == 0) {
    for (std::size_t i = 0; i < memory.run.matches; ++i) count_one(memory.run.terms[i]);
    return memory.run;
  }
  memory.run = read_run(run);
  // Nothing, if it matched more often than can be remembered.
  const bool is_known = memory.run.matches <= memory.run.terms.size();
  memory.length = is_known ? static_cast<std::uint8_t>(run.size()) : 0;
  std::copy(run.begin(), run.end(), memory.bytes.begin());
  return memory.run;
}

TermCounter::Run TermCounter::read_run(std::string_view text) {
  Run run;
  const auto count = [&](TermId id) {
    if (run.matches < run.terms.size()) run.terms[run.matches] = id;
    if (run.matches <= run.terms.size()) ++run.matches;
    count_one(id);
  };
  bool is_first = true;
  visit_terms(text, Side::kText, [&](const Term& term) {
    const TermId id = query_.find(term.form).value_or(LexicalQuery::kNoTerm);
    if (id != LexicalQuery::kNoTerm) count(id);
    if (term.kind == Term::kPart) return;
    const TermId word = term.kind == Term::kWord ? id : LexicalQuery::kNoTerm;
    if (std::exchange(is_first, false))
      run.first = word;
    else if (const TermId pair = pair_of(run.last, word); pair != LexicalQuery::kNoTerm)
      count(pair);
    run.last = word;
  });
  return run;
}

TermId TermCounter::pair_of(TermId first, TermId second) const {
  if (first == LexicalQuery::kNoTerm || second == LexicalQuery::kNoTerm)
    return LexicalQuery::kNoTerm;
  return query_.find_pair({first, second});
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
