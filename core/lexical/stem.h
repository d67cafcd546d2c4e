#pragma once

#include <string>

namespace gossamer {

// Takes the endings off an English word (Porter's stemmer of 1980), so that "connected" and
// "connections" are one term. A word that is not made of the letters a-z alone is left as it is.
void stem(std::string& word);

}  // namespace gossamer
