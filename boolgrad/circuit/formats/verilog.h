// Netlists as Verilog-2001, with test benches that check themselves (and end with $fatal, which is
// SystemVerilog).
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// A module and what tries it.
struct Verilog {
  std::string module_name;
  std::string design;
  /// Module `NAME_tb`: prints `PASS` and how many cases it checked, or ends with an error.
  std::string test_bench;
};

/// Module NAME(in, out): bit i of `in` is input i, bit i of `out` output i.
Verilog to_verilog(const Netlist& netlist);

/// Module NAME(clk, in, out) with registers after every `levels` levels of gates: one sample a
/// clock, `out` belonging to what `in` was NAME's LATENCY clocks before.
Verilog to_pipelined_verilog(const Netlist& netlist, std::int64_t levels);

struct GridSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Module NAME(clk, load, enable, initial_state, state): an array of cells that all step at a clock
/// where `enable` is 1, and take `initial_state` where `load` is. Channel c of the cell in row y
/// and column x is bit (y * width + x) * channels + c.
Verilog to_verilog_array(const Netlist& netlist, const GridSize& size);

}  // namespace boolgrad
