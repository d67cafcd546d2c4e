#pragma once

#include <nanobind/nanobind.h>

// Which documents a search looks at.
void bind_filters(nanobind::module_& m);
