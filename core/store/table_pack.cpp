#include "store/table_pack.h"

#include <algorithm>
#include <bit>
#include <string>

namespace gossamer {
namespace {

constexpr const char* kWhat = "the catalogue";
constexpr std::uint8_t kRaw = 0, kPacked = 1;
constexpr std::size_t kLengthBytes = 5;
// What a table may unpack to: hostile bytes must not fill the memory. Own tables of earlier
// releases were padded for a larger ratio.
constexpr std::uint64_t kMostRatio = 16, kMostOwnRatio = 256;
// Far more than the rows of any table; sums are compared as they grow.
constexpr std::int64_t kMostCount = std::int64_t{1} << 40;

using Form = TableColumn::Form;

std::size_t hash_width(Form form) {
  return form == Form::kHash4 ? 4 : form == Form::kHash8 ? 8 : 0;
}

bool is_zigzag(Form form) {
  return form == Form::kSigned || form == Form::kRising || form == Form::kAfter;
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t from_zigzag(std::uint64_t bits) {
  return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
}

// Sums and differences wrap around: numbers of strangers may be any.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// What a row is expected to be, after the row before it.
std::int64_t expected(const Table& table, const TableColumn& column, const Ints& values,
                      std::size_t row) {
  if (row == 0) return 0;
  return column.form == Form::kAfter ? plus(values[row - 1], table.columns[column.after][row - 1])
                                     : values[row - 1];
}

class Packer {
 public:
  explicit Packer(const Codec& codec) : codec_(codec) {}

  Bytes pack(const Table& table) {
    out_.reserve(256);
    out_.put<std::uint64_t>(table.size());
    add(table);
    Bytes bytes = out_.take();
    // A reader refuses what takes more memory than its size allows.
    if (unpacked_ > kMostOfMany)
      bytes.resize(std::max<std::size_t>(bytes.size(), (unpacked_ - kMostOfMany) / kMostRatio + 1));
    return bytes;
  }

 private:
  void add(const Table& table) {
    if (table.schema->is_bytes) {
      unpacked_ += table.schema->cost * table.size();
      put_plane(table.content);
      return;
    }
    for (std::size_t number = 0; number < table.columns.size(); ++number) {
      unpacked_ += 8 * table.size();
      put_column(table, number);
    }
    for (const Table& child : table.children) add(child);
  }

  void put_column(const Table& table, std::size_t number) {
    const TableColumn column = table.schema->column(number);
    const Ints& values = table.columns[number];
    if (const std::size_t width = hash_width(column.form)) {
      for (const std::int64_t value : values)
        width == 4 ? out_.put(static_cast<std::uint32_t>(value)) : out_.put(value);
      return;
    }
    const bool is_distance = column.form == Form::kRising || column.form == Form::kAfter;
    std::vector<std::uint64_t> bits(values.size());
    std::uint64_t all = 0;
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::int64_t value =
          is_distance ? minus(values[row], expected(table, column, values, row)) : values[row];
      bits[row] = is_zigzag(column.form) ? zigzag(value) : static_cast<std::uint64_t>(value);
      all |= bits[row];
    }
    const auto width = static_cast<std::uint8_t>((std::bit_width(all) + 7) / 8);
    out_.put(width);
    // Byte planes, the lowest bytes of all numbers first: each plane is alike in itself.
    Bytes plane(values.size());
    for (unsigned shift = 0; shift < 8u * width; shift += 8) {
      for (std::size_t row = 0; row < bits.size(); ++row)
        plane[row] = static_cast<std::uint8_t>(bits[row] >> shift);
      put_plane(plane);
    }
  }

  void put_plane(ByteView plane) {
    const Bytes packed = codec_.pack(plane);
    const bool is_packed = !packed.empty() && packed.size() < plane.size();
    const ByteView stored = is_packed ? ByteView(packed) : plane;
    const std::uint64_t length = stored.size();
    out_.put(is_packed ? kPacked : kRaw);
    out_.put(static_cast<std::uint32_t>(length));
    out_.put(static_cast<std::uint8_t>(length >> 32));
    out_.put_bytes(stored);
  }

  const Codec& codec_;
  ByteWriter out_;
  std::uint64_t unpacked_ = 0;
};

class Unpacker {
 public:
  Unpacker(ByteView bytes, Origin origin, const Codec& codec, std::uint64_t most,
           std::uint64_t* budget)
      : in_(bytes, kWhat),
        codec_(codec),
        most_(origin == Origin::kOwn ? kMostAlone + kMostOwnRatio * bytes.size()
                                     : most + kMostRatio * bytes.size()) {
    // Where addresses have 32 bits no count may be cut to fit.
    most_ = std::min<std::uint64_t>(most_, SIZE_MAX);
    if (budget != nullptr) most_ = std::min(most_, *budget);
    budget_ = budget;
  }

  Table unpack(const Schema& schema) {
    Table table(schema);
    fill(table, in_.get<std::uint64_t>());
    return table;
  }

 private:
  void fill(Table& table, std::uint64_t count) {
    const Schema& schema = *table.schema;
    if (schema.is_bytes) {
      spend(count, schema.cost);
      table.content = take_plane(count);
      return;
    }
    for (std::size_t number = 0; number < table.columns.size(); ++number)
      table.columns[number] = take_column(schema.column(number), count);
    // What a column stands after is read by now.
    for (std::size_t number = 0; number < schema.columns.size(); ++number)
      undo_distances(table, number);
    for (std::size_t child = 0; child < table.children.size(); ++child)
      fill(table.children[child], sum_of_counts(table, child));
  }

  std::uint64_t sum_of_counts(const Table& table, std::size_t child) const {
    std::uint64_t sum = 0;
    for (const std::int64_t count : table.columns[table.schema->count_column(child)]) {
      expect(count >= 0 && count < kMostCount, Reason::kDamaged,
             "the catalogue says that a row owns a number of others that cannot be");
      sum += static_cast<std::uint64_t>(count);
      // A row takes a byte at least.
      expect(sum <= most_, Reason::kDamaged, "the catalogue says it holds more than its bytes can");
    }
    return sum;
  }

  Ints take_column(const TableColumn& column, std::uint64_t count) {
    spend(count, 8);
    Ints values(static_cast<std::size_t>(count));
    if (const std::size_t width = hash_width(column.form)) {
      for (std::int64_t& value : values) std::memcpy(&value, in_.take(width).data(), width);
      return values;
    }
    const auto width = in_.get<std::uint8_t>();
    expect(width <= 8, Reason::kDamaged, "the catalogue has numbers of more than 8 bytes");
    std::vector<std::uint64_t> bits(values.size());
    for (unsigned shift = 0; shift < 8u * width; shift += 8) {
      const Bytes plane = take_plane(count);
      for (std::size_t row = 0; row < bits.size(); ++row)
        bits[row] |= static_cast<std::uint64_t>(plane[row]) << shift;
    }
    for (std::size_t row = 0; row < bits.size(); ++row)
      values[row] =
          is_zigzag(column.form) ? from_zigzag(bits[row]) : static_cast<std::int64_t>(bits[row]);
    return values;
  }

  void undo_distances(Table& table, std::size_t number) const {
    const TableColumn& column = table.schema->columns[number];
    if (column.form != Form::kRising && column.form != Form::kAfter) return;
    Ints& values = table.columns[number];
    for (std::size_t row = 1; row < values.size(); ++row)
      values[row] = plus(values[row], expected(table, column, values, row));
  }

  Bytes take_plane(std::uint64_t count) {
    const auto method = in_.get<std::uint8_t>();
    std::uint64_t length = 0;
    std::memcpy(&length, in_.take(kLengthBytes).data(), kLengthBytes);
    expect(length <= in_.remaining(), Reason::kTruncated, "the catalogue ends too early");
    const ByteView stored = in_.take(static_cast<std::size_t>(length));
    if (method == kRaw && length == count) return {stored.begin(), stored.end()};
    expect(method == kPacked, Reason::kDamaged, "the catalogue has a column of another length");
    Bytes plane(static_cast<std::size_t>(count));
    expect(codec_.unpack(stored, plane), Reason::kDamaged,
           "a column of the catalogue does not unpack");
    return plane;
  }

  // Before so much is taken.
  void spend(std::uint64_t count, std::uint64_t bytes_each) {
    expect(count <= most_ / bytes_each, Reason::kDamaged,
           "the catalogue says it holds more than its bytes can");
    most_ -= count * bytes_each;
    if (budget_ != nullptr) *budget_ -= count * bytes_each;
  }

  ByteReader in_;
  const Codec& codec_;
  std::uint64_t most_;
  std::uint64_t* budget_ = nullptr;
};

}  // namespace

Bytes pack_table(const Table& table, const Codec& codec) { return Packer(codec).pack(table); }

Table unpack_table(ByteView bytes, const Schema& schema, Origin origin, const Codec& codec,
                   std::uint64_t most, std::uint64_t* budget) {
  return Unpacker(bytes, origin, codec, most, budget).unpack(schema);
}

}  // namespace gossamer
