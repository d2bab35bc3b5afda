#include "boolgrad/model/circuit_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/csv_text.h"
#include "boolgrad/data/npy.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "predict";
constexpr std::size_t decimal_bits = 64;

/// What a column of a file holds: bits of the circuit, the lowest first.
struct Field {
  std::size_t column = 0;
  std::string name;
  std::vector<std::size_t> positions;
};

using Bits = std::vector<std::uint8_t>;

/// The bits of a number whose digits have `bits_per_digit` bits; none if it is no such number.
std::optional<Bits> bits_of_digits(std::string_view digits, std::size_t bits_per_digit) {
  Bits bits;
  for (std::size_t i = digits.size(); i-- > 0;) {
    unsigned value = 0;
    const char* const digit = digits.data() + i;
    const auto [end, error] = std::from_chars(digit, digit + 1, value, 1 << bits_per_digit);
    if (error != std::errc{} || end != digit + 1) return std::nullopt;
    for (std::size_t b = 0; b < bits_per_digit; ++b) {
      bits.push_back(static_cast<std::uint8_t>((value >> b) & 1));
    }
  }
  if (bits.empty()) return std::nullopt;
  return bits;
}

/// The bits of a number in decimal, or with 0x or 0b; none for other text.
std::optional<Bits> bits_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return bits_of_digits(text.substr(2), 4);
  if (text.starts_with("0b") || text.starts_with("0B")) return bits_of_digits(text.substr(2), 1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  Bits bits(decimal_bits);
  for (std::size_t b = 0; b < bits.size(); ++b) {
    bits[b] = static_cast<std::uint8_t>((value >> b) & 1);
  }
  return bits;
}

std::string expected_value(std::size_t bits) {
  if (bits == 1) return "0 or 1";
  if (bits > decimal_bits) return fmt::format("a number of {} bits, such as 0x1f", bits);
  const std::uint64_t largest =
      bits == decimal_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return fmt::format("a number from 0 to {}", largest);
}

/// Stores the bits of a field; the reason if the text is no value of it.
std::string store(const Field& field, std::string_view text, std::span<std::uint8_t> row) {
  const std::optional<Bits> bits = bits_of(text);
  const std::size_t count = field.positions.size();
  const bool fits =
      bits &&
      std::all_of(bits->begin() + static_cast<std::ptrdiff_t>(std::min(count, bits->size())),
                  bits->end(), [](std::uint8_t bit) { return bit == 0; });
  if (!fits) {
    return fmt::format("expected {} in column '{}', received '{}'", expected_value(count),
                       printable(field.name), printable(text));
  }
  for (std::size_t b = 0; b < count; ++b) {
    row[field.positions[b]] = b < bits->size() ? (*bits)[b] : 0;
  }
  return "";
}

/// What columns without names hold: ports if there are as many, else bits.
std::vector<Field> fields_in_order(const fs::path& path, std::size_t columns,
                                   const circuit::Netlist& netlist) {
  std::vector<Field> fields;
  const std::vector<circuit::PortGroup> ports = circuit::port_groups(netlist.inputs);
  if (columns == ports.size()) {
    for (std::size_t i = 0; i < columns; ++i)
      fields.push_back({i, ports[i].name, ports[i].positions});
  } else if (columns == netlist.inputs.size()) {
    for (std::size_t i = 0; i < columns; ++i) fields.push_back({i, netlist.inputs[i], {i}});
  } else if (ports.size() == netlist.inputs.size()) {
    fail(where, "{}: expected {} columns, one per input, received {}", path.string(), ports.size(),
         columns);
  } else {
    fail(where, "{}: expected {} columns, one per port, or {}, one per bit, received {}",
         path.string(), ports.size(), netlist.inputs.size(), columns);
  }
  return fields;
}

/// What columns with names hold.
std::vector<Field> fields_by_name(const fs::path& path, const std::vector<std::string>& names,
                                  const circuit::Netlist& netlist) {
  const auto column_of = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  };
  std::vector<Field> fields;
  for (const circuit::PortGroup& port : circuit::port_groups(netlist.inputs)) {
    if (const auto column = column_of(port.name)) {
      fields.push_back({*column, port.name, port.positions});
      continue;
    }
    for (const std::size_t position : port.positions) {
      const auto column = column_of(netlist.inputs[position]);
      if (!column) {
        fail(where, "{}: expected a column '{}', received {}", path.string(), printable(port.name),
             printable(fmt::format("{}", fmt::join(names, ", "))));
      }
      fields.push_back({*column, netlist.inputs[position], {position}});
    }
  }
  return fields;
}

bool has_names(const std::vector<std::string>& fields) {
  return std::ranges::any_of(fields, [](const std::string& field) { return !bits_of(field); });
}

/// The values of all fields in a record; the reason if one is wrong.
std::string store_record(const std::vector<Field>& fields, const std::vector<std::string>& record,
                         std::size_t columns, std::span<std::uint8_t> row) {
  if (record.size() != columns) {
    return fmt::format("expected {} columns, received {}", columns, record.size());
  }
  for (const Field& field : fields) {
    std::string reason = store(field, record[field.column], row);
    if (!reason.empty()) return reason;
  }
  return "";
}

UnlabelledSamples read_lines(const fs::path& path, const circuit::Netlist& netlist) {
  const fs::path file = path == "-" ? "/dev/stdin" : path;
  std::string text = file_content(where, file);
  if (text.starts_with(data::byte_order_mark)) text.erase(0, data::byte_order_mark.size());
  data::CsvRecords records(text,
                           data::separator_in(std::string_view(text).substr(0, text.find('\n'))));
  UnlabelledSamples result{.what = "line"};
  std::vector<Field> fields;
  std::size_t columns = 0;
  Bits bits;
  Bits row(netlist.inputs.size());
  while (records.next()) {
    std::string reason;
    data::CsvRecord record;
    try {
      record = records.read();
      if (columns == 0) {
        columns = record.fields.size();
        const bool named = has_names(record.fields);
        fields = named ? fields_by_name(path, record.fields, netlist)
                       : fields_in_order(path, columns, netlist);
        if (named) continue;
      }
      reason = store_record(fields, record.fields, columns, row);
    } catch (const data::CsvMistake& mistake) {
      reason = mistake.what();
    }
    const std::string name = std::to_string(records.line());
    if (!reason.empty()) {
      result.refused.push_back({name, reason});
      continue;
    }
    result.names.push_back(name);
    bits.insert(bits.end(), row.begin(), row.end());
  }
  result.features = Tensor::of(bits, {std::ssize(result.names), std::ssize(netlist.inputs)});
  return result;
}

/// Text for a number of an array: integers as such, others as they are.
std::string text_of_number(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  const bool is_integer = value >= 0 && value <= exact && value == std::floor(value);
  return is_integer ? fmt::format("{}", static_cast<std::uint64_t>(value))
                    : fmt::format("{}", value);
}

UnlabelledSamples read_array(const fs::path& path, const circuit::Netlist& netlist) {
  const Tensor array = data::read_npy(path);
  if (array.rank() != 2) {
    fail(where, "{}: expected an array [rows, columns], received {}", path.string(),
         to_string(array.shape()));
  }
  const std::int64_t columns = array.shape()[1];
  const std::vector<Field> fields =
      fields_in_order(path, static_cast<std::size_t>(columns), netlist);
  UnlabelledSamples result{.what = "row"};
  Bits bits;
  Bits row(netlist.inputs.size());
  std::vector<std::string> record(static_cast<std::size_t>(columns));
  for (std::int64_t r = 0; r < array.shape()[0]; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      record[static_cast<std::size_t>(c)] = text_of_number(array.at(r * columns + c));
    }
    const std::string reason = store_record(fields, record, record.size(), row);
    if (!reason.empty()) {
      result.refused.push_back({std::to_string(r), reason});
      continue;
    }
    result.names.push_back(std::to_string(r));
    bits.insert(bits.end(), row.begin(), row.end());
  }
  result.features = Tensor::of(bits, {std::ssize(result.names), std::ssize(netlist.inputs)});
  return result;
}

}  // namespace

UnlabelledSamples read_circuit_inputs(const fs::path& path, const circuit::Netlist& netlist) {
  if (netlist.state) fail(where, "expected a circuit, received the rule of an automaton");
  return path.extension() == ".npy" ? read_array(path, netlist) : read_lines(path, netlist);
}

Tensor circuit_outputs(const circuit::Netlist& netlist, const Tensor& inputs) {
  const circuit::CircuitRunner runner(netlist);
  const std::int64_t rows = inputs.shape()[0];
  Tensor outputs({rows, runner.outputs()}, DType::uint8);
  runner.run({inputs.values<std::uint8_t>(), rows}, outputs.mutable_values<std::uint8_t>());
  return outputs;
}

std::string port_value(const circuit::PortGroup& port, std::span<const std::uint8_t> bits) {
  const std::size_t count = port.positions.size();
  if (count <= decimal_bits) {
    std::uint64_t value = 0;
    for (std::size_t b = 0; b < count; ++b) {
      value |= std::uint64_t{bits[port.positions[b]]} << b;
    }
    return fmt::format("{}", value);
  }
  std::string digits;
  for (std::size_t b = 0; b < count; b += 4) {
    unsigned digit = 0;
    for (std::size_t i = b; i < std::min(b + 4, count); ++i) {
      digit |= static_cast<unsigned>(bits[port.positions[i]]) << (i - b);
    }
    digits.insert(0, fmt::format("{:x}", digit));
  }
  return "0x" + digits;
}

}  // namespace boolgrad
