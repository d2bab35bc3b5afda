// Technology mapping: covers a circuit with the cells of a library, for least area.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boolgrad/circuit/cells/cell_library.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Options of `map_to_cells`.
struct CellMappingParams {
  std::size_t max_cuts = 16;  ///< per gate, of up to four leaves
  int flow_rounds = 4;        ///< rounds that minimise area flow
  int area_rounds = 4;        ///< rounds of exact area recovery
  /// Area recovery ends when it has visited so many cells, for each gate of the circuit.
  std::int64_t max_visits_per_gate = 20000;
};

/// A circuit of cells.
struct CellCover {
  Netlist netlist;                 ///< a gate per cell, its inputs in the order of the cell
  std::vector<std::size_t> cells;  ///< index in the library of each gate
  double area = 0;                 ///< in the unit of the library
  std::int64_t depth = 0;          ///< cells on the longest path
};

/// Maps a netlist to cells. The gates are covered as they are, so simplify first. A constant output
/// takes a cell without inputs; without one in the library, it is free. An output that is an input
/// takes none.
CellCover map_to_cells(const Netlist& netlist, const CellLibrary& library,
                       const CellMappingParams& params = {});

}  // namespace boolgrad::circuit
