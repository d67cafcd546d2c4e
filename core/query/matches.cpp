#include "query/matches.h"

#include <bit>

namespace gossamer {

Matches::Matches(const Characters& text, const LexicalQuery& words) {
  Numbers different, terms;
  std::size_t place = 0;
  for (const auto& [start, end] : words.find_in(text.text())) {
    const std::string_view word = text.text().substr(start, end - start);
    auto known = different.find(word);
    if (known == different.end()) {
      known = different.emplace(word, static_cast<std::int64_t>(terms_.size())).first;
      add_word(word, terms);
    }
    const std::size_t first = text.find(start, place);
    place = text.find(end, first);
    all_.push_back({first, place, static_cast<std::size_t>(known->second)});
  }
  weigh_terms(terms);
}

void Matches::add_word(std::string_view word, Numbers& numbers) {
  std::vector<std::size_t>& terms = terms_.emplace_back();
  const LexicalQuery asked(word);
  for (const std::string& term : asked.terms()) {
    const auto next = static_cast<std::int64_t>(numbers.size());
    const auto number = static_cast<std::size_t>(numbers.emplace(term, next).first->second);
    terms.push_back(number);
  }
}

// Numbers the terms in their order, and weighs them: one that stands everywhere in the text tells
// no lines apart.
void Matches::weigh_terms(const Numbers& numbers) {
  std::vector<std::size_t> ranks(numbers.size());
  std::size_t rank = 0;
  for (const auto& [term, number] : numbers) ranks[static_cast<std::size_t>(number)] = rank++;
  for (std::vector<std::size_t>& terms : terms_)
    for (std::size_t& term : terms) term = ranks[term];
  weights_.assign(rank, 0);
  for (const Match& match : all_)
    for (const std::size_t term : terms_of(match)) weights_[term] += 1;
  for (double& weight : weights_) weight = 1 + 1 / weight;
}

void Score::add(const Unit& unit) {
  for (const Match& match : matches_.of(unit)) {
    for (const std::size_t term : matches_.terms_of(match)) {
      if (times_[term]++ == 0) terms_.insert(static_cast<NodeId>(term));
      ++total_;
    }
  }
}

void Score::remove(const Unit& unit) {
  for (const Match& match : matches_.of(unit)) {
    for (const std::size_t term : matches_.terms_of(match)) {
      if (--times_[term] == 0) terms_.erase(static_cast<NodeId>(term));
      --total_;
    }
  }
}

double Score::value() const {
  double sum = 0;
  std::size_t first = 0;
  // In the order of the terms, so that equal windows score alike.
  for (std::uint64_t word : terms_.words()) {
    for (; word != 0; word &= word - 1)
      sum += matches_.weights()[first + static_cast<std::size_t>(std::countr_zero(word))];
    first += 64;
  }
  return sum + 0.05 * static_cast<double>(total_);
}

}  // namespace gossamer
