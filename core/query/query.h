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
  bool is_plain = false;  // quotes and signs of the question are text
  std::size_t k = 5;
  QueryMode mode = QueryMode::kHybrid;
  // Share of the truly nearest chunks to find. Where the best of both rankings are ranked again,
  // codes alone choose those by meaning, unless it is given.
  std::optional<double> recall;
  bool reranks = true;                  // the best by what they say, unless by meaning alone
  bool rescores = false;                // the best at last by a model of the host, in any mode
  std::optional<std::string> filter;    // JSON, see Filter::read
  std::vector<std::uint64_t> excluded;  // chunks that are no answers
  WordSource words = WordSource::kTexts;
  std::optional<std::string> highlight;  // words to mark in hits, where they are not the question's
  bool shows_whole = false;              // snippets are whole chunks
  bool is_distinct = false;              // passages that say the same are one hit
  // Hits of one document, unless nothing else is among the best; 0 for any number.
  std::size_t per_file = 0;
  double min_score = 0;    // the least probability of a hit
  bool reads_rows = true;  // vectors that the index keeps outside; else all are supplied

  static constexpr double kUsualRecall = 0.90;
  // Whether the best are ranked again by what they say.
  bool reranks_best() const { return reranks && mode != QueryMode::kSemantic; }
  // How many of each ranking are ranked again, or scored where none are: what an answer of k needs
  // (docs/decisions/0023, 0024).
  std::size_t candidates() const;

  // Reads a JSON object of these fields by name; kInvalidArgument for anything else.
  static Query read(std::string_view text);
};

}  // namespace gossamer
