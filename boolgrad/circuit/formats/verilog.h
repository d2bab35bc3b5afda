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

/// Names and ports of a module.
struct VerilogOptions {
  /// An identifier; `circuit_` and the name of the netlist if empty.
  std::string module_name = {};
  /// Tables of three and more inputs as constants that are indexed by their inputs, which synthesis
  /// maps to one LUT. Formulas otherwise.
  bool has_tables = false;
  /// A port per input and output name instead of `in` and `out`. Bits `a[0]` to `a[n - 1]` become
  /// the bus `a`.
  bool named_ports = false;
};

/// Control ports of a pipelined module.
struct PipelineOptions {
  std::int64_t levels = 1;  ///< of gates between registers
  bool has_valid = false;  ///< `valid_in` and `valid_out`, which is `valid_in` LATENCY clocks later
  bool has_reset = false;  ///< `reset`: sets all registers to 0 at a clock edge
  bool has_enable = false;  ///< `enable`: registers keep their values while it is 0
};

/// A combinational module NAME(in, out). Bit i of `in` is input i, bit i of `out` is output i.
Verilog to_verilog(const Netlist& netlist, const VerilogOptions& options = {});

/// The same, with a module per kernel, which is instantiated at every position. Ports have no
/// names.
Verilog to_verilog(const SharedCircuit& circuit, const VerilogOptions& options = {});

/// A pipelined module NAME(clk, in, out) with registers after every `levels` levels of gates. It
/// takes one sample per clock; the parameter LATENCY is the delay from `in` to `out` in clocks.
Verilog to_pipelined_verilog(const Netlist& netlist, const PipelineOptions& pipeline,
                             const VerilogOptions& options = {});
Verilog to_pipelined_verilog(const Netlist& netlist, std::int64_t levels);

/// The size of a grid of cells.
struct GridSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// A module NAME(clk, load, enable, initial_state, state) with an array of cells. At a clock edge
/// all cells load `initial_state` if `load` is 1, else they step if `enable` is 1. Channel c of the
/// cell in row y and column x is bit (y * width + x) * channels + c.
Verilog to_verilog_array(const Netlist& netlist, const GridSize& size,
                         const VerilogOptions& options = {});

}  // namespace boolgrad::circuit
