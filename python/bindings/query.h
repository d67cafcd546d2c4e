#pragma once

#include <nanobind/nanobind.h>

// What is shown of a hit.
void bind_query(nanobind::module_& m);
