#pragma once

#include <nanobind/nanobind.h>

// The store: segments, the catalogue over them, drafts of new ones.
void bind_store(nanobind::module_& m);
// Questions: collections, sessions, chunks that are read.
void bind_question(nanobind::module_& m);
// Files of sections.
void bind_container(nanobind::module_& m);
// Sources in one piece, as they travel.
void bind_source_list(nanobind::module_& m);
// What packages say of themselves, as JSON.
void bind_package(nanobind::module_& m);
