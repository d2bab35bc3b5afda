// A hardened circuit as a list of look-up tables, the common form of passes and file formats.
//
// Table order: entry i of a table is the output where input j of the gate is bit j of i, as in
// `lut_layer`. For two inputs the entries are f(0,0), f(1,0), f(0,1), f(1,1), and bit i of `truth`
// is entry i. The index of a two-input gate in `logic/gates.h` is another number:
// 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/options/border.h"

namespace boolgrad::circuit {

/// A net: an input of the netlist or the output of a gate. Inputs are numbered first, then gates.
using Net = std::uint32_t;

/// A look-up table of up to six inputs. Bit i of `truth` is the output where input j is bit j of i.
/// Without inputs it is a constant.
struct NetlistGate {
  static constexpr int max_inputs = 6;

  std::uint64_t truth = 0;
  std::array<Net, max_inputs> inputs{};  ///< the first `arity` are used
  std::uint8_t arity = 0;

  /// The nets that the gate reads.
  std::span<const Net> sources() const { return {inputs.data(), arity}; }
  friend bool operator==(const NetlistGate&, const NetlistGate&) = default;
};

/// Marks a netlist as the rule of an automaton: input 9 c + n is neighbour n of channel c
/// (row-major, 4 is the cell itself), output c is the next state of channel c.
struct NetlistState {
  std::int64_t channels = 0;
  Border border = Border::zero;

  friend bool operator==(const NetlistState&, const NetlistState&) = default;
};

/// A combinational circuit. Gates are in topological order: each comes after the gates it reads. A
/// plain value, which readers and builders validate with `checked`.
struct Netlist {
  std::string name;
  std::vector<std::string> inputs;   ///< unique names
  std::vector<std::string> outputs;  ///< unique names
  std::vector<NetlistGate> gates;
  std::vector<Net> output_nets;       ///< one per output
  std::optional<NetlistState> state;  ///< set for the rule of an automaton

  /// The net of an input.
  Net input(std::size_t index) const { return static_cast<Net>(index); }
  /// The net of a gate.
  Net gate(std::size_t index) const { return static_cast<Net>(inputs.size() + index); }
  /// Whether a net is an input.
  bool is_input(Net net) const { return net < inputs.size(); }
  /// The gate that drives a net, which must not be an input.
  const NetlistGate& driver(Net net) const { return gates[net - inputs.size()]; }

  // Export. The headers in `formats/` have options and readers.
  std::string to_verilog() const;  ///< Verilog-2001, one module
  std::string to_c() const;        ///< a C99 header
  std::string to_blif() const;     ///< BLIF, for ABC and Yosys
  std::string to_aiger() const;    ///< binary AIGER
  std::string to_text() const;     ///< the text format of boolgrad
  std::string to_dot() const;      ///< a graph for Graphviz
  std::string to_html() const;     ///< an interactive HTML viewer

  friend bool operator==(const Netlist&, const Netlist&) = default;
};

/// Returns the netlist if it is valid, else throws. Invalid are gates that are not in topological
/// order or read nets that do not exist, tables with bits beyond their inputs, outputs without a
/// net, empty or duplicate names, and a state that does not fit inputs and outputs.
Netlist checked(Netlist netlist);

/// The outputs for 64 samples at once, one word per input: the reference for faster evaluators.
std::vector<std::uint64_t> evaluate(const Netlist& netlist, std::span<const std::uint64_t> inputs);

/// The number of gates on the longest path to an output. Constants do not count.
std::int64_t depth(const Netlist& netlist);

}  // namespace boolgrad::circuit
