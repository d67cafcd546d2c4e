#pragma once

#include <nanobind/nanobind.h>

// The index, its options and its searches.
void bind_options(nanobind::module_& m);
void bind_calibration(nanobind::module_& m);
void bind_index(nanobind::module_& m);
void bind_search(nanobind::module_& m);
