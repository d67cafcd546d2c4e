#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gossamer {

enum class QueryMode { kHybrid, kSemantic, kLexical };

// Where the words of chunks are counted.
enum class WordSource {
  kTexts,     // in a pass over all texts
  kPostings,  // in the postings of the collection
  kHost,      // by the host, which ranks
  kNone,      // nowhere: that would cost too much
};

// What is asked.
struct Query {
  std::string question;
  std::size_t k = 5;
  QueryMode mode = QueryMode::kHybrid;
  double recall = 0.90;
  std::optional<std::string> filter;    // JSON, see Filter::read
  std::vector<std::uint64_t> excluded;  // chunks that are no answers
  WordSource words = WordSource::kTexts;
  std::optional<std::string> highlight;  // words to mark in hits, where they are not the question's
  bool shows_whole = false;              // snippets are whole chunks
  bool reads_rows = true;  // vectors that the index keeps outside; else all are supplied

  // Reads a JSON object of these fields by name; kInvalidArgument for anything else.
  static Query read(std::string_view text);
};

}  // namespace gossamer
