// Covers of a circuit and its head by look-up tables.
#pragma once

#include <functional>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Replaces the outputs of a netlist by functions of them, such as those of a head.
using AddHead = std::function<Netlist(const Netlist&)>;

/// A netlist without gates, whose outputs are its inputs: the outputs of `like`.
Netlist wires_of(const Netlist& like);

/// The gates of `first`, then those of `second`, which reads the outputs of `first` as its inputs.
/// Has the name, inputs and state of `first` and the outputs of `second`. Throws if the numbers of
/// outputs and inputs differ.
Netlist composed(const Netlist& first, const Netlist& second);

/// A cover of a circuit with its head, and what it covers.
struct LutCover {
  Netlist netlist;
  /// Whether the tables of the circuit were kept. Only its head was mapped then.
  bool keeps_tables = false;
};

/// The smaller cover by tables of at most `inputs` inputs: a mapping of `gates` with the head
/// behind them, or `tables` as they are and a mapping of the head. `tables` and `gates` are the
/// same function, as look-up tables and as two-input gates. Depth is not a criterion.
LutCover cover_with_luts(const Netlist& tables, const Netlist& gates, int inputs,
                         const AddHead& add_head);

}  // namespace boolgrad::circuit
