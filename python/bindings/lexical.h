#pragma once

#include <nanobind/nanobind.h>

namespace gossamer {

struct Progress;
class TextStore;
class WordPass;

// Reads and counts every piece that a pass asks for, out of files and stored texts. Needs no lock
// of Python.
void count_pieces(WordPass& pass, const TextStore& texts, unsigned threads, Progress* progress);

}  // namespace gossamer

// Lexical search: the terms of questions and texts, and rankings by them.
void bind_lexical(nanobind::module_& m);
