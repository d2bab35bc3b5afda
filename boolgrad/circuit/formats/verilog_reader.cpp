#include "boolgrad/circuit/formats/verilog_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "boolgrad/circuit/formats/verilog_bits.h"
#include "boolgrad/circuit/formats/verilog_cells.h"
#include "boolgrad/circuit/formats/verilog_expression.h"
#include "boolgrad/circuit/formats/verilog_tokens.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "verilog";

enum class Direction : std::uint8_t { none, input, output };

/// A range such as [7:0].
struct Range {
  std::int64_t msb = 0;
  std::int64_t lsb = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

struct Declared {
  VerilogNet net;
  Direction direction = Direction::none;
  std::size_t line = 0;
};

bool is_behaviour(const VerilogToken& token) {
  constexpr std::array words{"always", "always_ff", "always_comb", "always_latch", "initial",
                             "reg",    "function",  "task",        "generate",     "genvar",
                             "for",    "specify",   "inout",       "signed",       "integer",
                             "logic",  "primitive", "if",          "case"};
  return std::ranges::any_of(words, [&](const char* word) { return token.is(word); });
}

/// The table of a primitive gate such as `and`, and whether its output is inverted.
struct Primitive {
  std::string_view op;  ///< `&`, `|`, `^`, or `=` for buffers
  bool inverts = false;
};

const Primitive* primitive(const VerilogToken& token) {
  static const std::map<std::string_view, Primitive> all{
      {"and", {"&"}}, {"nand", {"&", true}}, {"or", {"|"}},  {"nor", {"|", true}},
      {"xor", {"^"}}, {"xnor", {"^", true}}, {"buf", {"="}}, {"not", {"=", true}}};
  const auto found = token.escaped ? all.end() : all.find(token.text);
  return found == all.end() ? nullptr : &found->second;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : source_{where, file},
        cursor_(text, source_),
        bits_(source_),
        // A short file could ask for any amount of memory and time.
        bits_left_(std::clamp(8 * text.size(), std::size_t{1} << 16, std::size_t{1} << 24)),
        expressions_(cursor_, bits_, bits_left_, (std::size_t{1} << 22) + 64 * text.size(),
                     [this] { return read_net(); }) {}

  Netlist read() {
    if (!cursor_.take_if("module")) cursor_.refuse(cursor_.peek(), "'module NAME' first");
    const std::string name(cursor_.name("the name of the module").text);
    read_ports();
    while (!cursor_.take_if("endmodule")) read_item();
    if (cursor_.peek().is("module")) {
      cursor_.refuse(cursor_.peek(), "one module (the command flatten of Yosys merges modules)");
    }
    if (cursor_.peek().kind != VerilogTokenKind::end) {
      cursor_.refuse(cursor_.peek(), "nothing after the module");
    }
    Netlist netlist = bits_.netlist(ports_of(Direction::input), ports_of(Direction::output));
    netlist.name = name;
    return checked(std::move(netlist));
  }

 private:
  // Declarations.

  Range read_range(bool& is_bus) {
    Range range;
    is_bus = cursor_.take_if("[");
    if (!is_bus) return range;
    range.msb = cursor_.integer();
    cursor_.expect(":");
    range.lsb = cursor_.integer();
    cursor_.expect("]");
    return range;
  }

  Declared& declare(const VerilogToken& token, const Range& range, bool is_bus) {
    const auto [entry, is_new] = nets_.try_emplace(token.text);
    Declared& declared = entry->second;
    VerilogNet& net = declared.net;
    if (!is_new) {
      // `output [3:0] y; wire [3:0] y;`
      if (Range{net.msb, net.lsb} != range || net.is_bus != is_bus) {
        source_.refuse(token.line, fmt::format("expected one range of {}, received two",
                                               printable(token.text)));
      }
      return declared;
    }
    net = {.name = std::string(token.text), .msb = range.msb, .lsb = range.lsb, .is_bus = is_bus};
    if (net.width() > bits_left_) {
      source_.refuse(token.line,
                     fmt::format("expected at most {} more bits of nets in a file of this size, "
                                 "received {}",
                                 bits_left_, net.width()));
    }
    bits_left_ -= net.width();
    declared.line = token.line;
    bits_.declare(net, token.line);
    return declared;
  }

  void set_direction(Declared& declared, Direction direction, const VerilogToken& token) {
    if (declared.direction != Direction::none) {
      source_.refuse(token.line, fmt::format("expected one direction of port {}, received two",
                                             printable(token.text)));
    }
    declared.direction = direction;
    if (direction == Direction::input) bits_.make_input(declared.net);
  }

  static Direction direction_of(const VerilogToken& token) {
    return token.is("input")    ? Direction::input
           : token.is("output") ? Direction::output
                                : Direction::none;
  }

  /// `(a, b, y)` or `(input [3:0] a, b, output wire y)`.
  void read_ports() {
    if (cursor_.peek().is("#")) cursor_.refuse(cursor_.peek(), "a module without parameters");
    if (cursor_.take_if("(") && !cursor_.take_if(")")) {
      Direction direction = Direction::none;
      Range range;
      bool is_bus = false;
      do {
        refuse_behaviour();
        if (const Direction own = direction_of(cursor_.peek()); own != Direction::none) {
          cursor_.take();
          refuse_behaviour();
          cursor_.take_if("wire");
          refuse_behaviour();
          direction = own;
          range = read_range(is_bus);
        }
        const VerilogToken token = cursor_.name("a port");
        if (!port_names_.insert(token.text).second) {
          source_.refuse(token.line, fmt::format("expected unique ports, received {} twice",
                                                 printable(token.text)));
        }
        ports_.push_back(token.text);
        if (direction != Direction::none) {
          set_direction(declare(token, range, is_bus), direction, token);
        }
      } while (cursor_.take_if(","));
      cursor_.expect(")");
    }
    cursor_.expect(";");
  }

  std::vector<const VerilogNet*> ports_of(Direction direction) const {
    std::vector<const VerilogNet*> found;
    for (const std::string_view name : ports_) {
      const auto entry = nets_.find(name);
      if (entry == nets_.end() || entry->second.direction == Direction::none) {
        source_.refuse(1, fmt::format("expected a direction for every port, received none for {}",
                                      printable(name)));
      }
      if (entry->second.direction == direction) found.push_back(&entry->second.net);
    }
    return found;
  }

  // Items of the module.

  void refuse_behaviour() const {
    if (is_behaviour(cursor_.peek())) {
      cursor_.refuse(cursor_.peek(), "a combinational circuit of gates and assignments");
    }
  }

  void read_item() {
    refuse_behaviour();
    const VerilogToken token = cursor_.peek();
    if (token.kind != VerilogTokenKind::word) cursor_.refuse(token, "a declaration or a cell");
    const Direction direction = direction_of(token);
    if (direction != Direction::none || token.is("wire") || token.is("tri")) {
      return read_declaration(direction);
    }
    if (token.is("supply0") || token.is("supply1")) {
      cursor_.refuse(token, "wires and assignments");
    }
    cursor_.take();
    if (token.is("assign")) return read_assignments();
    if (token.is("localparam") || token.is("parameter")) return read_parameters();
    if (const Primitive* gate = primitive(token)) return read_primitive(*gate, token);
    read_cell(token);
  }

  void read_declaration(Direction direction) {
    cursor_.take();
    refuse_behaviour();
    if (direction != Direction::none) cursor_.take_if("wire");
    refuse_behaviour();
    bool is_bus = false;
    const Range range = read_range(is_bus);
    do {
      const VerilogToken token = cursor_.name("the name of a net");
      Declared& declared = declare(token, range, is_bus);
      if (direction != Direction::none) {
        if (!port_names_.contains(token.text)) {
          source_.refuse(token.line, fmt::format("expected the name of a port, received {}",
                                                 printable(token.text)));
        }
        set_direction(declared, direction, token);
      }
      if (cursor_.take_if("=")) {
        drive(literals_of(declared.net), expressions_.assigned(declared.net.width()), token.line);
      }
    } while (cursor_.take_if(","));
    cursor_.expect(";");
  }

  void read_parameters() {
    bool is_bus = false;
    read_range(is_bus);
    do {
      const VerilogToken token = cursor_.name("the name of a parameter");
      cursor_.expect("=");
      VerilogLiterals literals;
      for (const bool bit : expressions_.constant()) literals.push_back(BitLiteral(0, bit));
      if (!parameters_.emplace(token.text, std::move(literals)).second ||
          nets_.contains(token.text)) {
        source_.refuse(token.line, fmt::format("expected one declaration of {}, received two",
                                               printable(token.text)));
      }
    } while (cursor_.take_if(","));
    cursor_.expect(";");
  }

  void drive(const VerilogLiterals& target, const VerilogLiterals& value, std::size_t line) {
    for (std::size_t i = 0; i < target.size(); ++i) bits_.drive(target[i], value[i], line);
  }

  void read_assignments() {
    do {
      const std::size_t line = cursor_.peek().line;
      const VerilogLiterals target = read_target();
      cursor_.expect("=");
      drive(target, expressions_.assigned(target.size()), line);
    } while (cursor_.take_if(","));
    cursor_.expect(";");
  }

  /// A net, a selection of its bits, or a concatenation of those.
  VerilogLiterals read_target() {
    if (!cursor_.take_if("{")) return read_net();
    std::vector<VerilogLiterals> parts;
    do parts.push_back(read_net());
    while (cursor_.take_if(","));
    cursor_.expect("}");
    VerilogLiterals target;
    for (std::size_t i = parts.size(); i-- > 0;) {
      target.insert(target.end(), parts[i].begin(), parts[i].end());
    }
    return target;
  }

  static VerilogLiterals literals_of(const VerilogNet& net) {
    VerilogLiterals literals;
    for (std::size_t i = 0; i < net.width(); ++i) {
      literals.push_back(BitLiteral(net.first + static_cast<std::uint32_t>(i)));
    }
    return literals;
  }

  /// A name, with a selection of its bits.
  VerilogLiterals read_net() {
    const VerilogToken token = cursor_.name("a net");
    if (const auto found = parameters_.find(token.text); found != parameters_.end()) {
      return found->second;
    }
    const auto found = nets_.find(token.text);
    if (found == nets_.end()) {
      source_.refuse(token.line,
                     fmt::format("expected a declared net, received {}", printable(token.text)));
    }
    const VerilogNet& net = found->second.net;
    if (!cursor_.take_if("[")) return literals_of(net);
    if (!net.is_bus) {
      source_.refuse(token.line,
                     fmt::format("expected a bus before '[', received {}", printable(token.text)));
    }
    const std::size_t first = bit_of(net, cursor_.integer(), token);
    std::size_t last = first;
    if (cursor_.take_if(":")) last = bit_of(net, cursor_.integer(), token);
    cursor_.expect("]");
    if (last > first) {
      source_.refuse(token.line, fmt::format("expected a selection of {} in the order of its "
                                             "declaration, received bits {} to {}",
                                             printable(token.text), first, last));
    }
    VerilogLiterals literals;
    for (std::size_t i = last; i <= first; ++i) {
      literals.push_back(BitLiteral(net.first + static_cast<std::uint32_t>(i)));
    }
    return literals;
  }

  /// The position of a bit, counted from the least significant one.
  std::size_t bit_of(const VerilogNet& net, std::int64_t index, const VerilogToken& token) const {
    const std::int64_t bit = net.msb < net.lsb ? net.lsb - index : index - net.lsb;
    if (bit < 0 || bit >= static_cast<std::int64_t>(net.width())) {
      source_.refuse(token.line, fmt::format("expected bit {} to {} of {}, received {}", net.lsb,
                                             net.msb, printable(token.text), index));
    }
    return static_cast<std::size_t>(bit);
  }

  /// `and NAME(y, a, b), ...;`
  void read_primitive(const Primitive& gate, const VerilogToken& token) {
    do {
      if (cursor_.peek().kind == VerilogTokenKind::word) cursor_.take();
      cursor_.expect("(");
      const std::size_t line = cursor_.peek().line;
      const VerilogLiterals target = read_target();
      VerilogLiterals inputs;
      while (cursor_.take_if(",")) inputs.push_back(expressions_.assigned(1)[0]);
      cursor_.expect(")");
      if (target.size() != 1 || inputs.empty() || (gate.op == "=" && inputs.size() != 1)) {
        source_.refuse(line, fmt::format("expected one output and the inputs of {}, received {} "
                                         "and {}",
                                         token.text, target.size(), inputs.size()));
      }
      BitLiteral value = inputs[0];
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        value = gate.op == "&"   ? bits_.conjunction(value, inputs[i], line)
                : gate.op == "|" ? bits_.disjunction(value, inputs[i], line)
                                 : bits_.exclusive_or(value, inputs[i], line);
      }
      drive(target, {value ^ gate.inverts}, line);
    } while (cursor_.take_if(","));
    cursor_.expect(";");
  }

  /// `TYPE #(.PARAMETER(value), ...) NAME (.PORT(expression), ...);`
  void read_cell(const VerilogToken& type) {
    if (is_verilog_register(type.text)) {
      source_.refuse(type.line, fmt::format("expected a combinational circuit, received the "
                                            "register {}",
                                            printable(type.text)));
    }
    std::map<std::string_view, std::vector<bool>> parameters;
    if (cursor_.take_if("#")) {
      for (auto& [name, literals] : read_connections()) {
        std::vector<bool>& bits = parameters[name];
        for (const BitLiteral literal : literals) bits.push_back(literal.complemented());
      }
    }
    cursor_.name("the name of a cell");
    std::map<std::string_view, VerilogLiterals> ports = read_connections();
    cursor_.expect(";");
    if (type.text == "$lut") return add_lut(type, parameters, ports);
    const VerilogCell* cell = verilog_cell(type.text, ports.contains("Z"));
    if (cell == nullptr) {
      source_.refuse(type.line,
                     fmt::format("expected a gate, a LUT or a buffer, received the cell {} (the "
                                 "commands flatten and synth of Yosys give gates)",
                                 printable(type.text)));
    }
    VerilogLiterals inputs;
    for (const std::string_view name : cell->inputs) {
      inputs.push_back(bit_at(type, ports, name));
    }
    std::uint64_t truth = cell->truth;
    if (!cell->table.empty()) truth = table_of(type, parameters, cell->table, inputs.size());
    connect(type, ports, cell->output, bits_.table(inputs, truth, type.line));
  }

  void add_lut(const VerilogToken& type,
               const std::map<std::string_view, std::vector<bool>>& parameters,
               const std::map<std::string_view, VerilogLiterals>& ports) {
    const auto inputs = ports.find("A");
    if (inputs == ports.end() || inputs->second.size() > max_variables) {
      source_.refuse(type.line,
                     fmt::format("expected port A of $lut with at most {} bits", max_variables));
    }
    const std::uint64_t truth = table_of(type, parameters, "LUT", inputs->second.size());
    connect(type, ports, "Y", bits_.table(inputs->second, truth, type.line));
  }

  std::uint64_t table_of(const VerilogToken& type,
                         const std::map<std::string_view, std::vector<bool>>& parameters,
                         std::string_view name, std::size_t arity) const {
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
      source_.refuse(type.line, fmt::format("expected the parameter {} of {}, received none", name,
                                            printable(type.text)));
    }
    std::uint64_t truth = 0;
    const std::size_t entries = std::size_t{1} << arity;
    for (std::size_t i = 0; i < std::min(entries, found->second.size()); ++i) {
      truth |= std::uint64_t{found->second[i] ? 1U : 0U} << i;
    }
    return truth;
  }

  BitLiteral bit_at(const VerilogToken& type,
                    const std::map<std::string_view, VerilogLiterals>& ports,
                    std::string_view name) const {
    const auto found = ports.find(name);
    if (found == ports.end() || found->second.size() != 1) {
      source_.refuse(type.line, fmt::format("expected one bit at port {} of {}, received {}", name,
                                            printable(type.text),
                                            found == ports.end() ? 0 : found->second.size()));
    }
    return found->second[0];
  }

  /// Connects an output, which may be left open.
  void connect(const VerilogToken& type, const std::map<std::string_view, VerilogLiterals>& ports,
               std::string_view name, BitLiteral value) {
    if (!ports.contains(name)) return;
    const BitLiteral target = bit_at(type, ports, name);
    if (target.node() == 0 || target.complemented()) {
      source_.refuse(type.line,
                     fmt::format("expected a net at port {} of {}", name, printable(type.text)));
    }
    bits_.drive(target, value, type.line);
  }

  /// `(.A(expression), .B(), ...)`; open ports are left out.
  std::map<std::string_view, VerilogLiterals> read_connections() {
    std::map<std::string_view, VerilogLiterals> connections;
    cursor_.expect("(");
    if (cursor_.take_if(")")) return connections;
    do {
      if (!cursor_.take_if(".")) cursor_.refuse(cursor_.peek(), "connections such as .A(net)");
      const VerilogToken port = cursor_.name("the name of a port");
      cursor_.expect("(");
      if (cursor_.take_if(")")) continue;
      if (!connections.emplace(port.text, expressions_.own()).second) {
        source_.refuse(port.line, fmt::format("expected unique ports, received {} twice",
                                              printable(port.text)));
      }
      cursor_.expect(")");
    } while (cursor_.take_if(","));
    cursor_.expect(")");
    return connections;
  }

  SourceText source_;
  VerilogCursor cursor_;
  VerilogBits bits_;
  std::size_t bits_left_;
  VerilogExpressions expressions_;
  std::vector<std::string_view> ports_;  // in their order
  std::unordered_set<std::string_view> port_names_;
  std::unordered_map<std::string_view, Declared> nets_;
  std::map<std::string_view, VerilogLiterals> parameters_;
};

}  // namespace

Netlist netlist_from_verilog(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

}  // namespace boolgrad::circuit
