#pragma once

#include <nanobind/nanobind.h>

// The store: segments, the catalogue over them, drafts of new ones.
void bind_store(nanobind::module_& m);
