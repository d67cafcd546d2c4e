#pragma once

#include <nanobind/nanobind.h>

// Graphs on their own: what a bounded build makes shard by shard, and what benchmarks compare.
void bind_graph(nanobind::module_& m);
