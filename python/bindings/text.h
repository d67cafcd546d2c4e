#pragma once

#include <nanobind/nanobind.h>

// Tokens.
void bind_text(nanobind::module_& m);
