#include "query/copies.h"

#include <algorithm>

#include "base/sort.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

// Of the shorter passage's runs of three words, the share that the other one has too: one word in
// thirty may be another one, and none in a short note.
constexpr double kLeastShared = 0.9;
// A passage that says more than the one before it is no copy; one that says less needs some words,
// since a heading stands in many texts.
constexpr double kLeastLength = 0.7;
constexpr std::size_t kFewRuns = 8;
// A longer text is no passage that any model takes; it is nobody's copy.
constexpr std::size_t kMostWords = 4096;
// So that three of them fit into one number; later words count as one.
constexpr std::uint32_t kMostNumbers = (1u << 21) - 1;

bool has_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char one) { return one >= '0' && one <= '9'; });
}

template <class Value>
void sort_once(std::vector<Value>& values) {
  sort_values(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <class Value>
bool holds_all(const std::vector<Value>& all, const std::vector<Value>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
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

CopyFinder::CopyFinder(std::string_view question) {
  visit_terms(question, Side::kQuestion, [&](const Term& term) { number_of(term.form); });
  asked_ = static_cast<std::uint32_t>(words_.size());
}

// From 1 on: 0 stands where there is no word.
std::uint32_t CopyFinder::number_of(std::string_view word) {
  if (const auto known = words_.find(word); known != words_.end()) return known->second;
  if (words_.size() + 1 >= kMostNumbers) return kMostNumbers;
  const auto number = static_cast<std::uint32_t>(words_.size() + 1);
  words_.emplace(word, number);
  return number;
}

CopyFinder::Said CopyFinder::read(std::uint64_t id, std::string_view text) {
  Said said{id, {}, {}, {}};
  std::uint64_t run = 0;
  std::size_t words = 0;
  visit_terms(text, Side::kQuestion, [&](const Term& term) {
    if (term.kind == Term::kPart || ++words > kMostWords) return;
    const std::uint32_t number = number_of(term.form);
    run = (run << 21 | number) & ((std::uint64_t{1} << 63) - 1);
    if (words >= 3) said.runs.push_back(run);
    if (has_digit(term.form)) said.numbers.push_back(number);
    if (number <= asked_) said.asked.push_back(number);
  });
  if (words < 3 && run > 0) said.runs.push_back(run);
  if (words > kMostWords) said.runs.clear();
  sort_once(said.runs);
  sort_once(said.numbers);
  sort_once(said.asked);
  return said;
}

std::uint64_t CopyFinder::add(std::uint64_t id, std::string_view text) {
  if (const auto known = first_.find(id); known != first_.end()) return known->second;
  Said said = read(id, text);
  for (const Said& other : said_) {
    const bool is_shorter = said.runs.size() < other.runs.size();
    const Said& less = is_shorter ? said : other;
    const Said& more = is_shorter ? other : said;
    if (!may_be_copy(said.runs.size(), other.runs.size()) || !holds_all(other.asked, said.asked) ||
        !holds_all(more.numbers, less.numbers) ||
        static_cast<double>(count_shared(less.runs, more.runs)) <
            kLeastShared * static_cast<double>(less.runs.size()))
      continue;
    first_[id] = other.id;
    copies_[other.id].push_back(id);
    ++count_;
    return other.id;
  }
  first_[id] = id;
  said_.push_back(std::move(said));
  return id;
}

std::span<const std::uint64_t> CopyFinder::copies_of(std::uint64_t id) const {
  const auto found = copies_.find(id);
  if (found == copies_.end()) return {};
  return found->second;
}

}  // namespace gossamer
