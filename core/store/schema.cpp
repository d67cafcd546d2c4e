#include "store/schema.h"

namespace gossamer {
namespace {

using Form = TableColumn::Form;

const Schema& bytes_schema() {
  static const Schema schema{{}, {}, true, 1};
  return schema;
}

// Once they are read, these take several times their bytes.
const Schema& json_schema() {
  static const Schema schema{{}, {}, true, 8};
  return schema;
}

const Schema& string_schema() {
  static const Schema schema{{}, {}, true, 4};
  return schema;
}

const Schema& headings_schema() {
  static const Schema schema{{{"before", Form::kSigned}, {"length"}}, {}};
  return schema;
}

const Schema& chunks_schema() {
  static const Schema schema{
      {{"gap", Form::kSigned}, {"length"}, {"shared"}, {"check", Form::kHash4}},
      {{"headings", &headings_schema()}}};
  return schema;
}

const Schema& places_schema() {
  static const Schema schema{{{"gap"}, {"number", Form::kRising}}, {}};
  return schema;
}

const Schema& documents_schema() {
  static const Schema schema{{{"kind"},
                              {"unit"},
                              {"length"},
                              {"segment"},
                              {"offset", Form::kAfter, DocumentColumns::kLength},
                              {"title_start"},
                              {"title_length"},
                              {"first_chunk", Form::kAfter, DocumentColumns::kChunks}},
                             {{"key", &bytes_schema()},
                              {"title", &bytes_schema()},
                              {"metadata", &json_schema()},
                              {"places", &places_schema()},
                              {"chunks", &chunks_schema()}}};
  return schema;
}

}  // namespace

const Schema& strings_schema() {
  static const Schema schema{{}, {{"word", &string_schema()}}};
  return schema;
}

const Schema& sources_schema() {
  static const Schema schema{{{"root"},
                              {"kind"},
                              {"status"},
                              {"reason"},
                              {"reader_version"},
                              {"size"},
                              {"mtime_ns", Form::kRising},
                              {"content_hash", Form::kHash8}},
                             {{"name", &bytes_schema()}, {"documents", &documents_schema()}}};
  return schema;
}

}  // namespace gossamer
