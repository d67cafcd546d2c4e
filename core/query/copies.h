#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

// Tells which passages say the same: word for word, or so nearly that showing both would show one
// thing twice. A copy has no word that the other one has not: a name or a number is what tells one
// letter, bill or entry of a log from the next.
class CopyFinder {
 public:
  // Gives the passage, of those that were added before, that says the same as this one; its own id
  // where none does, also where it was added before.
  std::uint64_t add(std::uint64_t id, std::string_view text);
  // Makes a passage that was added a copy of the first of these, added too, that says all that is
  // shown of it; false where none does. So one text that was cut, or written, in two ways is a hit.
  bool fold(std::uint64_t id, std::string_view shown, std::span<const std::uint64_t> others);
  // Those that were found to say the same as this one, in the order in which they came.
  std::span<const std::uint64_t> copies_of(std::uint64_t id) const;
  std::size_t count() const { return count_; }

 private:
  // What tells at once that most passages have words of their own: a bit for each of its words,
  // by a number that others may share.
  struct Outline {
    std::array<std::uint64_t, 32> bits{};
    std::size_t words = 0;

    explicit Outline(std::string_view text);
  };
  struct Words {
    std::vector<std::uint64_t> runs;   // of three words, rising
    std::vector<std::uint32_t> words;  // rising
  };
  struct Said {
    std::uint64_t id;
    std::string text;
    Outline outline;
    std::optional<Words> words = std::nullopt;  // once they are asked for
  };

  static bool may_say(const Outline& copy, const Outline& other);
  bool says_same(Said& copy, Said& other);
  bool says_all(Said& copy, Said& other, std::size_t least);
  const Words& words_of(Said& said);
  std::uint32_t number_of(std::string_view word);

  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // of words, as they are met
  std::vector<Said> said_;
  std::map<std::uint64_t, std::uint64_t> first_;  // by id: the passage that it is a copy of
  std::map<std::uint64_t, std::vector<std::uint64_t>> copies_;
  std::size_t count_ = 0;
};

}  // namespace gossamer
