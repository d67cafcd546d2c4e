#pragma once

#include <nanobind/nanobind.h>

// Tokens.
void bind_text(nanobind::module_& m);
// Documents cut into chunks.
void bind_chunking(nanobind::module_& m);
// Models that are a table of tokens.
void bind_static_model(nanobind::module_& m);
