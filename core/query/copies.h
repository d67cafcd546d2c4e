#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

// Tells which passages say the same: word for word, or so nearly that showing both would show one
// thing twice. A copy has no number and no word of the question that the other has not: those are
// what tells one letter, bill or entry of a log from the next.
class CopyFinder {
 public:
  explicit CopyFinder(std::string_view question);

  // Gives the passage, of those that were added before, that says the same as this one; its own id
  // where none does, also where it was added before.
  std::uint64_t add(std::uint64_t id, std::string_view text);
  // Those that were found to say the same as this one, in the order in which they came.
  std::span<const std::uint64_t> copies_of(std::uint64_t id) const;
  std::size_t count() const { return count_; }

 private:
  struct Said {
    std::uint64_t id;
    std::vector<std::uint64_t> runs;     // of three words, rising
    std::vector<std::uint32_t> numbers;  // words with digits, rising
    std::vector<std::uint32_t> asked;    // words of the question, rising
  };

  std::uint32_t number_of(std::string_view word);
  Said read(std::uint64_t id, std::string_view text);

  std::map<std::string, std::uint32_t, std::less<>> words_;  // numbered as they are met
  std::uint32_t asked_ = 0;                                  // words of the question come first
  std::vector<Said> said_;
  std::map<std::uint64_t, std::uint64_t> first_;  // by id: the passage that it is a copy of
  std::map<std::uint64_t, std::vector<std::uint64_t>> copies_;
  std::size_t count_ = 0;
};

}  // namespace gossamer
