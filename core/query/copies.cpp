#include "query/copies.h"

#include <algorithm>
#include <bit>

#include "base/append.h"
#include "base/sort.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

// Of the shorter passage's runs of three words, the share that the other one has too, in its order.
constexpr double kLeastShared = 0.9;
// A passage that says more than the one before it is no copy; one that says less needs some words,
// since a heading stands in many texts.
constexpr double kLeastLength = 0.7;
constexpr std::size_t kFewRuns = 8;
// A longer text is no passage that any model takes; it is nobody's copy.
constexpr std::size_t kMostWords = 4096;
// So that three of them fit into one number; what has further words is nobody's copy.
constexpr std::uint32_t kMostNumbers = (1u << 21) - 1;
// Of a copy's words, one in so many may be written otherwise: "key" and "keys" are one word here.
constexpr std::size_t kOtherForms = 8;

template <class Value>
void sort_once(std::vector<Value>& values) {
  sort_values(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::size_t count_shared(const std::vector<std::uint64_t>& one,
                         const std::vector<std::uint64_t>& other) {
  std::size_t count = 0;
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
    if (*a == *b)
      ++count, ++a, ++b;
    else if (*a < *b)
      ++a;
    else
      ++b;
  }
  return count;
}

// Whether a passage of so many runs may be a copy of one of `other` runs.
bool may_be_copy(std::size_t runs, std::size_t other) {
  if (runs == 0 || other == 0) return false;
  const double share = static_cast<double>(runs) / static_cast<double>(other);
  return share <= 1 / kLeastLength && (share >= kLeastLength || runs >= kFewRuns);
}

}  // namespace

// Words of ASCII alone: others may be written in several ways.
CopyFinder::Outline::Outline(std::string_view text) {
  std::uint32_t hash = 0;
  bool is_word = false, is_plain = true;
  const auto end_word = [&] {
    if (is_word && is_plain) {
      bits[hash >> 26 & 31] |= std::uint64_t{1} << (hash >> 20 & 63);
      ++words;
    }
    hash = 0;
    is_word = false;
    is_plain = true;
  };
  for (const char one : text) {
    const auto byte = static_cast<unsigned char>(one);
    const auto letter = static_cast<unsigned char>(byte | 0x20);
    if (byte >= 128) {
      is_plain = false;
    } else if ((letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9')) {
      hash = (hash ^ letter) * 0x9E3779B1u;
      is_word = true;
    } else {
      end_word();
    }
  }
  end_word();
}

bool CopyFinder::may_say(const Outline& copy, const Outline& other) {
  std::size_t missing = 0;
  for (std::size_t i = 0; i < copy.bits.size(); ++i)
    missing += static_cast<std::size_t>(std::popcount(copy.bits[i] & ~other.bits[i]));
  return missing <= 1 + copy.words / kOtherForms;
}

bool CopyFinder::says_same(Said& copy, Said& other) {
  if (copy.text == other.text) return words_of(copy).runs.size() > 0;
  if (!may_say(copy.outline, other.outline)) return false;
  const std::size_t these = words_of(copy).runs.size(), those = words_of(other).runs.size();
  return may_be_copy(these, those) && says_all(copy, other, std::min(these, those));
}

// Whether it has no word that the other one has not, and shares most of so many runs.
bool CopyFinder::says_all(Said& copy, Said& other, std::size_t runs) {
  const Words &these = words_of(copy), &those = words_of(other);
  return std::ranges::includes(those.words, these.words) &&
         static_cast<double>(count_shared(these.runs, those.runs)) >=
             kLeastShared * static_cast<double>(runs);
}

// From 1 on: 0 stands where there is no word.
std::uint32_t CopyFinder::number_of(std::string_view word) {
  if (const auto known = numbers_.find(word); known != numbers_.end()) return known->second;
  if (numbers_.size() + 1 >= kMostNumbers) return kMostNumbers;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(word, number);
  return number;
}

const CopyFinder::Words& CopyFinder::words_of(Said& said) {
  if (said.words) return *said.words;
  Words& found = said.words.emplace();
  std::uint64_t run = 0;
  std::size_t words = 0;
  visit_terms(said.text, Side::kQuestion, [&](const Term& term) {
    if (term.kind == Term::kPart || ++words > kMostWords) return;
    const std::uint32_t number = number_of(term.form);
    if (number == kMostNumbers) words = kMostWords + 1;
    run = (run << 21 | number) & ((std::uint64_t{1} << 63) - 1);
    if (words >= 3) found.runs.push_back(run);
    found.words.push_back(number);
  });
  if (words < 3 && run > 0) found.runs.push_back(run);
  if (words > kMostWords) found.runs.clear();
  sort_once(found.runs);
  sort_once(found.words);
  return found;
}

std::uint64_t CopyFinder::add(std::uint64_t id, std::string_view text) {
  if (const auto known = first_.find(id); known != first_.end()) return known->second;
  Said said{id, std::string(text), Outline(text)};
  for (Said& other : said_) {
    if (!says_same(said, other)) continue;
    first_[id] = other.id;
    copies_[other.id].push_back(id);
    ++count_;
    return other.id;
  }
  first_[id] = id;
  said_.push_back(std::move(said));
  return id;
}

bool CopyFinder::fold(std::uint64_t id, std::string_view shown,
                      std::span<const std::uint64_t> others) {
  Said part{id, std::string(shown), Outline(shown)};
  const auto says_it = [&](std::uint64_t one) {
    const auto other = std::ranges::find(said_, one, &Said::id);
    if (other == said_.end() || !may_say(part.outline, other->outline)) return false;
    const std::size_t runs = words_of(part).runs.size();
    return runs >= kFewRuns && says_all(part, *other, runs);
  };
  const auto first = std::ranges::find_if(others, says_it);
  if (first == others.end()) return false;
  first_[id] = *first;
  std::vector<std::uint64_t>& copies = copies_[*first];
  copies.push_back(id);
  append(copies, copies_[id]);
  copies_.erase(id);
  ++count_;
  // What is like it is compared with what is shown.
  std::erase_if(said_, [id](const Said& said) { return said.id == id; });
  return true;
}

std::span<const std::uint64_t> CopyFinder::copies_of(std::uint64_t id) const {
  const auto found = copies_.find(id);
  if (found == copies_.end()) return {};
  return found->second;
}

}  // namespace gossamer
