#pragma once

#include <span>
#include <string>
#include <string_view>

#include "query/meaning.h"
#include "query/words.h"
#include "text/json_writer.h"

namespace gossamer {

// Writes what a session needs as JSON: see QuerySession::needs().
class NeedsWriter {
 public:
  NeedsWriter() { json_.begin_array(); }

  void question(std::string_view text) { begin("question").key("text").text(text).end_object(); }
  void words(std::size_t pieces);
  void ranking(std::string_view text, std::size_t best);
  void postings(std::span<const PostingsView::Range> ranges);
  void meaning(const MeaningSearch& search);
  void scores(std::string_view question, std::span<const std::uint64_t> ids,
              std::span<const std::string_view> texts);
  // Nothing is written where nothing is to be read.
  void texts(std::span<const TextNeed> needs);
  void chunks(std::span<const std::uint64_t> ids);

  std::string take() { return json_.end_array().take(); }

 private:
  JsonWriter& begin(std::string_view name);
  void ids(std::span<const std::uint64_t> ids);
  void strings(std::span<const std::string_view> texts);
  void document(const TextNeed& need);

  JsonWriter json_;
};

}  // namespace gossamer
