#pragma once

#include <nanobind/nanobind.h>

// Deltas apart from an index, and what a file says of its sections.
void bind_deltas(nanobind::module_& m);
