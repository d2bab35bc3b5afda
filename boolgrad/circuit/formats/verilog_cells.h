// The cells that Yosys instantiates in gate-level Verilog.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace boolgrad::circuit {

/// A cell with one output.
struct VerilogCell {
  std::string_view output;
  std::vector<std::string_view> inputs;  ///< input j is bit j of an entry of the table
  std::uint64_t truth = 0;
  std::string_view table = {};  ///< the parameter that is the table instead of `truth`, or empty
};

/// The gates of Yosys (`$_AND_`, ...), and the LUTs, multiplexers, carries and buffers of iCE40,
/// ECP5 and Xilinx FPGAs. Null for another cell. The LUT4 of Xilinx and of ECP5 have different
/// ports: `drives_z` says that port Z is connected.
const VerilogCell* verilog_cell(std::string_view type, bool drives_z);

/// Whether a cell of this type stores a value.
bool is_verilog_register(std::string_view type);

}  // namespace boolgrad::circuit
