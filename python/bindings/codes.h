#pragma once

#include <nanobind/nanobind.h>

// Codebooks, k-means and scans.
void bind_codes(nanobind::module_& m);
