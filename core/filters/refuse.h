#pragma once

#include <initializer_list>
#include <string_view>

namespace gossamer {

// kInvalidArgument, with a message of these parts. Where each place puts its message together
// itself, that takes more code than what is checked.
[[noreturn]] void refuse(std::initializer_list<std::string_view> parts);

}  // namespace gossamer
