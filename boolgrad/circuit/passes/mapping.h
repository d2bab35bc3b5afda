// LUT mapping: covers a circuit with look-up tables of k inputs. FPGAs have k = 4 or 6; ternary
// logic instructions of CPUs and GPUs have k = 3.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Options of `map_to_luts`.
struct MappingParams {
  int inputs = 6;             ///< per table, 2 to 6
  std::size_t max_cuts = 16;  ///< priority cuts per gate
  int area_rounds = 3;        ///< rounds of area recovery
  /// Keep the depth minimal during area recovery. Otherwise only the number of tables counts.
  bool keeps_depth = true;
};

/// Results of `map_to_luts`.
struct MappingStats {
  std::int64_t tables = 0;
  std::int64_t depth = 0;
  std::int64_t gates_before = 0;  ///< two-input AND and XOR gates that were covered
  std::int64_t depth_before = 0;  ///< of the original netlist
};

/// Maps a netlist to tables of at most `inputs` inputs, with minimal depth for its structure if
/// `keeps_depth`. The gates are covered as they are, so simplify first.
Netlist map_to_luts(const Netlist& netlist, const MappingParams& params = {},
                    MappingStats* stats = nullptr);

}  // namespace boolgrad::circuit
