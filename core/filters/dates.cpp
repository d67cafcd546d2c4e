#include "filters/dates.h"

#include <algorithm>
#include <cmath>

namespace gossamer {
namespace {

constexpr std::int64_t kDay = 86'400;

// Year, month, day, hour, minute, second, and what stands before each.
constexpr int kParts = 6;
using Parts = std::array<int, kParts>;
constexpr std::array<std::string_view, kParts> kMarks{"", "-", "-", "T ", ":", ":"};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool is_end() const { return at_ == text_.size(); }
  bool take(std::string_view any) {
    const bool is_there = !is_end() && any.find(text_[at_]) != any.npos;
    if (is_there) ++at_;
    return is_there;
  }
  // As many digits as that, no fewer.
  bool take_digits(int count, int& value) {
    value = 0;
    for (; count > 0; --count, ++at_) {
      if (is_end() || text_[at_] < '0' || text_[at_] > '9') return false;
      value = 10 * value + (text_[at_] - '0');
    }
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// What a date that is written out says. As `kind` a moment with a zone, any other date, or none.
struct Reading {
  enum Kind { kNone, kPlain, kZoned };

  Kind kind = kNone;
  Parts parts{};
  int micros = 0;
  int offset = 0;  // minutes
};

bool read_fraction(Cursor& in, int& micros) {
  int digits = 0;
  for (int digit = 0; digits < 6 && in.take_digits(1, digit); ++digits)
    micros = 10 * micros + digit;
  for (int i = digits; i < 6; ++i) micros *= 10;
  return digits > 0;
}

bool read_zone(Cursor& in, int& offset) {
  if (in.take("Z")) return true;
  const bool is_behind = in.take("-");
  int minutes = 0;
  if ((!is_behind && !in.take("+")) || !in.take_digits(2, offset)) return false;
  in.take(":");
  if (!in.take_digits(2, minutes)) return false;
  offset = (is_behind ? -1 : 1) * (60 * offset + minutes);
  return true;
}

Reading read_date(Cursor in) {
  Reading found;
  for (int part = 0; part < kParts; ++part) {
    if (part > 0 && !in.take(kMarks[static_cast<std::size_t>(part)])) {
      // A zone may follow the minute.
      if (part < 5) return found;
      break;
    }
    if (!in.take_digits(part == 0 ? 4 : 2, found.parts[static_cast<std::size_t>(part)]))
      return found;
    if (in.is_end() && part != 3) {
      found.kind = Reading::kPlain;
      return found;
    }
    if (part == 5 && in.take(".") && !read_fraction(in, found.micros)) return found;
  }
  if (in.is_end())
    found.kind = Reading::kPlain;
  else if (read_zone(in, found.offset) && in.is_end())
    found.kind = Reading::kZoned;
  return found;
}

// Days since 1970 of the Gregorian calendar, and back. Years begin in March, so that a leap day is
// the last one.
std::int64_t days_of(const Parts& parts) {
  const std::int64_t years = parts[0] - (parts[1] <= 2 ? 1 : 0);
  const std::int64_t of_year = (153 * ((parts[1] + 9) % 12) + 2) / 5 + parts[2] - 1;
  return 365 * years + years / 4 - years / 100 + years / 400 + of_year - 719'468;
}

Parts parts_of(std::int64_t seconds) {
  const std::int64_t days = (seconds - (seconds < 0 ? kDay - 1 : 0)) / kDay;
  const int since = static_cast<int>(days + 719'468),
            of_day = static_cast<int>(seconds - kDay * days);
  const int of_era = since % 146'097;
  const int years = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const int of_year = of_era - (365 * years + years / 4 - years / 100);
  const int month = (5 * of_year + 2) / 153;
  const int from_january = month < 10 ? month + 3 : month - 9;
  return {400 * (since / 146'097) + years + (from_january <= 2 ? 1 : 0),
          from_january,
          of_year - (153 * month + 2) / 5 + 1,
          of_day / 3600,
          of_day / 60 % 60,
          of_day % 60};
}

void append(Date& date, std::string_view mark, int value, int width) {
  if (!mark.empty()) date.letters[date.size++] = mark[0];
  date.size = static_cast<std::uint8_t>(date.size + width);
  for (std::size_t i = 1; width > 0; --width, ++i, value /= 10)
    date.letters[date.size - i] = static_cast<char>('0' + value % 10);
}

Date write(const Parts& parts) {
  Date date;
  for (std::size_t i = 0; i < kParts; ++i) append(date, kMarks[i], parts[i], i == 0 ? 4 : 2);
  return date;
}

Date to_utc(const Reading& found) {
  const std::int64_t local =
      kDay * days_of(found.parts) + 60 * (60 * found.parts[3] + found.parts[4]) + found.parts[5];
  // What no calendar has comes back as another day, hour or minute.
  if (found.parts[0] < 1 || parts_of(local) != found.parts || std::abs(found.offset) >= 24 * 60)
    return {};
  const Parts parts = parts_of(local - 60 * found.offset);
  if (parts[0] < 1 || parts[0] > 9999) return {};
  Date date = write(parts);
  date.has_zone = true;
  if (found.micros > 0) append(date, ".", found.micros, 6);
  return date;
}

}  // namespace

Date date_of(std::string_view text) {
  const Reading found = read_date(Cursor(text));
  if (found.kind == Reading::kZoned) return to_utc(found);
  Date date;
  if (found.kind == Reading::kNone) return date;
  std::replace_copy(text.begin(), text.end(), date.letters.begin(), ' ', 'T');
  date.size = static_cast<std::uint8_t>(text.size());
  return date;
}

Date clock_of(std::string_view text) {
  Reading found = read_date(Cursor(text));
  found.offset = 0;
  return found.kind == Reading::kZoned ? to_utc(found) : Date{};
}

Date begin_of(Date date) {
  constexpr std::string_view kFirst = "0001-01-01T00:00:00";
  for (; date.size < kFirst.size(); ++date.size) date.letters[date.size] = kFirst[date.size];
  return date;
}

Date moment_of(std::int64_t time_ns) {
  // By way of a double and microseconds, as such a time was always shown.
  double whole = 0;
  const double micros = std::nearbyint(std::modf(static_cast<double>(time_ns) / 1e9, &whole) * 1e6);
  const std::int64_t more = micros >= 1e6 ? 1 : micros < 0 ? -1 : 0;
  return write(parts_of(static_cast<std::int64_t>(whole) + more));
}

}  // namespace gossamer
