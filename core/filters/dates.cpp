#include "filters/dates.h"

#include <algorithm>
#include <cmath>

namespace gossamer {
namespace {

constexpr std::int64_t kDay = 86'400;

// What a date that is written out says.
struct Parts {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int micros = 0;
  bool has_zone = false;
  int offset = 0;  // minutes
};

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
  bool take(int count, int& value) {
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

bool read_fraction(Cursor& in, int& micros) {
  int digits = 0;
  for (int digit = 0; digits < 6 && in.take(1, digit); ++digits) micros = 10 * micros + digit;
  for (int i = digits; i < 6; ++i) micros *= 10;
  return digits > 0;
}

bool read_zone(Cursor& in, Parts& parts) {
  parts.has_zone = true;
  if (in.take("Z")) return in.is_end();
  const bool is_behind = in.take("-");
  int hours = 0, minutes = 0;
  if (!(is_behind || in.take("+")) || !in.take(2, hours)) return false;
  in.take(":");
  if (!in.take(2, minutes)) return false;
  parts.offset = (is_behind ? -1 : 1) * (60 * hours + minutes);
  return in.is_end();
}

bool read_parts(Cursor in, Parts& parts) {
  if (!in.take(4, parts.year)) return false;
  if (in.is_end()) return true;
  if (!in.take("-") || !in.take(2, parts.month)) return false;
  if (in.is_end()) return true;
  if (!in.take("-") || !in.take(2, parts.day)) return false;
  if (in.is_end()) return true;
  if (!in.take("T ") || !in.take(2, parts.hour)) return false;
  if (!in.take(":") || !in.take(2, parts.minute)) return false;
  if (in.take(":")) {
    if (!in.take(2, parts.second)) return false;
    if (in.take(".") && !read_fraction(in, parts.micros)) return false;
  }
  return in.is_end() || read_zone(in, parts);
}

// Days since 1970 of the Gregorian calendar, and back. Years begin in March, so that a leap day is
// the last one.
std::int64_t days_of(int year, int month, int day) {
  const std::int64_t years = year - (month <= 2 ? 1 : 0);
  const std::int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return 365 * years + years / 4 - years / 100 + years / 400 + of_year - 719'468;
}

void set_day(std::int64_t days, Parts& parts) {
  const std::int64_t since = days + 719'468;
  const std::int64_t era = since / 146'097, of_era = since % 146'097;
  const std::int64_t years = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
  const std::int64_t month = (5 * of_year + 2) / 153;
  parts.day = static_cast<int>(of_year - (153 * month + 2) / 5 + 1);
  parts.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  parts.year = static_cast<int>(400 * era + years + (parts.month <= 2 ? 1 : 0));
}

bool is_in_calendar(const Parts& parts) {
  if (parts.year < 1 || parts.month < 1 || parts.month > 12 || parts.day < 1) return false;
  if (parts.hour > 23 || parts.minute > 59 || parts.second > 59) return false;
  Parts same;
  set_day(days_of(parts.year, parts.month, parts.day), same);
  return same.month == parts.month && same.day == parts.day;
}

void set_moment(std::int64_t seconds, Parts& parts) {
  const std::int64_t days = (seconds - (seconds < 0 ? kDay - 1 : 0)) / kDay;
  set_day(days, parts);
  const int of_day = static_cast<int>(seconds - kDay * days);
  parts.hour = of_day / 3600;
  parts.minute = of_day / 60 % 60;
  parts.second = of_day % 60;
}

void append(Date& date, char before, int value, int width) {
  if (before != '\0') date.letters[date.size++] = before;
  for (int i = width; i-- > 0; value /= 10)
    date.letters[date.size + static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
  date.size = static_cast<std::uint8_t>(date.size + width);
}

Date write(const Parts& parts) {
  Date date;
  append(date, '\0', parts.year, 4);
  append(date, '-', parts.month, 2);
  append(date, '-', parts.day, 2);
  append(date, 'T', parts.hour, 2);
  append(date, ':', parts.minute, 2);
  append(date, ':', parts.second, 2);
  if (parts.micros > 0) append(date, '.', parts.micros, 6);
  return date;
}

Date to_utc(Parts parts) {
  if (!is_in_calendar(parts) || std::abs(parts.offset) >= 24 * 60) return {};
  set_moment(kDay * days_of(parts.year, parts.month, parts.day) +
                 60 * (60 * parts.hour + parts.minute - parts.offset) + parts.second,
             parts);
  return parts.year < 1 || parts.year > 9999 ? Date() : write(parts);
}

}  // namespace

Date date_of(std::string_view text) {
  Parts parts;
  if (!read_parts(Cursor(text), parts)) return {};
  if (parts.has_zone) return to_utc(parts);
  Date date;
  std::replace_copy(text.begin(), text.end(), date.letters.begin(), ' ', 'T');
  date.size = static_cast<std::uint8_t>(text.size());
  return date;
}

std::string moment_of(std::int64_t time_ns) {
  // By way of a double and microseconds, as such a time was always shown.
  double whole = 0;
  const double micros = std::nearbyint(std::modf(static_cast<double>(time_ns) / 1e9, &whole) * 1e6);
  const std::int64_t more = micros >= 1e6 ? 1 : micros < 0 ? -1 : 0;
  Parts parts;
  set_moment(static_cast<std::int64_t>(whole) + more, parts);
  return std::string(write(parts).text()) + "+00:00";
}

}  // namespace gossamer
