#include "boolgrad/circuit/formats/aiger.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include "boolgrad/circuit/formats/infix_formula.h"
#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/formats/table_formula.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "aiger";

/// An AIGER literal: twice the variable, plus one if inverted. Variable 0 is the constant 0.
using Literal = std::uint32_t;

struct And {
  Literal large;
  Literal small;
};

class AndBuilder {
 public:
  explicit AndBuilder(std::size_t inputs) : inputs_(inputs) {}

  const std::vector<And>& ands() const { return ands_; }

  Literal constant(bool value) const { return value ? 1 : 0; }
  Literal negation(Literal a) const { return a ^ 1; }
  Literal disjunction(Literal a, Literal b) { return conjunction(a ^ 1, b ^ 1) ^ 1; }
  Literal exclusive_or(Literal a, Literal b) { return multiplexer(a, b ^ 1, b); }
  Literal multiplexer(Literal by, Literal one, Literal zero) {
    return disjunction(conjunction(by, one), conjunction(by ^ 1, zero));
  }
  Literal conjunction(Literal a, Literal b) {
    if (a < b) std::swap(a, b);
    if (b == 0 || a == (b ^ 1)) return 0;
    if (b == 1 || a == b) return a;
    const auto next = static_cast<Literal>(2 * (inputs_ + ands_.size() + 1));
    const auto [found, is_new] = known_.emplace(std::uint64_t{a} << 32 | b, next);
    if (is_new) ands_.push_back({a, b});
    return found->second;
  }

 private:
  std::size_t inputs_;
  std::vector<And> ands_;
  std::unordered_map<std::uint64_t, Literal> known_;
};

std::vector<Literal> literals_of(const Netlist& netlist, AndBuilder& build) {
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
    literals.push_back(static_cast<Literal>(2 * (i + 1)));
  }
  const std::vector<bool> reachable = reachable_gates(netlist);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    std::vector<Literal> inputs;
    for (const Net net : netlist.gates[i].sources()) inputs.push_back(literals[net]);
    literals.push_back(reachable[i] ? table_formula<AndBuilder, Literal>(
                                          build, netlist.gates[i].truth, std::as_const(inputs))
                                    : 0);
  }
  return literals;
}

/// A number in groups of seven bits, least significant first. All but the last have the high bit
/// set.
void append_delta(std::string& bytes, Literal delta) {
  for (; delta >= 0x80; delta >>= 7) bytes += static_cast<char>(0x80U | (delta & 0x7FU));
  bytes += static_cast<char>(delta);
}

void append_symbols(std::string& bytes, char kind, const std::vector<std::string>& names) {
  std::set<std::string> written;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Different names may print alike.
    std::string name = printable(names[i]);
    for (int n = 2; !written.insert(name).second; ++n) {
      name = fmt::format("{}_{}", printable(names[i]), n);
    }
    bytes += fmt::format("{}{} {}\n", kind, i, name);
  }
}

/// Reads numbers and lines of a file that may end anywhere.
class Cursor {
 public:
  Cursor(std::string_view bytes, const std::string& file) : bytes_(bytes), source_{where, file} {}

  const SourceText& source() const { return source_; }
  std::size_t line() const { return line_; }
  bool at_end() const { return position_ >= bytes_.size(); }
  std::size_t size() const { return bytes_.size(); }

  [[noreturn]] void refuse(const std::string& message) const { source_.refuse(line_, message); }

  std::string_view rest_of_line(std::string_view expected) {
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) {
      refuse(fmt::format("expected {}, received the end of the file", expected));
    }
    const std::string_view text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    ++line_;
    return text;
  }

  /// A line of exactly so many numbers, separated by single spaces.
  std::vector<Literal> numbers(std::size_t count, std::string_view expected) {
    const std::string_view text = rest_of_line(expected);
    std::vector<Literal> result;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (result.size() < count) {
      Literal value = 0;
      const auto [stop, error] = std::from_chars(at, end, value);
      if (error != std::errc{}) break;
      result.push_back(value);
      at = stop;
      if (at == end || *at != ' ' || result.size() == count) break;
      ++at;
    }
    if (result.size() != count || at != end) {
      source_.refuse(line_ - 1, fmt::format("expected {}, received {}", expected,
                                            printable(utf8_prefix(text, 40))));
    }
    return result;
  }

  Literal delta(std::string_view expected) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (at_end()) refuse(fmt::format("expected {}, received the end of the file", expected));
      const auto byte = static_cast<unsigned char>(bytes_[position_++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80 && value <= ~Literal{0}) return static_cast<Literal>(value);
    }
    refuse(fmt::format("expected {}, received a number that is too large", expected));
  }

 private:
  std::string_view bytes_;
  SourceText source_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
};

/// Reads both variants. The name of a net is the number of its variable.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : cursor_(bytes, file) {}

  Netlist read() {
    read_header();
    read_inputs();
    read_outputs();
    for (Literal i = 0; i < ands_; ++i) binary_ ? read_binary_and(i) : read_ascii_and(i);
    name_outputs();
    read_symbols();
    Netlist netlist = sorted(named_, cursor_.source());
    netlist.inputs = std::move(input_names_);
    netlist.outputs = std::move(output_names_);
    return checked(std::move(netlist));
  }

 private:
  void read_header() {
    const std::string_view text = cursor_.rest_of_line("a line 'aag M I L O A' or 'aig M I L O A'");
    const std::string header(text);
    std::istringstream words(header);
    std::string form;
    std::vector<std::int64_t> counts;
    words >> form;
    for (std::int64_t count = 0; words >> count;) counts.push_back(count);
    constexpr std::int64_t max_count = std::int64_t{1} << 28;
    const bool small = std::ranges::all_of(counts, [](auto n) { return n >= 0 && n <= max_count; });
    if ((form != "aag" && form != "aig") || counts.size() < 5 || !words.eof() || !small) {
      cursor_.source().refuse(1,
                              fmt::format("expected 'aag M I L O A' or 'aig M I L O A', received "
                                          "{}",
                                          printable(utf8_prefix(text, 40))));
    }
    binary_ = form == "aig";
    variables_ = static_cast<Literal>(counts[0]);
    inputs_ = static_cast<Literal>(counts[1]);
    outputs_ = static_cast<Literal>(counts[3]);
    ands_ = static_cast<Literal>(counts[4]);
    check_counts(counts);
  }

  void check_counts(const std::vector<std::int64_t>& counts) const {
    const SourceText& source = cursor_.source();
    if (counts[2] != 0 ||
        std::any_of(counts.begin() + 5, counts.end(), [](auto n) { return n != 0; })) {
      source.refuse(1, "expected a combinational circuit, received latches or properties");
    }
    // The inputs of a binary file take no bytes: a short one could ask for any amount of memory.
    constexpr std::size_t few_inputs = 1 << 16;
    constexpr std::size_t inputs_per_byte = 8;
    const std::size_t max_inputs =
        std::clamp(inputs_per_byte * cursor_.size(), few_inputs, std::size_t{1} << 24);
    if (inputs_ > max_inputs) {
      source.refuse(1, fmt::format("expected at most {} inputs in a file of {} bytes, received {}",
                                   max_inputs, cursor_.size(), inputs_));
    }
    const std::int64_t used = counts[1] + counts[4];
    if (binary_ ? counts[0] != used : counts[0] < used) {
      source.refuse(1,
                    fmt::format("expected {}{} variables for {} inputs and {} gates, received {}",
                                binary_ ? "" : "at least ", used, counts[1], counts[4], counts[0]));
    }
  }

  void read_inputs() {
    for (Literal i = 0; i < inputs_; ++i) {
      const std::size_t line = cursor_.line();
      Literal literal = 2 * (i + 1);
      if (!binary_) literal = defined(cursor_.numbers(1, expected("input", i, inputs_))[0], line);
      named_.inputs.push_back({variable_name(literal / 2), line});
      input_names_.push_back(fmt::format("i{}", i));
    }
  }

  void read_outputs() {
    for (Literal i = 0; i < outputs_; ++i) {
      const std::size_t line = cursor_.line();
      output_literals_.push_back(
          {checked_literal(cursor_.numbers(1, expected("output", i, outputs_))[0], line), line});
      output_names_.push_back(fmt::format("o{}", i));
    }
  }

  void read_ascii_and(Literal i) {
    const std::size_t line = cursor_.line();
    const std::vector<Literal> numbers = cursor_.numbers(3, expected("AND gate", i, ands_));
    add_and(defined(numbers[0], line), checked_literal(numbers[1], line),
            checked_literal(numbers[2], line), line);
  }

  void read_binary_and(Literal i) {
    const Literal literal = 2 * (inputs_ + i + 1);
    const std::string what = expected("AND gate", i, ands_);
    const Literal first = cursor_.delta(what);
    const Literal second = cursor_.delta(what);
    if (first == 0 || first > literal || second > literal - first) {
      cursor_.refuse(
          fmt::format("expected {} to read earlier literals, received later ones", what));
    }
    add_and(literal, literal - first, literal - first - second, cursor_.line());
  }

  void add_and(Literal literal, Literal a, Literal b, std::size_t line) {
    // The table is 1 for a single entry, given by the inversions of both inputs.
    const unsigned entry = ((a & 1) ^ 1) | ((b & 1) ^ 1) << 1;
    named_.gates.push_back({{variable_name(literal / 2), line},
                            std::uint64_t{1} << entry,
                            {source_name(a / 2), source_name(b / 2)}});
  }

  /// An inverted output needs an inverter.
  void name_outputs() {
    std::set<Literal> inverted;
    for (std::size_t i = 0; i < output_literals_.size(); ++i) {
      const auto [literal, line] = output_literals_[i];
      std::string_view net = source_name(literal / 2);
      if ((literal & 1) != 0) {
        const std::string_view inverse = kept_.emplace_back(fmt::format("!{}", literal / 2));
        if (inverted.insert(literal).second) named_.gates.push_back({{inverse, line}, 1, {net}});
        net = inverse;
      }
      named_.outputs.push_back({{kept_.emplace_back(fmt::format("o{}", i)), line}, net});
    }
  }

  /// The symbol table: `i0 NAME`, `o0 NAME`, up to a comment or the end.
  void read_symbols() {
    while (!cursor_.at_end()) {
      const std::size_t line = cursor_.line();
      const std::string_view text = cursor_.rest_of_line("a symbol or a comment");
      if (text == "c") return;
      const std::size_t blank = text.find(' ');
      const char kind = text.empty() ? ' ' : text[0];
      std::vector<std::string>& names = kind == 'i' ? input_names_ : output_names_;
      std::size_t index = names.size();
      if ((kind == 'i' || kind == 'o') && blank != std::string_view::npos) {
        std::from_chars(text.data() + 1, text.data() + blank, index);
      }
      if (index >= names.size()) {
        cursor_.source().refuse(line,
                                fmt::format("expected a symbol of an input or output, received "
                                            "{}",
                                            printable(utf8_prefix(text, 40))));
      }
      names[index] = text.substr(blank + 1);
    }
  }

  static std::string expected(std::string_view what, Literal index, Literal count) {
    return fmt::format("{} {} of {}", what, index + 1, count);
  }

  Literal checked_literal(Literal literal, std::size_t line) const {
    if (literal / 2 > variables_) {
      cursor_.source().refuse(line, fmt::format("expected literals up to {}, received {}",
                                                2 * std::uint64_t{variables_} + 1, literal));
    }
    return literal;
  }

  Literal defined(Literal literal, std::size_t line) const {
    if (literal < 2 || literal % 2 != 0) {
      cursor_.source().refuse(
          line, fmt::format("expected a positive even literal on the left, received {}", literal));
    }
    return checked_literal(literal, line);
  }

  std::string_view variable_name(Literal variable) {
    return kept_.emplace_back(std::to_string(variable));
  }

  /// The net of a variable. The first use of the constant adds a gate for it.
  std::string_view source_name(Literal variable) {
    if (variable == 0 && !has_constant_) {
      has_constant_ = true;
      named_.gates.push_back({{"0", cursor_.line()}, 0, {}});
    }
    return variable_name(variable);
  }

  struct OutputLiteral {
    Literal literal;
    std::size_t line;
  };

  Cursor cursor_;
  bool binary_ = false;
  bool has_constant_ = false;
  Literal variables_ = 0;
  Literal inputs_ = 0;
  Literal outputs_ = 0;
  Literal ands_ = 0;
  std::deque<std::string> kept_;  // owns the text of names
  NamedNetlist named_;
  std::vector<OutputLiteral> output_literals_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
};

}  // namespace

std::string to_aiger(const Netlist& netlist, AigerFormat format) {
  AndBuilder build(netlist.inputs.size());
  const std::vector<Literal> literals = literals_of(netlist, build);
  const bool ascii = format == AigerFormat::ascii;
  const std::size_t inputs = netlist.inputs.size();
  std::string bytes =
      fmt::format("{} {} {} 0 {} {}\n", ascii ? "aag" : "aig", inputs + build.ands().size(), inputs,
                  netlist.outputs.size(), build.ands().size());
  auto out = std::back_inserter(bytes);
  for (std::size_t i = 0; ascii && i < inputs; ++i) fmt::format_to(out, "{}\n", 2 * (i + 1));
  for (const Net net : netlist.output_nets) fmt::format_to(out, "{}\n", literals[net]);
  auto literal = static_cast<Literal>(2 * (inputs + 1));
  for (const And& gate : build.ands()) {
    if (ascii) {
      fmt::format_to(out, "{} {} {}\n", literal, gate.large, gate.small);
    } else {
      append_delta(bytes, literal - gate.large);
      append_delta(bytes, gate.large - gate.small);
    }
    literal += 2;
  }
  append_symbols(bytes, 'i', netlist.inputs);
  append_symbols(bytes, 'o', netlist.outputs);
  return bytes + fmt::format("c\n{}\n", printable(netlist.name));
}

Netlist netlist_from_aiger(std::string_view bytes, const std::string& file) {
  return Reader(bytes, file).read();
}

}  // namespace boolgrad::circuit
