// Verilog-2001 export with self-checking test benches. (Test benches use $fatal of SystemVerilog.)
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/shared_circuit.h"

namespace boolgrad::circuit {

/// A Verilog design and its test bench.
struct Verilog {
  std::string module_name;
  std::string design;
  /// Module `NAME_tb`: prints `PASS` and the number of checked cases, or fails with an error.
  std::string test_bench;
};

/// A combinational module NAME(in, out). Bit i of `in` is input i, bit i of `out` is output i.
Verilog to_verilog(const Netlist& netlist);

/// The same, with a module per kernel, which is instantiated at every position.
Verilog to_verilog(const SharedCircuit& circuit);

/// A pipelined module NAME(clk, in, out) with registers after every `levels` levels of gates. It
/// takes one sample per clock; the parameter LATENCY is the delay from `in` to `out` in clocks.
Verilog to_pipelined_verilog(const Netlist& netlist, std::int64_t levels);

/// The size of a grid of cells.
struct GridSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// A module NAME(clk, load, enable, initial_state, state) with an array of cells. At a clock edge
/// all cells load `initial_state` if `load` is 1, else they step if `enable` is 1. Channel c of the
/// cell in row y and column x is bit (y * width + x) * channels + c.
Verilog to_verilog_array(const Netlist& netlist, const GridSize& size);

}  // namespace boolgrad::circuit
