#include "text/unicode.h"

#include <algorithm>
#include <iterator>

#include "text/fold_table.h"
#include "text/unicode_tables.h"

namespace gossamer {
namespace {

using namespace unicode_tables;

constexpr char32_t kPoints = 0x110000;
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulCount = 11172;

constexpr std::uint8_t look_up(char32_t point) {
  return kProperties[kPropertyBlocks[point / kPropertyBlock] * kPropertyBlock +
                     point % kPropertyBlock];
}

constexpr std::array<std::uint8_t, 128> ascii_properties() {
  std::array<std::uint8_t, 128> properties{};
  for (char32_t point = 0; point < 128; ++point) properties[point] = look_up(point);
  return properties;
}

// A syllable is a leading consonant, a vowel and, most often, a trailing consonant.
Folded letters_of_hangul(char32_t syllable) {
  const char32_t index = syllable - kHangulFirst;
  const char32_t trailing = index % 28;
  return {{0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + trailing},
          trailing == 0 ? 2u : 3u};
}

bool is_between(char32_t point, char32_t first, char32_t last) {
  return point - first <= last - first;
}

// Bytes of the character that begins with `lead`; 0 when none does.
std::size_t length_of(std::uint8_t lead) {
  if (is_between(lead, 0xC2, 0xDF)) return 2;
  if (is_between(lead, 0xE0, 0xEF)) return 3;
  return is_between(lead, 0xF0, 0xF4) ? 4 : 0;
}

// The second byte excludes overlong forms, surrogates and what is beyond U+10FFFF.
bool may_follow(std::uint8_t lead, std::uint8_t second) {
  switch (lead) {
    case 0xE0:
      return is_between(second, 0xA0, 0xBF);
    case 0xED:
      return is_between(second, 0x80, 0x9F);
    case 0xF0:
      return is_between(second, 0x90, 0xBF);
    case 0xF4:
      return is_between(second, 0x80, 0x8F);
    default:
      return is_between(second, 0x80, 0xBF);
  }
}

}  // namespace

constinit const std::array<std::uint8_t, 128> kAsciiProperties = ascii_properties();

std::uint8_t properties_beyond_ascii(char32_t point) {
  return point < kPoints ? look_up(point) : std::uint8_t{0};
}

bool is_bert_cjk(char32_t point) {
  if (point < 0x3400) return false;
  return is_between(point, 0x3400, 0x4DBF) || is_between(point, 0x4E00, 0x9FFF) ||
         is_between(point, 0xF900, 0xFAFF) || is_between(point, 0x20000, 0x2A6DF) ||
         is_between(point, 0x2A700, 0x2B81F) || is_between(point, 0x2B920, 0x2CEAF) ||
         is_between(point, 0x2F800, 0x2FA1F);
}

bool is_space_character(char32_t point) {
  if (point < 128)
    return point == ' ' || (point >= 9 && point <= 13) || (point >= 28 && point < 32);
  return point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
         point == 0x202F || point == 0x205F || point == 0x3000;
}

std::uint8_t combining_class(char32_t point) {
  if ((properties_of(point) & kCombining) == 0) return 0;
  const auto* run = std::lower_bound(std::begin(kCombiningEnds), std::end(kCombiningEnds), point);
  return kCombiningClasses[run - std::begin(kCombiningEnds)];
}

Folded fold_beyond_ascii(char32_t point) {
  if (is_between(point, kHangulFirst, kHangulFirst + kHangulCount - 1))
    return letters_of_hangul(point);
  if ((properties_of(point) & kAccent) != 0) return {{}, 0};
  // Made here, so that modules which fold nothing are without it.
  static const FoldTable table(kFoldSteps, kFoldSizes, kFoldResults);
  return table.find(point);
}

char32_t next_beyond_ascii(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at++);
  const std::size_t length = length_of(lead);
  if (length == 0 || at == text.size() || !may_follow(lead, byte(at))) return kReplacement;
  char32_t point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at == text.size() || (byte(at) & 0xC0) != 0x80) return kReplacement;
    point = point << 6 | (byte(at++) & 0x3Fu);
  }
  return point;
}

bool is_half(std::string_view text, std::size_t at) {
  const std::string_view bytes = text.substr(at, 3);
  return bytes.size() == 3 && bytes[0] == '\xED' && (bytes[1] & '\xE0') == '\xA0' &&
         (bytes[2] & '\xC0') == '\x80';
}

char32_t next_stored_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<std::uint8_t>(text[at++]);
  if (lead < 0xC0) return lead;
  const unsigned more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t point = lead & (0x3Fu >> more);
  for (unsigned i = 0; i < more && at < text.size() && is_inside_character(text[at]); ++i)
    point = point << 6 | (static_cast<std::uint8_t>(text[at++]) & 0x3Fu);
  return point;
}

int digit_of(char32_t point) {
  char32_t zero = 0;
  for (const std::uint16_t step : kDigitSteps) {
    zero += step;
    if (point < zero) break;
    if (point < zero + 10) return static_cast<int>(point - zero);
  }
  return -1;
}

void append_utf8(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

}  // namespace gossamer
