// The bits of a Verilog module: nets that are driven by other nets and by tables, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// A declared net of one or more bits, numbered from `lsb` upwards or downwards.
struct VerilogNet {
  std::string name;
  std::int64_t msb = 0;
  std::int64_t lsb = 0;
  bool is_bus = false;
  std::uint32_t first = 0;  ///< node of bit `lsb`; the others follow

  std::size_t width() const {
    return static_cast<std::size_t>(msb < lsb ? lsb - msb : msb - lsb) + 1;
  }
  /// `a`, or `a[3]` for a bit of a bus.
  std::string bit_name(std::size_t bit) const;
};

/// Nodes are the constant 0 (node 0), bits of nets and tables.
class VerilogBits {
 public:
  explicit VerilogBits(const SourceText& source) : source_(source), nodes_(1) {}

  /// Adds the bits of a net and sets `first`.
  void declare(VerilogNet& net, std::size_t line);
  void make_input(const VerilogNet& net);
  /// Connects a bit, which must have no driver yet.
  void drive(BitLiteral bit, BitLiteral driver, std::size_t line);
  /// A table of up to six literals, simplified.
  BitLiteral table(std::span<const BitLiteral> inputs, std::uint64_t truth, std::size_t line);
  BitLiteral conjunction(BitLiteral a, BitLiteral b, std::size_t line);
  BitLiteral disjunction(BitLiteral a, BitLiteral b, std::size_t line);
  BitLiteral exclusive_or(BitLiteral a, BitLiteral b, std::size_t line);

  /// The netlist of these inputs and outputs, with all tables that have been added. Throws for
  /// cycles and for nets that are read without a driver.
  Netlist netlist(const std::vector<const VerilogNet*>& inputs,
                  const std::vector<const VerilogNet*>& outputs);

 private:
  enum class Kind : std::uint8_t { constant, input, undriven, driven, table };
  enum class State : std::uint8_t { waiting, open, done };

  struct Node {
    Kind kind = Kind::constant;
    State state = State::waiting;
    std::size_t line = 0;
    std::uint64_t truth = 0;
    std::vector<BitLiteral> sources = {};  ///< of a table, or the driver
    std::uint32_t named = 0;               ///< entry of `nets_`, of a bit
    BitLiteral net = {};                   ///< once done: net + 1 of the netlist, or the constant
  };

  std::string name_of(std::uint32_t node) const;
  void visit(std::uint32_t top, NetlistBuilder& builder);
  void finish(Node& node, NetlistBuilder& builder);
  BitLiteral result(BitLiteral literal) const {
    return nodes_[literal.node()].net ^ literal.complemented();
  }

  const SourceText& source_;
  std::vector<Node> nodes_;
  std::vector<VerilogNet> nets_;
};

}  // namespace boolgrad::circuit
