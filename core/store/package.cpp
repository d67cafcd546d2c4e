#include "store/package.h"

#include <algorithm>
#include <set>

#include "text/json.h"
#include "text/json_writer.h"

namespace gossamer {
namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kMagic = "GSMPACK1";
constexpr std::size_t kFrontBytes = kMagic.size() + 4, kCodeBytes = 32;
constexpr std::size_t kMostHeaderBytes = kPackageStart - kFrontBytes;
constexpr std::size_t kMostSections = 64, kMostName = 32;
constexpr std::int64_t kProtocol = 1;
constexpr std::int64_t kMostNumber = (std::int64_t{1} << 53) - 1;
constexpr std::size_t kMostShown = 100;  // bytes of what is wrong
constexpr std::string_view kAgain = "; pull again; a package is always made anew";
constexpr std::string_view kDamagedHead = "the head of the package is damaged";
// What a package may unpack to: python/gossamer/store/ratio.py.
constexpr std::int64_t kUnpackedBase = 1 << 26, kUnpackedRatio = 64;

// A field of an object that has these fields and no others.
struct Field {
  std::string_view name;
  Kind kind;
};
constexpr Field kSection[] = {{"name", Kind::kText},
                              {"size", Kind::kInteger},
                              {"unpacked", Kind::kInteger},
                              {"crc32", Kind::kInteger}};
constexpr Field kBase[] = {
    {"epoch", Kind::kText}, {"version", Kind::kInteger}, {"state", Kind::kText}};
// Besides `base`, which is an object or nothing.
constexpr Field kHead[] = {{"protocol", Kind::kInteger}, {"kind", Kind::kText},
                           {"index", Kind::kText},       {"mode", Kind::kText},
                           {"texts", Kind::kText},       {"epoch", Kind::kText},
                           {"version", Kind::kInteger},  {"state", Kind::kText},
                           {"is_signed", Kind::kBool},   {"next_chunk_id", Kind::kInteger},
                           {"model", Kind::kObject},     {"settings", Kind::kObject},
                           {"sections", Kind::kList}};

[[noreturn]] void fail_with_version(std::string_view version) {
  fail(Reason::kUnknownVersion,
       "the server speaks version " + std::string(version) + " of the protocol, and this release " +
           std::to_string(kProtocol) + "; bring the older of the two up to date");
}

[[noreturn]] void fail_truncated(const std::string& what) {
  fail(Reason::kTruncated, "the package " + what + std::string(kAgain));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

bool is_section_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kMostName && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || c == '_'; });
}

// A head as JSON, as far as it was looked at.
class HeadReader {
 public:
  explicit HeadReader(const Json& json) : json_(json) {}

  // The bytes that the sections have in all, once everything was found to be as it should be.
  std::uint64_t check() const {
    check_protocol();
    if (find(0, "base") == 0) fail_with("base");
    check_fields(0, "head", kHead, "base");
    const std::string_view kind = at(0, "kind").text, texts = at(0, "texts").text;
    const bool is_delta = kind == "delta", has_base = !at(0, "base").is(Kind::kNothing);
    if ((!is_delta && kind != "snapshot") || is_delta != has_base) fail_with("kind", kind);
    if (texts != "kept" && texts != "away") fail_with("texts", texts);
    if (has_base) check_fields(find(0, "base"), "base", kBase);
    return check_sections(json_.items(find(0, "sections")));
  }

 private:
  // A later protocol may say anything else.
  void check_protocol() const {
    const std::size_t protocol = find(0, "protocol");
    if (protocol == 0 || !json_.values()[protocol].is(Kind::kInteger)) fail_with("protocol");
    if (at(0, "protocol").integer != kProtocol) fail_with_version(at(0, "protocol").written);
  }

  // Each field is there and of its kind, whole numbers from 0 on, and there are no others.
  void check_fields(std::size_t place, std::string_view what, std::span<const Field> fields,
                    std::string_view besides = {}) const {
    if (!json_.values()[place].is(Kind::kObject)) fail_with(what);
    for (const Field& field : fields) {
      const std::size_t found = find(place, field.name);
      if (found == 0 || !json_.values()[found].is(field.kind)) fail_with(field.name);
      const std::int64_t number = json_.values()[found].integer;
      if (number < 0 || number > kMostNumber) fail_with(field.name);
    }
    for (const std::size_t item : json_.items(place)) {
      const std::string_view name = json_.values()[item].text;
      const bool is_known = std::any_of(fields.begin(), fields.end(),
                                        [&](const Field& field) { return field.name == name; });
      if (!is_known && name != besides) fail_with(what);
    }
  }

  std::uint64_t check_sections(const std::vector<std::size_t>& listed) const {
    if (listed.size() > kMostSections) fail_with("sections");
    std::set<std::string_view> names;
    std::int64_t size = 0, unpacked = 0;
    for (const std::size_t section : listed) {
      check_fields(section, "section", kSection);
      const std::string_view name = at(section, "name").text;
      const std::int64_t own = at(section, "size").integer, full = at(section, "unpacked").integer;
      // These hold compressed data already.
      const bool is_stored = name == "catalogue" || name == "padding";
      if (!is_section_name(name) || (full > 0 && own == 0) || (is_stored && own != full))
        fail_with("section", name);
      if (!names.insert(name).second) fail_with("a section twice");
      size += own;
      unpacked += full;
    }
    // No sum overflows: there are 64 numbers of 53 bits at most.
    if (unpacked > kUnpackedBase && (unpacked - kUnpackedBase - 1) / kUnpackedRatio >= size)
      fail_with(std::to_string(size) + " bytes that unpack to " + std::to_string(unpacked));
    return static_cast<std::uint64_t>(size);
  }

  // Where an object has the last value of a name; 0 if it has none.
  std::size_t find(std::size_t place, std::string_view name) const {
    std::size_t found = 0;
    if (json_.values()[place].is(Kind::kObject))
      for (const std::size_t item : json_.items(place))
        if (json_.values()[item].text == name) found = item + 1;
    return found;
  }
  const JsonValue& at(std::size_t place, std::string_view name) const {
    return json_.values()[find(place, name)];
  }

  [[noreturn]] void fail_with(std::string_view what, std::string_view value = {}) const {
    std::string message = std::string(kDamagedHead) + " (" + std::string(what);
    if (!value.empty()) message += " '" + std::string(value.substr(0, kMostShown)) + "'";
    fail(Reason::kDamaged, message + ")" + std::string(kAgain));
  }

  const Json& json_;
};

[[noreturn]] void fail_section(const std::string& what) {
  fail(Reason::kDamaged,
       "a section of the package does not hold what it should (" + what + "); pull again");
}

constexpr const char* kLists = "more lists than values";

void copy_value(const JsonValue& value, char letter, JsonWriter& out) {
  if (value.kind >= Kind::kList) fail_section(kLists);
  const auto fail_for = [&](const char* what) {
    fail_section(std::string(value.written.substr(0, kMostShown)) + " in place of " + what);
  };
  const bool is_number = value.is(Kind::kInteger);
  switch (letter) {
    case 'b':
      if (!value.is(Kind::kBool)) fail_for("true or false");
      break;
    case 't':
      if (!value.is(Kind::kText)) fail_for("a text");
      break;
    case 'i':
      if (!is_number) fail_for("a number");
      out.text(std::to_string(value.integer));
      return;
    default:
      if (!is_number || value.integer < 0 || value.integer > kMostNumber) fail_for("a number");
  }
  out.raw(value.written);
}

void copy_row(const std::vector<JsonValue>& values, std::string_view letters, JsonWriter& out) {
  if (values[0].is(Kind::kList) && values.size() == 1) fail_section(kLists);
  if (!values[0].is(Kind::kList) || values.size() != 1 + letters.size())
    fail_section("rows of " + std::to_string(letters.size()) + " values were expected");
  out.begin_array();
  for (std::size_t i = 0; i < letters.size(); ++i) copy_value(values[i + 1], letters[i], out);
  out.end_array();
}

}  // namespace

std::string read_package_head(ByteView start, std::uint64_t file_size) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  const std::size_t digit = kMagic.size() - 1;
  expect(text.substr(0, digit) == kMagic.substr(0, digit), Reason::kNotGossamer,
         "this is not a package of a Gossamer server; is the address right?");
  if (!text.starts_with(kMagic)) {
    const bool is_sign = text.size() > digit && text[digit] > ' ' && text[digit] <= '~';
    fail_with_version(is_sign ? text.substr(digit, 1) : "?");
  }
  if (text.size() < kFrontBytes) fail_truncated("ends within its first bytes");
  const auto length = ByteReader(start.subspan(kMagic.size()), "package").get<std::uint32_t>();
  if (length > kMostHeaderBytes || kFrontBytes + length + kCodeBytes > file_size ||
      kFrontBytes + length > start.size())
    fail_truncated("ends within its head");
  const std::string_view header = text.substr(kFrontBytes, length);
  const std::string message = std::string(kDamagedHead) + std::string(kAgain);
  expect(is_ascii(header), Reason::kDamaged, message.c_str());
  Json json;
  json.read_or(header, kMostHeaderBytes, Reason::kDamaged, message);
  const std::uint64_t expected = kFrontBytes + length + HeadReader(json).check() + kCodeBytes;
  if (file_size != expected)
    fail_truncated("should have " + std::to_string(expected) + " bytes and has " +
                   std::to_string(file_size));
  JsonWriter out;
  out.begin_object().key("start").number(std::uint64_t{kFrontBytes + length});
  return out.key("head").raw(header).end_object().take();
}

std::string read_package_rows(std::string_view section, std::string_view letters) {
  if (!is_ascii(section)) fail_section("other letters than those of ASCII");
  const bool has_rows = letters != "N";
  JsonWriter out;
  out.begin_array();
  // Lists in lists take many times as much as they are long: no more than a row is held.
  JsonList rows(section, 1 + (has_rows ? letters.size() : 0), Reason::kDamaged,
                "a section of the package does not hold what it should (no list of what was "
                "expected, or more lists than values); pull again");
  while (!section.empty() && rows.next()) {
    const std::vector<JsonValue>& values = rows.value().values();
    if (has_rows)
      copy_row(values, letters, out);
    else
      copy_value(values[0], 'n', out);
  }
  return out.end_array().take();
}

}  // namespace gossamer
