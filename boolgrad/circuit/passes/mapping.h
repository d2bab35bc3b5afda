// Circuits as few tables of k inputs: three for AVX-512 and GPU instructions, four and six for
// FPGAs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

struct MappingParams {
  int inputs = 6;             ///< a table, 2 to 6
  std::size_t max_cuts = 16;  ///< kept for each gate
  int area_rounds = 3;        ///< in which tables are saved where the depth allows it
  /// Save tables only where no output becomes later than it has to be; else the depth is whatever
  /// comes out.
  bool keeps_depth = true;
};

struct MappingStats {
  std::int64_t tables = 0;
  std::int64_t depth = 0;
  std::int64_t gates_before = 0;  ///< AND and XOR of two inputs that were covered
  std::int64_t depth_before = 0;  ///< of the netlist as it came
};

/// The same function in tables of at most `inputs` inputs, of the least depth that the gates of the
/// netlist can be covered in where that is asked for. Simplify before: this only covers.
Netlist mapped(const Netlist& netlist, const MappingParams& params = {},
               MappingStats* stats = nullptr);

}  // namespace boolgrad
