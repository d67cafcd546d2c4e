#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gossamer {

// A date so written that the order of texts is the order of time.
struct Date {
  std::array<char, 26> letters{};  // 2024-05-31T10:00:00.000000 at most
  std::uint8_t size = 0;           // 0: it is none
  bool has_zone = false;

  std::string_view text() const { return {letters.data(), size}; }
};

// Reads a year, month, day, minute, second or part of one, each as in ISO 8601; a moment with a
// zone becomes one of UTC.
Date date_of(std::string_view text);

// A moment with a zone as the clocks there show it; none for any other text.
Date clock_of(std::string_view text);

// The first second of a day, month or year; anything finer stays as it is.
Date begin_of(Date date);

// A time in nanoseconds since 1970, of UTC, to the second.
Date moment_of(std::int64_t time_ns);

}  // namespace gossamer
