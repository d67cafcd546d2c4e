#pragma once

#include <nanobind/nanobind.h>

// Errors of the core become the classes of gossamer.errors.
void bind_errors(nanobind::module_& m);
