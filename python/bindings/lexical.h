#pragma once

#include <nanobind/nanobind.h>

// Lexical search: the terms of questions and texts, and the pass that counts them.
void bind_lexical(nanobind::module_& m);
