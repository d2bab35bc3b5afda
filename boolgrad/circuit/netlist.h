// A hardened circuit as a list of look-up tables: what passes change and writers write.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/backend/options/border.h"

namespace boolgrad {

/// A wire: an input of the netlist, or the output of a gate. Inputs come first, then gates.
using Net = std::uint32_t;

/// A table of up to six inputs: bit i of `truth` is the output where input j is bit j of i. Without
/// inputs it is a constant.
struct NetlistGate {
  static constexpr int most_inputs = 6;

  std::uint64_t truth = 0;
  std::array<Net, most_inputs> inputs{};
  std::uint8_t arity = 0;

  std::span<const Net> sources() const { return {inputs.data(), arity}; }
  friend bool operator==(const NetlistGate&, const NetlistGate&) = default;
};

/// What makes a netlist the rule of an automaton: input 9 c + n is neighbour n of channel c
/// (row-major, 4 the cell itself), output c the next state of channel c.
struct NetlistState {
  std::int64_t channels = 0;
  Border border = Border::zero;

  friend bool operator==(const NetlistState&, const NetlistState&) = default;
};

/// Gates in an order in which each comes after what it reads. A plain value: everything that builds
/// one goes through `checked`.
struct Netlist {
  std::string name;
  std::vector<std::string> inputs;   ///< names, all different
  std::vector<std::string> outputs;  ///< names, all different
  std::vector<NetlistGate> gates;
  std::vector<Net> output_nets;  ///< one an output
  std::optional<NetlistState> state;

  Net input(std::size_t index) const { return static_cast<Net>(index); }
  Net gate(std::size_t index) const { return static_cast<Net>(inputs.size() + index); }
  bool is_input(Net net) const { return net < inputs.size(); }
  const NetlistGate& driver(Net net) const { return gates[net - inputs.size()]; }

  friend bool operator==(const Netlist&, const Netlist&) = default;
};

/// The netlist, if it is sound; else throws and says what is wrong: a gate that reads what comes
/// after it or is not there, a table with bits beyond its inputs, an output without a net, names
/// that are empty or not different, or a state that does not fit inputs and outputs.
Netlist checked(Netlist netlist);

/// The outputs for 64 samples at once, a word an input: the reference for faster ways.
std::vector<std::uint64_t> evaluate(const Netlist& netlist, std::span<const std::uint64_t> inputs);

/// Gates along the longest path from an input to an output; constants count nothing.
std::int64_t depth(const Netlist& netlist);

}  // namespace boolgrad
