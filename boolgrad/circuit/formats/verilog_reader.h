// Reads structural Verilog, as `write_verilog` of Yosys writes it after synthesis.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Reads one combinational module: wires and buses, assignments with the bitwise operators, `?:`,
/// reductions, `==`, `!=`, `&&`, `||`, `!`, selections, concatenations and a constant shifted by a
/// bus (a look-up table of Yosys), the primitives `and` to `buf`, and the cells of
/// `verilog_cells.h`. Bit i of a bus `a` becomes the input or output `a[i]`. Errors are
/// `[verilog] FILE:LINE: expected ...`; registers, arithmetic and hierarchies are refused. Work and
/// memory are bounded by the size of the file.
Netlist netlist_from_verilog(std::string_view text, const std::string& file);

}  // namespace boolgrad::circuit
