#include <nanobind/nanobind.h>

#include "arrays.h"
#include "base/crc32c.h"
#include "codes.h"
#include "deltas.h"
#include "errors.h"
#include "filters.h"
#include "graph.h"
#include "index.h"
#include "lexical.h"
#include "query.h"
#include "store.h"
#include "text.h"

NB_MODULE(_core, m) {
  // What a process caches until it ends (a tokenizer, a codebook) is no leak.
  nanobind::set_leak_warnings(false);
  m.def(
      "crc32c",
      [](const gossamer::ByteRow& bytes) { return gossamer::crc32c({bytes.data(), bytes.size()}); },
      nanobind::arg("bytes"), "The checksum of a part of a file.");
  bind_errors(m);
  bind_codes(m);
  bind_options(m);
  bind_calibration(m);
  bind_graph(m);
  bind_index(m);
  bind_deltas(m);
  bind_search(m);
  bind_lexical(m);
  bind_query(m);
  bind_text(m);
  bind_chunking(m);
  bind_static_model(m);
  bind_container(m);
  bind_store(m);
  bind_source_list(m);
  bind_package(m);
  bind_filters(m);
  bind_question(m);
}
